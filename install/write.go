package install

import (
	"bytes"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	old, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	switch {
	case err == nil && !bytes.Equal(old, text) && !replace:
		return dir, &ExistsError{dir}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return dir, err
	}
	if err := os.MkdirAll(kernels, 0o777); err != nil {
		return dir, err
	}
	// MkdirTemp would make a private folder, and a kernelspec is for all who may use the
	// prefix, which the umask says.
	fresh := filepath.Join(kernels, ".quern-"+rand.Text())
	if err := os.Mkdir(fresh, 0o777); err != nil {
		return dir, err
	}
	defer os.RemoveAll(fresh)
	if err := fill(fresh, text); err != nil {
		return dir, err
	}
	return dir, swap(fresh, dir)
}

func fill(dir string, kernelJSON []byte) error {
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), kernelJSON, 0o666); err != nil {
		return err
	}
	return fs.WalkDir(logos, "logo", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := logos.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, entry.Name()), b, 0o666)
	})
}

// swap puts fresh in the place of dir. A folder cannot be renamed over another
// one, so the old one steps aside first and comes back if that fails.
func swap(fresh, dir string) error {
	old := fresh + ".old"
	err := os.Rename(dir, old)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(fresh, dir); err != nil {
		return errors.Join(err, os.Rename(old, dir))
	}
	return os.RemoveAll(old)
}

// Remove deletes the kernelspec name below the folder kernels. It returns an
// error wrapping fs.ErrNotExist when there is none, and refuses a folder that
// holds no kernel.json.
func Remove(name, kernels string) (dir string, err error) {
	if !validName.MatchString(name) {
		return "", &NameError{name}
	}
	dir = filepath.Join(kernels, name)
	if _, err := os.Stat(filepath.Join(dir, "kernel.json")); err != nil {
		return dir, fmt.Errorf("no kernelspec %q: %w", name, err)
	}
	return dir, os.RemoveAll(dir)
}
