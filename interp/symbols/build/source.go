package build

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/quernlab/quern/interp/symbols/internal/extra"
)

// quern is the path of our module.
const quern = "github.com/quernlab/quern"

// ErrNoSource is the error if the source of Quern, which a build needs, is not available.
var ErrNoSource = errors.New("the source of quern is needed and was not found")

// A base is the program of Quern to which packages are added.
type base struct {
	id      string // of the running program without additional packages
	version string // of the module, if the source is that of a released version
	dir     string // of the source, if it is a checkout
}

// findBase finds the source of the running program. given is a directory that the user names, or "".
func findBase(given string) (base, error) {
	b := base{id: extra.Base}
	if b.id == "" {
		id, err := identity()
		if err != nil {
			return base{}, err
		}
		b.id = id
	}
	if given != "" {
		dir, err := filepath.Abs(given)
		if err != nil {
			return base{}, err
		}
		if err := isSource(dir); err != nil {
			return base{}, err
		}
		b.dir = dir
		return b, nil
	}
	info, _ := debug.ReadBuildInfo()
	if info != nil && info.Main.Path == quern && isReleased(info.Main.Version) {
		b.version = info.Main.Version
		return b, nil
	}
	if version, ok := strings.CutPrefix(extra.Source, quern+"@"); ok {
		b.version = version
		return b, nil
	}
	dir := extra.Source
	if dir == "" {
		_, file, _, _ := runtime.Caller(0)
		dir = filepath.Join(filepath.Dir(file), "..", "..", "..")
	}
	if err := isSource(dir); err != nil {
		return base{}, fmt.Errorf("%w: this program was built from a checkout (%w): set QUERN_SOURCE to a checkout of the same version, or use a released version of quern", ErrNoSource, err)
	}
	b.dir = dir
	return b, b.unchanged()
}

// isReleased reports whether a version can be downloaded. The go command adds +dirty to that of a changed checkout.
func isReleased(version string) bool {
	return strings.HasPrefix(version, "v") && !strings.Contains(version, "+dirty") && !module.IsPseudoVersion(version)
}

// isSource returns an error unless dir has the source of Quern.
func isSource(dir string) error {
	path := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if modfile.ModulePath(text) != quern {
		return fmt.Errorf("%s is not that of %s", path, quern)
	}
	return nil
}

// unchanged returns an error if the messages between the processes may have changed since the running program was
// built.
func (b base) unchanged() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := os.Stat(self)
	if err != nil {
		return err
	}
	for _, folder := range []string{"kernel/link", "kernel/worker"} {
		err := filepath.WalkDir(filepath.Join(b.dir, filepath.FromSlash(folder)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			info, err := d.Info()
			if err == nil && extra.Base == "" && info.ModTime().After(program.ModTime()) {
				return fmt.Errorf("%s has changed since %s was built: build quern again", path, self)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// source returns what describes the source in a program that is built.
func (b base) source() string {
	if b.version != "" {
		return quern + "@" + b.version
	}
	return b.dir
}

// directory returns a directory with the source. That of a version is copied into dir, since an overlay cannot add files to
// the module cache.
func (b base) directory(ctx context.Context, g gocommand, dir string) (string, error) {
	if b.version == "" {
		return b.dir, nil
	}
	var answer struct{ Dir, Error string }
	if err := g.json(ctx, &answer, "mod", "download", "-json", quern+"@"+b.version); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoSource, err)
	}
	into := filepath.Join(dir, "quern")
	if err := os.CopyFS(into, os.DirFS(answer.Dir)); err != nil {
		return "", fmt.Errorf("copy the source of quern: %w", err)
	}
	return into, nil
}

// identity returns a hash of the running program.
func identity() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find the path of this program: %w", err)
	}
	f, err := os.Open(self)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
