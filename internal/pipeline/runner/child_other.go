//go:build !linux

package runner

import "syscall"

// childAttributes keep a terminal's Ctrl-C from the child: the runner tells it to stop.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
