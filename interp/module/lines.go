package module

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// noVersion is the version with which a program requires a module that it takes from a directory.
const noVersion = "v0.0.0"

// Lines are the lines of go.mod and go.sum with which another module on this machine builds against
// the modules of a workspace.
type Lines struct {
	Require []module.Version
	Replace []modfile.Replace
	Exclude []module.Version
	Sum     []string
}

// Lines returns what a program needs that imports packages of the workspace.
func (s *Set) Lines() (Lines, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, _, err := s.refresh()
	if err != nil {
		return Lines{}, err
	}
	var l Lines
	for _, m := range w.modules {
		l.Require = append(l.Require, module.Version{Path: m.path, Version: noVersion})
		l.Replace = append(l.Replace, modfile.Replace{Old: module.Version{Path: m.path}, New: module.Version{Path: m.dir}})
	}
	for _, r := range w.requires {
		if !slices.ContainsFunc(w.modules, func(m localModule) bool { return m.path == r.Path }) {
			l.Require = append(l.Require, r)
		}
	}
	for old, by := range w.replaced {
		if by.dir != "" {
			by.by = module.Version{Path: by.dir}
		}
		l.Replace = append(l.Replace, modfile.Replace{Old: old, New: by.by})
	}
	for m := range w.excluded {
		l.Exclude = append(l.Exclude, m)
	}
	for _, m := range w.modules {
		if l.Sum, err = appendSums(l.Sum, filepath.Join(m.dir, "go.sum")); err != nil {
			return Lines{}, err
		}
	}
	if l.Sum, err = appendSums(l.Sum, w.file+".sum"); err != nil {
		return Lines{}, err
	}
	slices.Sort(l.Sum)
	l.Sum = slices.Compact(l.Sum)
	slices.SortFunc(l.Replace, func(a, b modfile.Replace) int { return strings.Compare(a.Old.String(), b.Old.String()) })
	return l, nil
}

// appendSums appends the lines of a go.sum file, if there is one.
func appendSums(to []string, path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return to, nil
	} else if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			to = append(to, line)
		}
	}
	return to, nil
}

// unsaidLanguage is the language of a module without a go line
// (https://go.dev/ref/mod#go-mod-file-go).
const unsaidLanguage = "go1.16"

// Language returns the version of Go of a package that Find has returned, such as go1.25.
func (s *Set) Language(ctx context.Context, p Package) (string, error) {
	var file *modfile.File
	var err error
	if p.Module.Version != "" {
		file, err = s.goMod(ctx, p.Module)
	} else {
		path := findAbove(p.Dir, "go.mod", isFile)
		var text []byte
		if text, err = os.ReadFile(path); err == nil {
			file, err = modfile.ParseLax(path, text, nil)
		}
	}
	if err != nil {
		return "", fmt.Errorf("the Go version of %s: %w", p.Module.Path, err)
	}
	if file.Go == nil {
		return unsaidLanguage, nil
	}
	return "go" + file.Go.Version, nil
}
