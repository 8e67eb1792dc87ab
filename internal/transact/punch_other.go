//go:build !linux

package transact

import "os"

// punch does nothing: the space is free when the file is empty.
func punch(*os.File, int64, int64) {}
