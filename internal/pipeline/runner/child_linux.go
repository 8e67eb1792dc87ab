package runner

import "syscall"

// childAttributes make the child die with this process, and keep a terminal's Ctrl-C from it: the runner tells it to stop.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
