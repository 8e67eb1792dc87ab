package pgtest

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// account is who the server runs as; nil credentials: we ourselves.
type account struct{ credential *syscall.Credential }

// serverAccount is user postgres when we are root, since initdb and postgres refuse to run as root.
func serverAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return &account{}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("looking up user postgres, who runs the servers of root: %w: run make setup", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("reading the uid %q of user postgres: %w", u.Uid, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("reading the gid %q of user postgres: %w", u.Gid, err)
	}
	return &account{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

func (a *account) sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Credential: a.credential,
		Pdeathsig:  syscall.SIGINT,
		Setpgid:    true, // Ctrl-C in the terminal goes to the test, which stops its servers itself
	}
}

// rootPrefix is followed by the process id of the test, so that what a killed test left behind can be told from what is in use.
const rootPrefix = "pgtest-"

// newRoot makes the folder of a cluster, and first removes those of tests that are dead.
func newRoot(owner *account) (string, error) {
	base := traversableTemp()
	sweep(base)
	root, err := os.MkdirTemp(base, fmt.Sprintf("%s%d-", rootPrefix, os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("making the cluster's folder: %w", err)
	}
	if err := os.Chmod(root, 0o755); err != nil { //nolint:gosec // the server's account has to get in
		return "", fmt.Errorf("opening the cluster's folder: %w", err)
	}
	if c := owner.credential; c != nil {
		if err := os.Chown(root, int(c.Uid), int(c.Gid)); err != nil {
			return "", fmt.Errorf("giving the cluster's folder to user postgres: %w", err)
		}
	}
	return root, nil
}

// traversableTemp is the temporary folder, unless another account could not pass through it.
func traversableTemp() string {
	dir := os.TempDir()
	if os.Geteuid() != 0 {
		return dir
	}
	for parent := filepath.Clean(dir); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return "/tmp"
		}
		if parent == filepath.Dir(parent) {
			return dir
		}
	}
}

func sweep(base string) {
	found, err := filepath.Glob(filepath.Join(base, rootPrefix+"*-*"))
	if err != nil {
		return
	}
	for _, root := range found {
		pidText, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(root), rootPrefix), "-")
		pid, err := strconv.Atoi(pidText)
		info, statErr := os.Stat(root)
		// A minute's grace: the server of a test that was just killed is still shutting down.
		if err != nil || statErr != nil || time.Since(info.ModTime()) < time.Minute || syscall.Kill(pid, 0) != syscall.ESRCH {
			continue
		}
		_ = os.RemoveAll(root) // somebody else's, or being removed by another test: not our failure
	}
}
