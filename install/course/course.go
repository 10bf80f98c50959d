// Package course has the files of an example course for nbgrader: its settings for Go and a problem set.
package course

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed files
var files embed.FS

// Write writes the course into a folder, which may exist if it is empty or has a part of the course, which a call that was
// killed has written.
func Write(folder string) error {
	course, err := fs.Sub(files, "files")
	if err != nil {
		return err
	}
	begun, err := begins(folder, course)
	if err != nil {
		return err
	}
	if !begun {
		return fmt.Errorf("%s is not empty: choose a new folder", folder)
	}
	return fs.WalkDir(course, ".", func(name string, entry fs.DirEntry, err error) error {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err != nil || entry.IsDir() {
			return errors.Join(err, os.MkdirAll(path, 0o777))
		}
		text, err := fs.ReadFile(course, name)
		if err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o666)
	})
}

// begins reports whether all that a folder has is a part of the course, but not the whole of it: folders and files of the
// course, of which one may have only the beginning of its content.
func begins(folder string, course fs.FS) (bool, error) {
	foreign := false
	missing := 0
	err := filepath.WalkDir(folder+string(filepath.Separator), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		want, err := fs.Stat(course, filepath.ToSlash(name))
		switch {
		case err != nil || want.Mode().Type() != entry.Type():
			foreign = true
		case !entry.IsDir():
			text, err := fs.ReadFile(course, filepath.ToSlash(name))
			if err != nil {
				return err
			}
			have, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if foreign = !bytes.HasPrefix(text, have); len(have) < len(text) {
				missing++
			}
		}
		if foreign {
			return fs.SkipAll
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || foreign {
		return false, err
	}
	err = fs.WalkDir(course, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, err := os.Lstat(filepath.Join(folder, filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) {
			missing++
		} else if err != nil {
			return err
		}
		return nil
	})
	return missing > 0, err
}
