package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// targets are the platforms of releases.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// A part is something with a license of its own: a module, Go, or a data set.
type part struct {
	name    string // path and version of a module
	license string // identifiers of SPDX
	texts   []string
}

// A module is linked into the program on at least one platform.
type module struct {
	path, version, dir string
	packages           []string // folders of its linked packages
}

// linked returns the modules of the program on all platforms. With cgo, go-nvml and its
// users are among them; no C compiler runs.
func linked(root string) ([]module, error) {
	found := map[string]*module{}
	for _, target := range targets {
		system, arch, _ := strings.Cut(target, "/")
		list := exec.Command("go", "list", "-mod=readonly", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/quern")
		list.Dir = root
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=1")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", target, err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSpace(line), "\t")
			if len(f) != 4 {
				continue // a package of ours, or of the standard library
			}
			m := found[f[0]]
			if m == nil {
				m = &module{path: f[0], version: f[1], dir: f[2]}
				found[f[0]] = m
			}
			m.packages = append(m.packages, f[3])
		}
	}
	var modules []module
	for _, m := range found {
		modules = append(modules, *m)
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return modules, nil
}

var licenseFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents|unlicense)([-.].*)?$`)

// elsewhere are files of licenses that are not in a folder above a linked package.
var elsewhere = map[string][]string{
	"github.com/golang/freetype": {"licenses/ftl.txt"}, // the one of its two licenses that we choose
	"golang.org/x/image":         {"font/gofont/ttfs/README"},
}

// files returns the files with licenses in the folders of the linked packages and above.
func (m module) files() ([]string, error) {
	var files []string
	seen := map[string]bool{}
	for _, dir := range m.packages {
		for ; strings.HasPrefix(dir, m.dir) && !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			entries, err := os.ReadDir(dir)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.Type().IsRegular() && licenseFile.MatchString(e.Name()) {
					files = append(files, filepath.Join(dir, e.Name()))
				}
			}
		}
	}
	for _, name := range elsewhere[m.path] {
		files = append(files, filepath.Join(m.dir, filepath.FromSlash(name)))
	}
	slices.Sort(files)
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no file with a license", m.path)
	}
	return files, nil
}

// parts returns everything with a license of its own.
func parts(root string) ([]part, error) {
	modules, err := linked(root)
	if err != nil {
		return nil, err
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	golang, err := read("Go: runtime, standard library and its documentation", filepath.Join(strings.TrimSpace(string(goroot)), "LICENSE"))
	if err != nil {
		return nil, err
	}
	all := []part{golang}
	for _, m := range modules {
		files, err := m.files()
		if err != nil {
			return nil, err
		}
		p, err := read(m.path+" "+m.version, files...)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	data, err := filepath.Glob(filepath.Join(root, "accel", "data", "*", "LICENSE.md"))
	if err != nil {
		return nil, err
	}
	for _, file := range data {
		p, err := read("data set "+filepath.Base(filepath.Dir(file)), file)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// read returns a part with the texts of files.
func read(name string, files ...string) (part, error) {
	p := part{name: name}
	var ids []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return p, err
		}
		text := strings.TrimSpace(strings.ReplaceAll(decode(b), "\r\n", "\n"))
		if !slices.Contains(p.texts, text) {
			p.texts = append(p.texts, text)
		}
		ids = append(ids, identify(text)...)
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return p, fmt.Errorf("%s: no license that is known here is in %s: read it, and if Quern may contain this, add it to licenses", name, strings.Join(files, ", "))
	}
	p.license = strings.Join(ids, " and ")
	return p, nil
}

// decode returns a text as UTF-8. Old licenses are in Latin-1, in which each byte is a code point.
func decode(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}

// licenses are those that code in the program may have, with a phrase that only they contain.
var licenses = []struct{ id, phrase string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce"}, // of the BSD licenses, unless the next one is found
	{"BSD-3-Clause", "may be used to endorse or promote products"},
	{"MIT", "to permit persons to whom the Software is furnished to do so"},
	{"OFL-1.1", "SIL OPEN FONT LICENSE Version 1.1"},
	{"CC-BY-4.0", "Creative Commons Attribution 4.0 International"},
	{"FTL", "The FreeType Project LICENSE"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"PDDL-1.0 and CC0-1.0", "Open Data Commons Public Domain Dedication"},
}

var space = regexp.MustCompile(`[\s*#,]+`)

// identify returns the licenses in a text.
func identify(text string) []string {
	flat := strings.ToLower(space.ReplaceAllString(text, " "))
	var ids []string
	for _, l := range licenses {
		if strings.Contains(flat, strings.ToLower(l.phrase)) {
			ids = append(ids, l.id)
		}
	}
	if slices.Contains(ids, "BSD-3-Clause") {
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == "BSD-2-Clause" })
	}
	return ids
}
