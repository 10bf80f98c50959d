package module

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// defaultLanguage is the version of the language of a module whose go.mod file names none
// (https://go.dev/ref/mod#go-mod-file-go).
const defaultLanguage = "go1.16"

// languages has the versions of the language of modules, by the path of the go.mod file.
type languages map[string]language

type language struct{ stamp, version string }

// of returns the version of the language of the module in a directory. A version that cells do not have is a
// *GoVersionError.
func (l languages) of(m module.Version, dir string) (string, error) {
	path := filepath.Join(dir, "go.mod")
	stamp := stampOf(path)
	if known, ok := l[path]; ok && known.stamp == stamp {
		return known.version, nil
	}
	version := defaultLanguage
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err == nil {
		file, err := modfile.ParseLax(path, text, nil)
		if err != nil {
			return "", err
		}
		if file.Go != nil {
			shown := path
			if m.Version != "" {
				shown = m.String() + "/go.mod"
			}
			if err := checkGo(shown, file.Go); err != nil {
				return "", err
			}
			version = "go" + file.Go.Version
		}
	}
	l[path] = language{stamp, version}
	return version, nil
}

// vendoredLanguages returns the versions of the language of the modules in a modules.txt file, which has lines such as
//
//	# github.com/google/uuid v1.6.0
//	## explicit; go 1.19
func vendoredLanguages(text string) map[string]string {
	versions := map[string]string{}
	of := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if notes, ok := strings.CutPrefix(line, "## "); ok {
			for note := range strings.SplitSeq(notes, ";") {
				if v, ok := strings.CutPrefix(strings.TrimSpace(note), "go "); ok && of != "" {
					versions[of] = "go" + v
				}
			}
		} else if m, ok := strings.CutPrefix(line, "# "); ok {
			if fields := strings.Fields(m); len(fields) > 0 {
				of = fields[0]
			}
		}
	}
	return versions
}

// vendoredLanguage returns the version of the language of a vendored package.
func (w *workspace) vendoredLanguage(importPath string) string {
	for path := importPath; ; path = path[:strings.LastIndexByte(path, '/')] {
		if v := w.vendored[path]; v != "" {
			return v
		}
		if !strings.Contains(path, "/") {
			return defaultLanguage
		}
	}
}

// BuildTags returns the build tags that GOFLAGS has (-tags=a,b), from the environment or the file
// of "go env -w", with which the go command would compile packages.
func BuildTags() []string {
	flags := os.Getenv("GOFLAGS")
	if flags == "" {
		flags = environmentFile()["GOFLAGS"]
	}
	var tags []string
	for _, flag := range splitFlags(flags) {
		name, value, _ := strings.Cut(flag, "=")
		if strings.TrimPrefix(name, "-") == "-tags" || name == "-tags" {
			tags = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return tags // of the last flag, as in the go command
}

// splitFlags splits GOFLAGS at spaces. An element in quotation marks can have spaces
// (https://pkg.go.dev/cmd/go#hdr-Environment_variables).
func splitFlags(flags string) []string {
	var all []string
	for flags = strings.TrimLeft(flags, " \t\r\n"); flags != ""; flags = strings.TrimLeft(flags, " \t\r\n") {
		end := strings.IndexAny(flags, " \t\r\n")
		if quote := flags[:1]; quote == "'" || quote == `"` {
			flags = flags[1:]
			end = strings.Index(flags, quote)
		}
		if end < 0 {
			end = len(flags)
		}
		all = append(all, flags[:end])
		flags = strings.TrimLeft(flags[end:], `'"`)
	}
	return all
}
