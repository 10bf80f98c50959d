package symbols

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
	"github.com/quernlab/quern/interp/symbols/internal/release"
)

//go:embed own
var ownFiles embed.FS

// ErrPlatform is the error of [Check], and of an importer, on a platform that has no types.
var ErrPlatform = errors.New("there are no types of the standard library for this platform: add it to the targets of interp/symbols/internal/generate")

// archives are the opened archives, the first that has a package counts.
type archives struct {
	readers []reader
	names   map[string]string // package name by import path
}

// reader is an archive of packages: a zip file for each release of Go, and a folder for ours.
type reader interface {
	Names() map[string]string
	Types(path string) ([]byte, error)
	Docs(path string) (archive.Docs, error)
}

// open opens the archives once. It keeps nothing but their tables of contents.
var open = sync.OnceValues(func() (*archives, error) {
	ours, err := fs.Sub(ownFiles, "own")
	if err != nil {
		return nil, err
	}
	return openArchives(release.Current(), ours)
})

func openArchives(current release.Release, own fs.FS) (*archives, error) {
	if current.Platform == release.UnknownPlatform {
		return nil, fmt.Errorf("%s/%s: %w", runtime.GOOS, runtime.GOARCH, ErrPlatform)
	}
	base, err := archive.NewReader(current.Standard)
	if err != nil {
		return nil, err
	}
	a := &archives{names: make(map[string]string)}
	standard := base
	if current.Platform != "" {
		if standard, err = archive.NewReader(current.Platform); err != nil {
			return nil, err
		}
		a.readers = append(a.readers, standard)
	}
	ours, err := archive.OpenFolder(own)
	if err != nil {
		return nil, err
	}
	a.readers = append(a.readers, base, ours)
	for _, r := range []reader{standard, ours} { // not base: a platform may have fewer packages
		for path, name := range r.Names() {
			a.names[path] = name
		}
	}
	return a, nil
}

func (a *archives) types(path string) ([]byte, error) {
	for _, r := range a.readers {
		if data, err := r.Types(path); !errors.Is(err, archive.ErrNone) {
			return data, err
		}
	}
	return nil, fmt.Errorf("types of %q: %w", path, archive.ErrNone)
}

func (a *archives) docs(path string) (archive.Docs, error) {
	for _, r := range a.readers {
		if docs, err := r.Docs(path); !errors.Is(err, archive.ErrNone) {
			return docs, err
		}
	}
	return nil, fmt.Errorf("documentation of %q: %w", path, archive.ErrNone)
}

// Release returns the minor release of Go that compiled the binary, for instance "go1.26". Cells are written in its language
// and use its standard library.
func Release() string { return release.Current().Version }

// Check reports why the packages cannot be used in this binary: [ErrPlatform], or a damaged file. A session calls it
// before anything else.
func Check() error {
	_, err := open()
	if err != nil {
		return fmt.Errorf("symbols: %w", err)
	}
	return nil
}
