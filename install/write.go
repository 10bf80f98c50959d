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

// ExistsError says that a different kernelspec of this name is already there.
type ExistsError struct{ Dir string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("another kernelspec is already in %s", e.Dir)
}

// Write writes the kernelspec below the folder kernels and returns its own
// folder. An equal one is left as it is. A different one is replaced when
// replace is set; otherwise Write returns an *ExistsError and changes nothing.
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
	atomicfile.Clean(kernels) // of an installation that was killed
	return dir, renew(dir, files)
}

// file is one of a kernelspec.
type file struct {
	name string
	text []byte
}

// content are the files of a kernelspec. The last is kernel.json, which makes a folder one.
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

// create makes the folder of a kernelspec as a whole. A private one would not do: a
// kernelspec is for all who may use the prefix, which the umask says.
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

// renew replaces the files of a kernelspec one by one, since no folder can be renamed over
// another: the kernelspec is the old one until its kernel.json is replaced. Then it removes
// what the old one had besides.
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
		if known[e.Name()] || strings.HasPrefix(e.Name(), ".") { // package atomicfile has hidden files
			continue
		}
		if err := failpoint.Do(failpoint.InstallRemove, func() error { return os.RemoveAll(filepath.Join(dir, e.Name())) }); err != nil {
			return err
		}
	}
	return nil
}

const kernelFile = "kernel.json"

// Remove deletes the kernelspec name below the folder kernels. It returns an
// error wrapping fs.ErrNotExist when there is none, and refuses a folder that
// holds no kernel.json.
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
