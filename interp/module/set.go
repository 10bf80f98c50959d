package module

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/sync/singleflight"
)

// A Source provides modules. Its methods return when ctx ends, and may be called by several
// goroutines.
type Source interface {
	// Resolve returns the version that a query such as "latest" or "v1.2" means.
	Resolve(ctx context.Context, path, query string) (version string, err error)
	// GoMod returns the go.mod file of a module.
	GoMod(ctx context.Context, m module.Version) ([]byte, error)
	// Dir returns the directory of the files of a module.
	Dir(ctx context.Context, m module.Version) (string, error)
	// Retracted returns why the authors of a module have retracted a version; "" if they have not.
	Retracted(ctx context.Context, m module.Version) (reason string, err error)
}

// Set holds the modules of a session.
type Set struct {
	source    Source
	downloads singleflight.Group // by module.Version.String
	preferred map[string]string  // version by path

	mu       sync.Mutex
	roots    []module.Version
	selected map[string]string // version by path
	// generation counts the changes of selected.
	generation int
	dirs       map[string]string // directory by path, of downloaded modules
	// retracted has the reasons of retracted versions that Get has added. A reason that cannot be
	// found out, for lack of a network, is missing.
	retracted map[module.Version]string

	languages languages
	digests   digests

	base    string     // in place of the working directory; empty for none
	added   []string   // directories of modules that Add has added
	work    *workspace // of the working directory; nil until it is needed
	workDir string     // the working directory
	workErr error      // why work is not complete
	checked bool       // work is up to date for the current cell
	stale   bool       // selected was not computed from work
}

// New returns an empty set of modules that come from source.
func New(source Source) *Set {
	return &Set{source: source, selected: map[string]string{}, dirs: map[string]string{}, retracted: map[module.Version]string{}, languages: languages{}, digests: digests{}}
}

// In makes the set use a directory in place of the working directory.
func (s *Set) In(dir string) { s.base = dir }

// Prefer sets the versions of modules that Get takes if the query has no version.
func (s *Set) Prefer(versions map[string]string) { s.preferred = versions }

// Get adds a module, "path@version" or "path" for the latest version, and its requirements, and
// returns it. The path may be that of a package: then Get adds the module with the longest path
// that has the package. If the set has the module already, it gets the new version.
func (s *Set) Get(ctx context.Context, query string) (module.Version, error) {
	path, version, _ := strings.Cut(query, "@")
	if err := module.CheckImportPath(path); err != nil {
		return module.Version{}, fmt.Errorf("%q is not a module: %w", path, err)
	}
	if err := module.CheckPath(path); err != nil && !strings.Contains(path, "/") {
		return module.Version{}, fmt.Errorf("%q is not a module: %w", path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, _, err := s.refresh(); err != nil {
		return module.Version{}, err
	}
	var failure error
	for of := path; of != "."; of = pathpkg.Dir(of) {
		if module.CheckPath(of) != nil {
			continue
		}
		m, err := s.get(ctx, module.Version{Path: of, Version: version}, strings.TrimPrefix(path[len(of):], "/"))
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrNeedsGo) && !errors.Is(err, errNotFound) || errors.As(err, new(*PathError)) {
			return m, err
		}
		if failure == nil || errors.As(err, new(*PackageError)) && !errors.As(failure, new(*PackageError)) {
			failure = err
		}
	}
	if failure == nil { // no beginning of the path can be a module
		failure = fmt.Errorf("%q is not a module: %w", path, module.CheckPath(path))
	}
	return module.Version{}, networkHint(failure)
}

// networkHint adds what to do to the error of a network that does not reach a proxy. The go command reports it as text.
func networkHint(err error) error {
	if !strings.Contains(err.Error(), "dial tcp") {
		return err
	}
	return fmt.Errorf("%w; set GOPROXY to a proxy that your network reaches, or get the folder of the module, as in ../folder", err)
}

// A PackageError reports that a module has no package in a directory.
type PackageError struct {
	Module module.Version
	Dir    string
}

func (e *PackageError) Error() string {
	return fmt.Sprintf("module %s has no package %s/%s", e.Module, e.Module.Path, e.Dir)
}

// get adds the module m if it has the directory.
func (s *Set) get(ctx context.Context, m module.Version, directory string) (module.Version, error) {
	if m.Version == "" {
		m.Version = cmp.Or(s.preferred[m.Path], "latest")
	}
	if module.CanonicalVersion(m.Version) != m.Version || module.IsPseudoVersion(m.Version) {
		var err error
		if m.Version, err = s.source.Resolve(ctx, m.Path, m.Version); err != nil {
			return module.Version{}, err
		}
	}
	roots := slices.DeleteFunc(slices.Clone(s.roots), func(r module.Version) bool { return r.Path == m.Path })
	roots = append(roots, m)
	selected, err := s.selectVersions(ctx, roots)
	if err != nil {
		return module.Version{}, err
	}
	m.Version = selected[m.Path]
	dir, err := s.source.Dir(ctx, m)
	if err == nil {
		err = s.work.checkSum(m, dir)
	}
	if err != nil {
		return module.Version{}, err
	}
	if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(directory))); err != nil || !info.IsDir() {
		return module.Version{}, &PackageError{m, directory}
	}
	if reason, err := s.source.Retracted(ctx, m); err == nil && reason != "" {
		s.retracted[m] = reason
	}
	s.setSelected(selected)
	s.roots = roots
	s.dirs[m.Path] = dir
	return m, nil
}

// setSelected sets the versions of all modules, and forgets the directories of other versions.
func (s *Set) setSelected(selected map[string]string) {
	for path, version := range s.selected {
		if selected[path] != version {
			delete(s.dirs, path)
		}
	}
	if !maps.Equal(s.selected, selected) {
		s.generation++
	}
	s.selected, s.stale = selected, false
}

// prunedSince is the version of Go from which on a go.mod file names all modules that its
// packages need, so that the go.mod files of its requirements need not be read.
const prunedSince = "v1.17"

// selectVersions is minimal version selection for modules and the workspace.
func (s *Set) selectVersions(ctx context.Context, roots []module.Version) (map[string]string, error) {
	selected, seen := map[string]string{}, map[module.Version]*modfile.File{}
	queue := slices.Clone(roots)
	for _, r := range s.work.requires {
		if s.work.excluded[r] {
			continue
		}
		if !s.work.pruned {
			queue = append(queue, r)
		}
		if old, ok := selected[r.Path]; !ok || semver.Compare(r.Version, old) > 0 {
			selected[r.Path] = r.Version
		}
	}
	for len(queue) > 0 {
		m := queue[0]
		queue = queue[1:]
		if seen[m] != nil {
			continue
		}
		if old, ok := selected[m.Path]; !ok || semver.Compare(m.Version, old) > 0 {
			selected[m.Path] = m.Version
		}
		file, err := s.goMod(ctx, m)
		if err != nil {
			return nil, err
		}
		seen[m] = file
		pruned := file.Go != nil && semver.Compare("v"+file.Go.Version, prunedSince) >= 0
		for _, r := range file.Require {
			if err := module.Check(r.Mod.Path, r.Mod.Version); err != nil {
				return nil, fmt.Errorf("%s: go.mod: %w", m, err)
			}
			switch old, ok := selected[r.Mod.Path]; {
			case s.work.excluded[r.Mod]:
			case !pruned:
				queue = append(queue, r.Mod)
			case !ok || semver.Compare(r.Mod.Version, old) > 0:
				selected[r.Mod.Path] = r.Mod.Version
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(selected)) {
		m := module.Version{Path: path, Version: selected[path]}
		if file := seen[m]; file != nil && file.Go != nil {
			if err := checkGo(m.String()+"/go.mod", file.Go); err != nil {
				return nil, err
			}
		}
	}
	return selected, nil
}

// goMod returns the go.mod file of a module or its replacement.
func (s *Set) goMod(ctx context.Context, m module.Version) (*modfile.File, error) {
	by, replaced := s.work.replacementOf(m)
	var text []byte
	var err error
	switch {
	case replaced && by.dir != "":
		text, err = os.ReadFile(filepath.Join(by.dir, "go.mod"))
	case replaced:
		text, err = s.source.GoMod(ctx, by.by)
	default:
		text, err = s.source.GoMod(ctx, m)
	}
	if err != nil {
		return nil, err
	}
	file, err := modfile.ParseLax(m.String()+"/go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	if !replaced {
		err = declares(file, m)
	}
	return file, err
}

// PathError reports a module whose go.mod file declares another path: a renamed fork, or a proxy
// that sent the wrong module.
type PathError struct {
	Module   module.Version
	Declared string // the path in go.mod; empty if there is none
}

func (e *PathError) Error() string {
	if e.Declared == "" {
		return fmt.Sprintf("%s: its go.mod has no module line", e.Module)
	}
	return fmt.Sprintf("%s: its go.mod declares the module %s; use that path, if it is the one that you want", e.Module, e.Declared)
}

// declares returns an error if a go.mod file declares another path than its module.
func declares(file *modfile.File, m module.Version) error {
	switch {
	case file.Module == nil:
		return &PathError{Module: m}
	case file.Module.Mod.Path != m.Path:
		return &PathError{m, file.Module.Mod.Path}
	}
	return nil
}

// Generation returns a number that increases when the versions of modules change.
func (s *Set) Generation() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation
}

// Version returns the version of a module, "" if it is not in the set.
func (s *Set) Version(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.selected[path]
}

// Of returns the module of the set that the path is of: its own or that of a package in it. ok
// is false if there is none.
func (s *Set) Of(path string) (m module.Version, ok bool) {
	for ; path != "."; path = pathpkg.Dir(path) {
		if version := s.Version(path); version != "" {
			return module.Version{Path: path, Version: version}, true
		}
	}
	return module.Version{}, false
}

// Retracted returns why a version that Get has added is retracted by its authors; "" if it is not,
// or if that is not known.
func (s *Set) Retracted(m module.Version) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.retracted[m]
}
