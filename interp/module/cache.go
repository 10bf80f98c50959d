package module

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/module"

	"github.com/quernlab/quern/internal/failpoint"
	"github.com/quernlab/quern/internal/trust"
)

// CacheError reports a cache directory of modules that is not used because other users could
// have put files there.
type CacheError struct {
	Dir string
	Err error
}

func (e *CacheError) Error() string {
	return fmt.Sprintf("the module cache %s is not used: %v; remove it, or set XDG_CACHE_HOME to a directory of your own", e.Dir, e.Err)
}

// Unwrap returns the cause.
func (e *CacheError) Unwrap() error { return e.Err }

// cached returns the directory in the cache for a module and creates its parent. Only the user
// has access to the cache, so that nobody else can plant code that is executed.
func cached(m module.Version) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the directory of the module cache: %w", err)
	}
	root := filepath.Join(base, "quern", "modules")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", err
	}
	if err := trust.Dir(root); err != nil {
		return "", &CacheError{root, err}
	}
	if err := os.Chmod(root, 0o700); err != nil {
		return "", err
	}
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return "", err
	}
	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, filepath.FromSlash(path)+"@"+version)
	return dir, failpoint.Do(failpoint.ModuleFolder, func() error { return os.MkdirAll(filepath.Dir(dir), 0o700) })
}

// digests are texts that change with the content of files, by path. A file that is saved without a change has the same one,
// so that its package keeps its variables.
type digests map[string]digest

type digest struct{ stamp, sum string }

// of returns the digest of a regular file; "" if there is none. It reads a file only if its time or size has changed.
func (d digests) of(path string) string {
	stamp := stampOf(path)
	if stamp == "" {
		return ""
	}
	if known := d[path]; known.stamp == stamp {
		return known.sum
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return stamp // whoever reads the package reports the error
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	d[path] = digest{stamp, sum}
	return sum
}

// A State is what a Set consists of at one time.
type State struct {
	set *Set // without what is the same in all states
}

// State returns the present state.
func (s *Set) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := &Set{}
	old.copyState(s)
	return State{old}
}

// Restore removes what Get and Add have added since the state. Files that have been downloaded stay in the cache.
func (s *Set) Restore(old State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !maps.Equal(s.selected, old.set.selected) {
		s.generation++
	}
	s.copyState(old.set)
	s.checked = false
}

func (s *Set) copyState(from *Set) {
	s.roots, s.selected, s.dirs, s.retracted = slices.Clone(from.roots), maps.Clone(from.selected), maps.Clone(from.dirs), maps.Clone(from.retracted)
	s.added, s.work, s.workDir, s.workErr, s.stale = slices.Clone(from.added), from.work, from.workDir, from.workErr, from.stale
}
