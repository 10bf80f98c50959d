//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lock marks a temporary file as used by this process. The system releases the lock when
// the process ends, for whatever reason. If the file system has no locks, lock succeeds;
// abandoned files are then not removed.
func lock(name string) (io.Closer, error) {
	f, err := open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errRemoved
	}
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		f.Close()
		return nil, errRemoved
	}
	if !names(name, f) {
		f.Close()
		return nil, errRemoved
	}
	return f, nil
}

// removeAbandoned removes a temporary file or directory if no process has locked it.
func removeAbandoned(name string) {
	f, err := open(name)
	if err != nil {
		return
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && names(name, f) {
		os.RemoveAll(name)
	}
}

// open opens a file to lock it. It does not block on a pipe.
func open(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// names reports whether a name still refers to an open regular file or directory.
func names(name string, f *os.File) bool {
	opened, err1 := f.Stat()
	named, err2 := os.Lstat(name)
	return err1 == nil && err2 == nil && (named.Mode().IsRegular() || named.IsDir()) && os.SameFile(opened, named)
}
