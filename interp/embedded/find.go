package embedded

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// Files are the contents of embedded files, by their path with slashes relative to the package.
type Files map[string]string

// Find returns the files in the directory of a package that match patterns.
func Find(dir string, patterns []string) (Files, error) {
	names, err := match(dir, patterns)
	if err != nil {
		return nil, err
	}
	files := Files{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		files[name] = string(text)
	}
	return files, nil
}

// Stamp returns a text that changes when a file that matches patterns is changed, added or removed.
func Stamp(dir string, patterns []string) string {
	names, err := match(dir, patterns)
	if err != nil {
		return err.Error()
	}
	var stamp strings.Builder
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			fmt.Fprintln(&stamp, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return stamp.String()
}

// match returns the names of the files that match patterns, sorted
// (https://pkg.go.dev/embed#hdr-Directives).
func match(dir string, patterns []string) ([]string, error) {
	root := os.DirFS(dir)
	found := map[string]bool{}
	for _, pattern := range patterns {
		glob, all := strings.CutPrefix(pattern, "all:")
		if _, err := path.Match(glob, ""); err != nil || !validPattern(glob) {
			return nil, fmt.Errorf("pattern %s: invalid pattern syntax", pattern)
		}
		names, err := fs.Glob(root, glob)
		if err != nil {
			return nil, err
		}
		before := len(found)
		for _, name := range names {
			if err := add(root, dir, name, pattern, all, found); err != nil {
				return nil, err
			}
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("pattern %s: no matching files found", pattern)
		}
		if len(found) == before && !anyOf(found, names) {
			return nil, fmt.Errorf("pattern %s: cannot embed directory %s: contains no embeddable files", pattern, names[0])
		}
	}
	list := make([]string, 0, len(found))
	for name := range found {
		list = append(list, name)
	}
	slices.Sort(list)
	return list, nil
}

// add adds a file, or all files below a directory, to found.
func add(root fs.FS, dir, name, pattern string, all bool, found map[string]bool) error {
	info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	if err := module.CheckFilePath(name); err != nil && name != "." {
		return fmt.Errorf("pattern %s: cannot embed %s: invalid name", pattern, name)
	}
	switch {
	case info.Mode().IsRegular():
		found[name] = true
		return nil
	case !info.IsDir():
		return fmt.Errorf("pattern %s: cannot embed irregular file %s", pattern, name)
	}
	return fs.WalkDir(root, name, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(p)
		hidden := p != name && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) && !all
		switch {
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden:
			return nil
		case d.IsDir():
			if p != name {
				if _, err := fs.Stat(root, p+"/go.mod"); err == nil {
					return fs.SkipDir // another module
				}
			}
			return nil
		case d.Type().IsRegular():
			found[p] = true
		}
		return nil
	})
}

func validPattern(glob string) bool { return glob == "." || fs.ValidPath(glob) }

// anyOf reports whether one of names, or a file below it, has been found.
func anyOf(found map[string]bool, names []string) bool {
	for f := range found {
		for _, n := range names {
			if f == n || n == "." || strings.HasPrefix(f, n+"/") {
				return true
			}
		}
	}
	return false
}
