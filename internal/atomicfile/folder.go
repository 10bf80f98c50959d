package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/quernlab/quern/internal/failpoint"
)

// CreateFolder creates a directory atomically. It calls fill, which creates the directory
// content; other files that fill writes to the directory work are removed. If another
// process has created path meanwhile, that directory is kept. Like Replace, it syncs what
// it creates and removes temporary files of killed processes in the parent directory,
// which must exist.
func CreateFolder(path string, fill func(work, content string) error) (err error) {
	if path == "" {
		return ErrNoPath
	}
	parent := filepath.Dir(path)
	Clean(parent)
	temporary, err := createFolder(parent)
	if err != nil {
		return withPath(err, path)
	}
	defer func() { // even if fill panics
		os.RemoveAll(temporary.name)
		temporary.lock.Close()
	}()
	content := filepath.Join(temporary.name, "content")
	if err := fill(temporary.name, content); err != nil {
		return err
	}
	if err := failpoint.Do(failpoint.FolderSync, func() error { return syncTree(content) }); err != nil {
		return err
	}
	err = failpoint.Do(failpoint.FolderRename, func() error { return os.Rename(content, path) })
	if err != nil {
		if _, there := os.Stat(path); there != nil {
			return withPath(err, path)
		}
	}
	return failpoint.Do(failpoint.FolderSyncParent, func() error { return SyncFolder(parent) })
}

// syncTree syncs a directory and all files and directories below it.
func syncTree(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return SyncFolder(path)
		case !entry.Type().IsRegular():
			return nil
		}
		f, err := os.OpenFile(path, syncFlag, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Sync()
	})
}
