package symbols

import (
	_ "embed"
	"errors"
	"fmt"
	"go/version"
	"runtime"
	"strings"
	"sync"

	"github.com/quernlab/quern/interp/symbols/internal/archive"
)

//go:embed std.zip
var stdArchive string

//go:embed own.zip
var ownArchive string

// unknownPlatform stands in the place of a platform's archive where there is none.
const unknownPlatform = "unknown"

// Errors of [Check], and of an importer where Check fails.
var (
	ErrVersion  = errors.New("the types of the standard library are of another Go release: build quern with that release, or run go generate ./interp/symbols with this one")
	ErrPlatform = errors.New("there are no types of the standard library for this platform: add it to the targets of interp/symbols/internal/generate")
)

// archives are the opened archives, the first that has a package counts.
type archives struct {
	readers []*archive.Reader
	names   map[string]string // package name by import path
}

// open opens the archives once. It keeps nothing but their tables of contents.
var open = sync.OnceValues(func() (*archives, error) {
	return openArchives(runtime.Version(), stdArchive, platformArchive, ownArchive)
})

func openArchives(goVersion, std, platform, own string) (*archives, error) {
	if platform == unknownPlatform {
		return nil, fmt.Errorf("%s/%s: %w", runtime.GOOS, runtime.GOARCH, ErrPlatform)
	}
	base, err := archive.NewReader(std)
	if err != nil {
		return nil, err
	}
	a := &archives{names: make(map[string]string)}
	standard := base
	if platform != "" {
		if standard, err = archive.NewReader(platform); err != nil {
			return nil, err
		}
		a.readers = append(a.readers, standard)
	}
	ours, err := archive.NewReader(own)
	if err != nil {
		return nil, err
	}
	a.readers = append(a.readers, base, ours)
	for _, r := range a.readers {
		if r.Version() != minor(goVersion) {
			return nil, fmt.Errorf("types of %s in a binary built by %s: %w", r.Version(), goVersion, ErrVersion)
		}
	}
	for _, r := range []*archive.Reader{standard, ours} { // not base: a platform may have fewer packages
		for path, name := range r.Names() {
			a.names[path] = name
		}
	}
	return a, nil
}

// minor is the minor release in what runtime.Version says, which may have words around it: "go1.26.8 X:jsonv2".
func minor(goVersion string) string {
	for word := range strings.FieldsSeq(goVersion) {
		if lang := version.Lang(word); lang != "" {
			return lang
		}
	}
	return ""
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

// Check reports why the packages cannot be used in this binary: [ErrVersion], [ErrPlatform], or a damaged file. A
// session calls it before anything else.
func Check() error {
	_, err := open()
	if err != nil {
		return fmt.Errorf("symbols: %w", err)
	}
	return nil
}
