package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// SetConf changes a setting of the whole server, from the next Reload (or Restart, for those that need one) on.
func (c *Cluster) SetConf(name, value string) error {
	c.mu.Lock()
	c.conf[name] = value
	c.mu.Unlock()
	return c.writeConf()
}

// Reload makes the server read its configuration and returns once new sessions see it. Sessions that are open follow when they next wait for a command.
func (c *Cluster) Reload() error {
	const loaded = "SELECT pg_conf_load_time()"
	before, err := c.Query("postgres", loaded)
	if err != nil {
		return err
	}
	if err = syscall.Kill(c.server.pid(), syscall.SIGHUP); err != nil {
		return fmt.Errorf("sending SIGHUP to PostgreSQL, pid %d: %w", c.server.pid(), err)
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		now, err := c.Query("postgres", loaded)
		if err != nil {
			return err
		}
		if now[0][0] != before[0][0] {
			return nil
		}
	}
	return fmt.Errorf("reloading the configuration of PostgreSQL, pid %d: nothing happened in 10 s", c.server.pid())
}

// writeConf replaces the settings file by rename, so that a server that is reloading never reads half of it.
func (c *Cluster) writeConf() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := filepath.Join(c.dataDir(), "pgtest.conf")
	if err := os.WriteFile(path+".new", []byte(renderConf(c.conf)), 0o644); err != nil { //nolint:gosec // read by the server's account
		return fmt.Errorf("writing the server's settings: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("replacing the server's settings: %w", err)
	}
	return nil
}
