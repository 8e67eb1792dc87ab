package fileblob

import (
	"io/fs"
	"syscall"
	"time"
)

func factsOf(file fs.FileInfo) facts {
	f := facts{size: file.Size(), changed: file.ModTime().UTC(), written: file.ModTime()}
	if s, ok := file.Sys().(*syscall.Stat_t); ok {
		f.inode, f.changed = s.Ino, time.Unix(s.Ctim.Unix()).UTC()
	}
	return f
}
