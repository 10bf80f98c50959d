package symbols

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
	"github.com/quernlab/quern/interp/symbols/internal/extra"
	"github.com/quernlab/quern/interp/symbols/internal/release"
)

//go:embed own
var ownFiles embed.FS

// ErrPlatform is the error of [Check], and of importers, on a platform for which there are no types.
var ErrPlatform = errors.New("quern has no standard library for this platform: add the platform to interp/symbols/internal/generate/packages.go")

// archives are the opened archives. If several contain a package, the first one counts.
type archives struct {
	readers []reader
	names   map[string]string // package name by import path
}

// reader reads an archive of packages: a zip file for each Go release, or the folder of our packages.
type reader interface {
	Names() map[string]string
	Types(path string) ([]byte, error)
	Docs(path string) (archive.Docs, error)
}

// open opens the archives on first use. It keeps only their tables of contents in memory.
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
	named := []reader{standard, ours} // not base: this platform may have fewer packages
	if extra.Archive != "" {
		added, err := archive.NewReader(extra.Archive)
		if err != nil {
			return nil, err
		}
		a.readers, named = append(a.readers, added), append(named, added)
	}
	for _, r := range named {
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

// Release returns the minor release of Go that compiled the binary, such as "go1.26". Cells use its
// language and its standard library.
func Release() string { return release.Current().Version }

// Check returns an error if the packages cannot be used in this binary: [ErrPlatform], or the error of a
// damaged file. A session calls it first.
func Check() error {
	_, err := open()
	if err != nil {
		return fmt.Errorf("symbols: %w", err)
	}
	return nil
}
