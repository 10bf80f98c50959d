package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/kernel/notebook"
)

// selectNotebooks returns the notebooks that the arguments of a command name: files; of a folder, those below it; and those
// that match a pattern, in which ** stands for any number of folders. Of folders and patterns, notebooks in hidden folders
// and of other languages are left out; a file that is named is never. found reports whether there was a folder or pattern.
func selectNotebooks(arguments []string, exclude patterns, std stdio) (paths []string, found bool, err error) {
	for _, argument := range arguments {
		info, err := os.Stat(argument)
		var matching []string
		switch {
		case err == nil && info.IsDir():
			matching, err = below(argument, "**/*.ipynb")
		case err == nil || !strings.ContainsAny(argument, "*?["):
			if !exclude.match(argument) {
				paths = append(paths, argument)
			}
			continue
		default:
			root, pattern := splitPattern(filepath.ToSlash(argument))
			matching, err = below(root, pattern)
		}
		if err != nil {
			return nil, false, err
		}
		if len(matching) == 0 {
			return nil, false, fmt.Errorf("no notebook matches %s", argument)
		}
		found = true
		for _, path := range matching {
			if exclude.match(path) {
				continue
			}
			if n, _, err := notebook.ReadText(path); err == nil && !isGo(n) {
				fmt.Fprintf(std.err, "quern: skipped %s, a notebook for %s\n", path, n.Language())
				continue
			}
			paths = append(paths, path) // one that cannot be read fails later
		}
	}
	if len(paths) == 0 {
		return nil, found, errors.New("no notebook for Go is left")
	}
	return distinct(paths), found, nil
}

// distinct returns the paths without those of files that are there already: patterns of a CI job overlap, and a notebook
// that runs twice at the same time would write the same files.
func distinct(paths []string) (different []string) {
	seen := map[string]bool{}
	for _, path := range paths {
		if clean := filepath.Clean(path); !seen[clean] {
			seen[clean] = true
			different = append(different, path)
		}
	}
	return different
}

// below returns the files below a folder whose paths from there match a pattern, in lexical order.
func below(root, pattern string) (files []string, err error) {
	segments := strings.Split(pattern, "/")
	hidden := slices.ContainsFunc(segments, func(s string) bool { return strings.HasPrefix(s, ".") })
	start := root
	if root != "" {
		start = strings.TrimRight(root, "/") + "/" // of a link, what it refers to
	} else {
		start = "."
	}
	err = filepath.WalkDir(start, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		relative, err := filepath.Rel(start, name)
		if err != nil || relative == "." {
			return err
		}
		if entry.IsDir() {
			if !hidden && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if matches(segments, strings.Split(filepath.ToSlash(relative), "/")) {
			files = append(files, filepath.Join(root, relative))
		}
		return nil
	})
	return files, err
}

// splitPattern divides a pattern into the folder before its first wildcard and the rest.
func splitPattern(pattern string) (root, rest string) {
	before := pattern[:strings.IndexAny(pattern, "*?[")]
	i := strings.LastIndexByte(before, '/') + 1
	return pattern[:i], pattern[i:]
}

// matches reports whether the segments of a path match those of a pattern.
func matches(pattern, name []string) bool {
	if len(pattern) == 0 || len(name) == 0 {
		return len(pattern) == len(name)
	}
	if pattern[0] == "**" {
		return matches(pattern[1:], name) || matches(pattern, name[1:])
	}
	ok, err := path.Match(pattern[0], name[0])
	return err == nil && ok && matches(pattern[1:], name[1:])
}

// patterns are the values of --exclude.
type patterns []string

// String implements flag.Value.
func (p *patterns) String() string { return strings.Join(*p, " ") }

// Set implements flag.Value: it adds a pattern.
func (p *patterns) Set(pattern string) error {
	pattern = strings.Trim(filepath.ToSlash(filepath.Clean(filepath.FromSlash(pattern))), "/")
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("the pattern %q is not valid: a bracket is not closed, or a backslash is at the end", pattern)
	}
	*p = append(*p, pattern)
	return nil
}

// match reports whether a pattern matches a path or one of the folders that the file is in. A pattern without a slash may
// match the name of any of them.
func (p patterns) match(name string) bool {
	segments := strings.Split(strings.TrimPrefix(filepath.ToSlash(filepath.Clean(name)), "/"), "/")
	for _, pattern := range p {
		parts := strings.Split(pattern, "/")
		for i := range segments {
			if matches(parts, segments[:i+1]) || len(parts) == 1 && matches(parts, segments[i:i+1]) {
				return true
			}
		}
	}
	return false
}

// outputPaths returns where the executed notebooks are written below a folder: their paths from the folder that they have in
// common, so that those with the same name do not meet.
func outputPaths(folder string, paths []string) ([]string, error) {
	whole := make([]string, len(paths))
	var common []string
	for i, name := range paths {
		absolute, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		whole[i] = absolute
		parts := strings.Split(filepath.Dir(absolute), string(filepath.Separator))
		if i == 0 {
			common = parts
		}
		same := 0
		for same < min(len(common), len(parts)) && common[same] == parts[same] {
			same++
		}
		common = common[:same]
	}
	outputs := make([]string, len(paths))
	for i := range whole {
		parts := strings.Split(whole[i], string(filepath.Separator))[len(common):]
		outputs[i] = filepath.Join(append([]string{folder}, parts...)...)
		if i > 0 && slices.Contains(outputs[:i], outputs[i]) {
			return nil, fmt.Errorf("%s is named twice", paths[i])
		}
	}
	return outputs, nil
}
