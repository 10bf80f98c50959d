package module

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
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
		// Others of the workspace may require it, and the version may not be lower then.
		version := noVersion
		for _, r := range w.requires {
			if r.Path == m.path && semver.Compare(r.Version, version) > 0 {
				version = r.Version
			}
		}
		if _, major, ok := module.SplitPathVersion(m.path); ok && version == noVersion && major != "" {
			version = strings.Trim(major, "/.") + ".0.0"
		}
		l.Require = append(l.Require, module.Version{Path: m.path, Version: version})
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
