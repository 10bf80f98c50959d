package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/quernlab/quern/internal/failpoint"
)

// ErrNoPath reports that the path of a file or folder to write is empty.
var ErrNoPath = errors.New("the path is empty: name the file to write")

// Replace calls write with a temporary file beside path, syncs it, and renames it to
// path. If that fails, or write panics, the file at path is unchanged and the
// temporary file is removed. If only syncing the directory fails, after the rename,
// Replace returns the error although path has the new content.
//
// A new file gets its permissions from the umask. A file that is replaced keeps its
// permissions, and if path is a symbolic link, its target is replaced.
//
// Replace also removes temporary files that killed processes have left in the
// directory.
func Replace(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil && path != "" {
		path = target
	}
	return ReplaceLink(path, 0, write)
}

// ReplaceLink is Replace, except that a symbolic link is replaced itself. The new file has the
// permissions of mode before it is at path; 0 stands for those of Replace.
func ReplaceLink(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	if path == "" {
		return ErrNoPath
	}
	folder := filepath.Dir(path)
	Clean(folder)
	temporary, err := create(folder)
	if err != nil {
		return withPath(err, path)
	}
	renamed := false
	defer func() { // even if write panics
		temporary.file.Close() // closing it twice does no harm
		if !renamed {
			os.Remove(temporary.name)
		}
		temporary.lock.Close()
	}()
	buffered := bufio.NewWriterSize(failpoint.Writer(failpoint.FileWrite, temporary.file), 1<<20)
	if err := write(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	if info, err := os.Lstat(path); mode == 0 && err == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	}
	if mode != 0 {
		err := failpoint.Do(failpoint.FileMode, func() error { return temporary.file.Chmod(mode) })
		if err != nil {
			return err
		}
	}
	if err := failpoint.Do(failpoint.FileSync, temporary.file.Sync); err != nil {
		return err
	}
	if err := failpoint.Do(failpoint.FileClose, temporary.file.Close); err != nil {
		return err
	}
	err = failpoint.Do(failpoint.FileRename, func() error { return os.Rename(temporary.name, path) })
	if err != nil {
		return withPath(err, path)
	}
	renamed = true
	return failpoint.Do(failpoint.FileSyncFolder, func() error { return SyncFolder(folder) })
}

// Check returns an error if Replace cannot write a file at path because its folder does not exist or is not writable, or since path is a
// folder. It creates a temporary file beside path and removes it.
func Check(path string) error {
	if target, err := filepath.EvalSymlinks(path); err == nil && path != "" {
		path = target
	}
	if path == "" {
		return ErrNoPath
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &fs.PathError{Op: "replace", Path: path, Err: errors.New("is a folder")}
	}
	f, err := os.CreateTemp(filepath.Dir(path), prefix+"*")
	if err != nil {
		return withPath(err, path)
	}
	err = f.Close()
	if removed := os.Remove(f.Name()); !errors.Is(removed, fs.ErrNotExist) { // another process may have called Clean
		err = errors.Join(err, removed)
	}
	return err
}

// withPath returns the error of a temporary file as one of the file that it becomes.
func withPath(err error, path string) error {
	var of *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &of):
		return &fs.PathError{Op: "create", Path: path, Err: of.Err}
	case errors.As(err, &link):
		return &fs.PathError{Op: "replace", Path: path, Err: link.Err}
	}
	return err
}
