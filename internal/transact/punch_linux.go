package transact

import (
	"os"
	"syscall"
)

// punch gives the disk space of a part of a file back. Where the file system cannot, the space is free when the file is empty.
func punch(f *os.File, offset, size int64) {
	const keepSize, punchHole = 1, 2 // FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE; fallocate(2)
	_ = syscall.Fallocate(int(f.Fd()), keepSize|punchHole, offset, size)
}
