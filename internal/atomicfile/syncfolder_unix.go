//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// syncFlag is how a file is opened to sync it, which may be one that is only read.
const syncFlag = os.O_RDONLY

// SyncFolder makes the names in a folder durable: those of new and of renamed files.
// It is no error if the file system has no such operation, or the folder may not be
// read.
func SyncFolder(folder string) error {
	f, err := os.Open(folder)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
