package runner

import (
	"os"
	"syscall"
)

// childAttributes make the child die with this process, and keep a terminal's Ctrl-C from it: the runner tells it to stop.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// widen lets a pipe hold a megabyte in place of 64 KiB, so that its two ends wait less often for each other. The system may refuse.
func widen(f *os.File) {
	const setPipeSize, bytes = 1031, 1 << 20 // F_SETPIPE_SZ, fcntl(2)
	conn, err := f.SyscallConn()             // Fd would make the file blocking
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, bytes) })
}
