// Package course has the files of an example course for nbgrader: its settings for Go and a problem set.
package course

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	below, err := fs.Sub(files, "files")
	if err != nil {
		return err
	}
	return os.CopyFS(folder, below)
}
