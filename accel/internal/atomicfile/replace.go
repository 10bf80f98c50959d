// Package atomicfile writes files that are old or new, whenever somebody looks at them.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Replace writes a file by write and puts it where path is when it is whole and on
// the disk. Where that fails, or write panics, what was there stays, and nothing
// else is left.
func Replace(path string, write func(io.Writer) error) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".save-*")
	if err != nil {
		return err
	}
	whole := false
	defer func() { // also when write panics
		if !whole {
			temporary.Close() // again, which does no harm
			os.Remove(temporary.Name())
		}
	}()
	buffered := bufio.NewWriterSize(temporary, 1<<20)
	if err = write(buffered); err == nil {
		err = errors.Join(buffered.Flush(), temporary.Sync())
	}
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	if err := os.Chmod(temporary.Name(), 0o644); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return err
	}
	whole = true
	return nil
}
