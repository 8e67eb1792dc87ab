package widepipe

import (
	"os"
	"syscall"
)

// Bytes is how much a pipe holds afterwards: the greatest size that Linux gives to anybody by default (fs.pipe-max-size), where 64 KiB are usual.
const Bytes = 1 << 20

// Widen lets a pipe hold Bytes. It is a favour that the system may refuse, and f need not be a pipe.
func Widen(f *os.File) {
	const setPipeSize = 1031     // F_SETPIPE_SZ, fcntl(2)
	conn, err := f.SyscallConn() // Fd would make the file blocking
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, Bytes) })
}
