package module

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
)

// InternalError reports an import of an internal package from outside
// (https://go.dev/doc/go1.4#internalpackages).
type InternalError struct{ Path string }

func (e *InternalError) Error() string {
	parent, _ := InternalParent(e.Path)
	return fmt.Sprintf("use of internal package %s not allowed: only code below %s may import it", e.Path, parent)
}

// InternalParent returns the path below which code may import a package; ok is false if it is not
// internal.
func InternalParent(importPath string) (parent string, ok bool) {
	elements := strings.Split(importPath, "/")
	for i := len(elements) - 1; i >= 0; i-- {
		if elements[i] == "internal" {
			return strings.Join(elements[:i], "/"), true
		}
	}
	return "", false
}

// CheckInternal returns an *InternalError if the package from may not import a package.
func CheckInternal(from, importPath string) error {
	parent, ok := InternalParent(importPath)
	if !ok || from == parent || strings.HasPrefix(from, parent+"/") || parent == "" {
		return nil
	}
	return &InternalError{importPath}
}

// CheckInternal returns an *InternalError if cells in the working directory may not import a
// package.
func (s *Set) CheckInternal(importPath string) error {
	if _, ok := InternalParent(importPath); !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w, dir, err := s.refresh()
	if err != nil {
		return err
	}
	return CheckInternal(w.importPathOf(dir), importPath)
}

// Local reports whether an import path belongs to a module on this machine, whose packages come
// before compiled ones, other than those of Quern: no module replaces package check, with which
// exercises are graded.
func (s *Set) Local(importPath string) bool {
	if !hasDot(importPath) || importPath == ownModule || strings.HasPrefix(importPath, ownModule+"/") {
		return false // of the standard library, of Quern, or not compiled
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w, _, err := s.refresh()
	if err != nil {
		return false
	}
	_, ok := w.module(importPath)
	return ok
}

// Add makes the packages of the module in a directory importable: of the directory, or of the
// nearest one above it that has a go.mod file. It returns the path of the module.
func (s *Set) Add(dir string) (path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, here, err := s.refresh()
	if err != nil {
		return "", err
	}
	dir = absolute(here, dir)
	if info, err := os.Stat(dir); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", dir)
	}
	file := findAbove(dir, "go.mod", isFile)
	if file == "" {
		return "", fmt.Errorf("neither %s nor a directory above it has a go.mod file: run go mod init there", dir)
	}
	root := filepath.Dir(file)
	more := slices.Clone(s.added)
	if !slices.Contains(more, root) {
		more = append(more, root)
	}
	w, err := findWorkspace(here, more)
	if err != nil {
		return "", err
	}
	s.added, s.work, s.workErr, s.stale = more, w, nil, true
	for _, m := range w.modules {
		if m.dir == root {
			path = m.path
		}
	}
	return path, nil
}

// Described returns the path of the module in a directory that Add has added, with the directory.
func (s *Set) Described(dir string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir = absolute(s.workDir, dir)
	for _, m := range s.work.modules {
		if m.dir == dir || strings.HasPrefix(dir, m.dir+string(filepath.Separator)) {
			return m.path + " in " + m.dir
		}
	}
	return dir
}

// Begin makes the next call check whether go.mod, go.work or the working directory have changed.
func (s *Set) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checked = false
}

// refresh returns the workspace of the working directory and that directory. It reads the workspace
// again if its files have changed since Begin. The caller holds the lock.
func (s *Set) refresh() (*workspace, string, error) {
	if s.checked {
		return s.work, s.workDir, s.workErr
	}
	dir, err := filepath.Abs(s.base)
	if err != nil {
		return nil, "", fmt.Errorf("find go.mod: %w", err)
	}
	if s.work == nil || s.workDir != dir || !s.work.current() {
		s.work, s.workErr = findWorkspace(dir, s.added)
		s.workDir, s.stale = dir, true
	}
	s.checked = true
	return s.work, dir, s.workErr
}

// findLocal returns the package with an import path in a module on this machine, or among vendored
// packages.
func (s *Set) findLocal(w *workspace, importPath string) (p Package, ok bool, err error) {
	if m, ok := w.module(importPath); ok {
		p, has, err := s.localPackage(module.Version{Path: m.path}, m.dir, importPath)
		if has || err != nil {
			return p, has, err
		}
		if hasDot(importPath) && m.path == importPath {
			return Package{}, false, fmt.Errorf("%s has no Go files", m.dir)
		}
	}
	if w.vendor != "" {
		dir := filepath.Join(w.vendor, filepath.FromSlash(importPath))
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			p, ok, err := s.digests.localPackage(module.Version{Path: importPath}, dir, importPath)
			p.Language = w.vendoredLanguage(importPath)
			return p, ok, err
		}
	}
	return Package{}, false, nil
}

// hasDot reports whether the first element of an import path has a dot, as in all paths of modules
// that are downloaded.
func hasDot(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return strings.Contains(first, ".")
}

// localPackage returns the package of a module on this machine; ok is false if it has no such
// directory, or if that belongs to a module of its own. The caller holds the lock.
func (s *Set) localPackage(m module.Version, root, importPath string) (p Package, ok bool, err error) {
	p, ok, err = s.digests.localPackage(m, root, importPath)
	if !ok || err != nil {
		return p, ok, err
	}
	for dir := p.Dir; len(dir) > len(root); dir = filepath.Dir(dir) {
		if isFile(filepath.Join(dir, "go.mod")) {
			return Package{}, false, nil
		}
	}
	p.Language, err = s.languages.of(m, root)
	return p, true, err
}

// localPackage returns the package in a directory on this machine; ok is false if there is none.
func (d digests) localPackage(m module.Version, root, importPath string) (p Package, ok bool, err error) {
	dir := filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(strings.TrimPrefix(importPath, m.Path), "/")))
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Package{}, false, nil
	} else if err != nil {
		return Package{}, false, err
	}
	var stamp strings.Builder
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".go" {
			fmt.Fprintln(&stamp, e.Name(), d.of(filepath.Join(dir, e.Name())))
		}
	}
	if stamp.Len() == 0 {
		return Package{}, false, nil
	}
	return Package{Module: m, Dir: dir, Stamp: stamp.String()}, true, nil
}

// checkSum returns an error if the files of a module are not those that go.sum names.
func (w *workspace) checkSum(m module.Version, dir string) error {
	want := w.sums[m.String()]
	if want == "" {
		return nil
	}
	got, err := dirhash.HashDir(dir, m.String(), dirhash.Hash1)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s: checksum mismatch: it has %s, but go.sum says %s", m, got, want)
	}
	return nil
}

// requirements selects the versions of all modules of the workspace and of Get, if an import path
// may be in one of them.
func (s *Set) requirements(ctx context.Context, importPath string) error {
	named := slices.ContainsFunc(s.work.requires, func(m module.Version) bool {
		return importPath == m.Path || strings.HasPrefix(importPath, m.Path+"/")
	})
	if !s.stale || !named && !hasDot(importPath) {
		return nil
	}
	selected, err := s.selectVersions(ctx, s.roots)
	if err != nil {
		return err
	}
	s.setSelected(selected)
	return nil
}

// missing returns the error for a package that no module has, if one of the workspace should have it.
func (w *workspace) missing(importPath string) error {
	if m, ok := w.module(importPath); ok && m.path != importPath {
		return &PackageError{module.Version{Path: m.path}, strings.TrimPrefix(importPath, m.path+"/")}
	}
	return nil
}
