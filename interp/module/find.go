package module

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
)

// A Package says in which module a package is.
type Package struct {
	Module module.Version // without a version if it is on this machine
	Dir    string
	Stamp  string // changes with the files of a package on this machine; empty for others
	// Language is the version of the language of the package, go1.22, as its go.mod file has it.
	Language string
}

// Find returns the package with an import path; ok is false if it is in no module of the set or of
// the workspace of the working directory. The error is a [*PackageError] if there is a module with
// the beginning of the path.
func (s *Set) Find(ctx context.Context, importPath string) (p Package, ok bool, err error) {
	s.mu.Lock()
	w, here, err := s.refresh()
	if err == nil {
		err = w.checkPath(here, importPath)
	}
	if err == nil {
		if p, ok, err = s.findLocal(w, importPath); err == nil && !ok {
			err = s.requirements(ctx, importPath)
		}
	}
	s.mu.Unlock()
	if ok || err != nil {
		return p, ok, err
	}
	// Look for the module with the longest path that has such a directory.
	missing := w.missing(importPath)
	for path := importPath; ; path = path[:strings.LastIndexByte(path, '/')] {
		if version := s.Version(path); version != "" {
			m := module.Version{Path: path, Version: version}
			p, ok, err := s.inModule(ctx, w, m, importPath)
			if ok || err != nil {
				return p, ok, err
			}
			if missing == nil {
				missing = &PackageError{m, strings.TrimPrefix(importPath[len(path):], "/")}
			}
		}
		if !strings.Contains(path, "/") {
			return Package{}, false, missing
		}
	}
}

// checkPath returns an error if code in a directory cannot import a path because it is no import path.
func (w *workspace) checkPath(dir, importPath string) error {
	if !build.IsLocalImport(importPath) {
		return module.CheckImportPath(importPath)
	}
	if of := w.importPathOf(dir); of != "" {
		if whole := path.Join(of, importPath); !strings.HasPrefix(whole, "..") {
			return fmt.Errorf("%q is a relative path: import %q", importPath, whole)
		}
	}
	return fmt.Errorf("%q is a relative path: import the package with the path of its module in go.mod", importPath)
}

// inModule returns a package of a module; ok is false if the module has no such directory.
func (s *Set) inModule(ctx context.Context, w *workspace, m module.Version, importPath string) (p Package, ok bool, err error) {
	if by, ok := w.replacementOf(m); ok && by.dir != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.localPackage(module.Version{Path: m.Path}, by.dir, importPath)
	}
	root, err := s.dir(ctx, m)
	if err != nil {
		return Package{}, false, err
	}
	dir := filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(importPath[len(m.Path):], "/")))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return Package{}, false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	language, err := s.languages.of(m, root)
	return Package{Module: m, Dir: dir, Language: language}, err == nil, err
}

// dir returns the directory of a module. It is downloaded once, even if several goroutines ask
// for it.
func (s *Set) dir(ctx context.Context, m module.Version) (string, error) {
	s.mu.Lock()
	dir, has := s.dirs[m.Path]
	has = has && s.selected[m.Path] == m.Version
	s.mu.Unlock()
	for !has {
		download := s.downloads.DoChan(m.String(), func() (any, error) { return s.download(ctx, m) })
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case result := <-download:
			if result.Err != nil && result.Shared && ctx.Err() == nil && errors.Is(result.Err, context.Canceled) {
				continue // the goroutine that downloaded it was canceled
			}
			if result.Err != nil {
				return "", result.Err
			}
			dir, has = result.Val.(string), true
		}
	}
	return dir, nil
}

// download returns the directory of a module or of the module that replaces it.
func (s *Set) download(ctx context.Context, m module.Version) (string, error) {
	s.mu.Lock()
	w, of := s.work, m
	dir, has := s.dirs[m.Path]
	has = has && s.selected[m.Path] == m.Version
	s.mu.Unlock()
	if has { // since the caller looked
		return dir, nil
	}
	if by, ok := w.replacementOf(m); ok {
		m = by.by
	}
	dir, err := s.source.Dir(ctx, m)
	if err == nil {
		err = w.checkSum(m, dir)
	}
	if err != nil {
		return "", err
	}
	// Before this download ends for others, so that none begins another one.
	s.mu.Lock()
	if s.selected[of.Path] == of.Version {
		s.dirs[of.Path] = dir
	}
	s.mu.Unlock()
	return dir, nil
}
