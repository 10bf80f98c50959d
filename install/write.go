package install

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/quernlab/quern/internal/atomicfile"
	"github.com/quernlab/quern/internal/failpoint"
)

//go:embed logo/logo-32x32.png logo/logo-64x64.png logo/logo-svg.svg
var logos embed.FS

// ExistsError reports that a different kernelspec with the same name exists.
type ExistsError struct {
	Dir string // of the other kernelspec
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("another kernelspec is already in %s", e.Dir)
}

// Write writes the kernelspec into the folder kernels and returns its own folder. If an
// equal one exists, it is left unchanged. A different one is replaced if replace is set;
// otherwise Write returns an *ExistsError and changes nothing.
func Write(spec Spec, kernels string, replace bool) (dir string, err error) {
	text, err := spec.JSON()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(kernels, spec.Name)
	old, err := os.ReadFile(filepath.Join(dir, kernelFile))
	switch {
	case err == nil && !bytes.Equal(old, text) && !replace:
		return dir, &ExistsError{dir}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return dir, err
	}
	if err := failpoint.Do(failpoint.InstallFolder, func() error { return os.MkdirAll(kernels, 0o777) }); err != nil {
		return dir, err
	}
	files, err := content(text)
	if err != nil {
		return dir, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return dir, create(dir, files)
	}
	atomicfile.Clean(kernels) // left by an installation that was killed
	return dir, renew(dir, files)
}

// file is a file of a kernelspec.
type file struct {
	name string
	text []byte
}

// content returns the files of a kernelspec. The last one is kernel.json, which makes the
// folder a kernelspec.
func content(kernelJSON []byte) (files []file, err error) {
	err = fs.WalkDir(logos, "logo", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := logos.ReadFile(path)
		files = append(files, file{entry.Name(), b})
		return err
	})
	return append(files, file{kernelFile, kernelJSON}), err
}

// create creates the folder of a kernelspec atomically. Its permissions come from the
// umask, since a kernelspec is for all users of the prefix.
func create(dir string, files []file) error {
	return atomicfile.CreateFolder(dir, func(_, content string) error {
		if err := failpoint.Do(failpoint.InstallCreate, func() error { return os.Mkdir(content, 0o777) }); err != nil {
			return err
		}
		for _, f := range files {
			if err := write(filepath.Join(content, f.name), f.text); err != nil {
				return err
			}
		}
		return nil
	})
}

func write(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = failpoint.Writer(failpoint.InstallWrite, f).Write(text)
	return errors.Join(err, f.Close())
}

// renew replaces the files of a kernelspec one by one, since a folder cannot be renamed
// over another. Until kernel.json is replaced it is the old kernelspec. Then renew
// removes the other files of the old one.
func renew(dir string, files []file) error {
	known := map[string]bool{}
	for _, f := range files {
		known[f.name] = true
		err := atomicfile.Replace(filepath.Join(dir, f.name), func(w io.Writer) error {
			_, err := w.Write(f.text)
			return err
		})
		if err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if known[e.Name()] || strings.HasPrefix(e.Name(), ".") { // temporary files of package atomicfile are hidden
			continue
		}
		if err := failpoint.Do(failpoint.InstallRemove, func() error { return os.RemoveAll(filepath.Join(dir, e.Name())) }); err != nil {
			return err
		}
	}
	return nil
}

const kernelFile = "kernel.json"

// Remove deletes a kernelspec from the folder kernels. The error wraps fs.ErrNotExist if
// there is none. It refuses to delete a folder without kernel.json.
func Remove(name, kernels string) (dir string, err error) {
	if !validName.MatchString(name) {
		return "", &NameError{name}
	}
	dir = filepath.Join(kernels, name)
	if _, err := os.Stat(filepath.Join(dir, kernelFile)); err != nil {
		return dir, fmt.Errorf("no kernelspec %q: %w", name, err)
	}
	return dir, os.RemoveAll(dir)
}
