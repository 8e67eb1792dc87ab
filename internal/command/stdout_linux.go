package command

import (
	"os"
	"syscall"
)

// pipeBytes is the greatest size that Linux gives to anybody by default (fs.pipe-max-size).
const pipeBytes = 1 << 20

// widen lets a pipe hold a megabyte in place of 64 KiB, so that the writer sleeps less often for a reader who is about to come. It is a favour that the
// system may refuse, and f need not be a pipe.
func widen(f *os.File) {
	const setPipeSize = 1031 // F_SETPIPE_SZ, fcntl(2)
	_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), setPipeSize, pipeBytes)
}
