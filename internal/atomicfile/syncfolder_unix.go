//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// syncFlag is the flag with which a file, which may be read-only, is opened to sync it.
const syncFlag = os.O_RDONLY

// SyncFolder makes the names of new and renamed files in a folder durable. It succeeds if
// the file system does not support this or the folder is not readable.
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
