// Package course has the files of an example course for nbgrader: its settings for Go and a problem set.
package course

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed files
var files embed.FS

// Write writes the course into a folder, which may exist if it is empty.
func Write(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty: choose a new folder", folder)
	}
	return fs.WalkDir(files, "files", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel("files", path)
		if err != nil {
			return err
		}
		to := filepath.Join(folder, below)
		if entry.IsDir() {
			return os.MkdirAll(to, 0o777)
		}
		text, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o666)
	})
}
