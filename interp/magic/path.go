package magic

import (
	"os"
	"path/filepath"
	"strings"
)

// PathAt returns the file names that complete the one at offset, and where that begins. Names of
// directories end in a slash. ok is false if there may be no file name at offset.
func PathAt(src string, offset int, known func(name string) bool) (start int, names []string, ok bool) {
	for _, l := range lines(src, known) {
		text := l.at + len(l.name)
		if offset < text || strings.Contains(src[text:offset], "\n") && l.name != "%%bash" {
			continue
		}
		switch l.name {
		case cd.name:
			start = text + len(src[text:offset]) - len(strings.TrimLeft(src[text:offset], " \t\"'"))
			if start == text {
				return 0, nil, false
			}
			return start, Files(src[start:offset], true), true
		case shell.name, bash.name:
			start = text + 1 + strings.LastIndexAny(src[text:offset], " \t\n\"'=:;|&<>(")
			if word := src[start:offset]; strings.TrimSpace(src[text:start]) == "" && !strings.Contains(word, "/") {
				return 0, nil, false // a command
			}
			return start, Files(src[start:offset], false), true
		}
	}
	return 0, nil, false
}

// Files returns the names of files, or only of directories, that begin with prefix; hidden files only if its last
// element begins with a dot. Names of directories end in a slash.
func Files(prefix string, directories bool) []string {
	dir, base := filepath.Split(prefix)
	where, err := expand(dir)
	if err != nil || dir == "" {
		where = "."
	}
	entries, err := os.ReadDir(where)
	if err != nil {
		return nil // there is nothing to choose from
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), base) || base == "" && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		// Stat follows links to directories.
		info, err := os.Stat(filepath.Join(where, e.Name()))
		isDir := err == nil && info.IsDir()
		switch {
		case isDir:
			names = append(names, dir+e.Name()+"/")
		case !directories:
			names = append(names, dir+e.Name())
		}
	}
	return names
}
