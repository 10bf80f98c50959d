package magic

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	pathpkg "path"
	"path/filepath"
	"strings"

	xmodule "golang.org/x/mod/module"

	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/symbols"
)

// A Module is a module that a cell asks for.
type Module struct {
	Offset int    // of the command in the cell
	End    int    // of the command
	Query  string // "path@version", or "path" for the latest version
	// Compiled is true if the module is to be compiled into a program of Quern, not interpreted.
	Compiled bool
}

// Directory reports whether the query is a directory: a path that begins with a dot or a slash,
// as for go build, and on Windows with a drive.
func (m Module) Directory() bool {
	return m.Query == "." || m.Query == ".." || strings.HasPrefix(m.Query, "./") || strings.HasPrefix(m.Query, "../") || filepath.IsAbs(m.Query)
}

// Path returns the path of the module, or of a package in it.
func (m Module) Path() string {
	if m.Directory() {
		return m.Query
	}
	path, _, _ := strings.Cut(m.Query, "@")
	return path
}

// CompiledIn reports whether the query is a package that is compiled in. It is an error if the query
// needs another version of it.
func (m Module) CompiledIn() (bool, error) {
	path, query, _ := strings.Cut(m.Query, "@")
	if m.Directory() || !symbols.Has(path) {
		return false, nil
	}
	if own, ok := compiledModule(path, symbols.Offering()); ok && !selects(query, own.Version) {
		return true, fmt.Errorf("%s is compiled in, of %s, and cells cannot use another version; remove @%s", path, own.Version, query)
	}
	return true, nil
}

// compiledModule returns the module that has a compiled package.
func compiledModule(path string, versions map[string]string) (m xmodule.Version, ok bool) {
	for ; path != "."; path = pathpkg.Dir(path) {
		if version := versions[path]; version != "" {
			return xmodule.Version{Path: path, Version: version}, true
		}
	}
	return m, false
}

// selects reports whether a version query can select a version: the query is empty, "latest", the
// version or the beginning of it (v1, v1.2).
func selects(query, version string) bool {
	return query == "" || query == "latest" || query == version || strings.HasPrefix(version, query+".")
}

// Gets returns the modules that a cell asks for, in order. The rest of the cell may have
// errors. The error is an *Error.
func Gets(src string, known func(name string) bool) ([]Module, error) {
	var list []Module
	for _, l := range lines(src, known) {
		if l.name != get.name {
			continue
		}
		m, err := oneModule(l.text)
		if err != nil {
			return nil, &Error{l.start, err.Error()}
		}
		m.Offset, m.End = l.start, l.end
		list = append(list, m)
	}
	return list, nil
}

// Described describes the module that %get has downloaded for a path.
func Described(path string, modules *module.Set) string {
	if m := (Module{Query: path}); m.Directory() {
		return modules.Described(path)
	}
	if symbols.Has(path) {
		text := path + ", which is compiled in"
		if own, ok := compiledModule(path, symbols.Offering()); ok {
			text += ", of " + own.Version
		}
		return text
	}
	m, _ := modules.Of(path)
	text := m.Path + " " + m.Version
	if own := symbols.Offering()[m.Path]; own != "" && own != m.Version {
		text += fmt.Sprintf("; its packages %s are compiled in, of %s", strings.Join(symbols.Below(m.Path), ", "), own)
	}
	if reason := modules.Retracted(m); reason != "" {
		text += "; warning: this version is retracted: " + reason
	}
	return text
}

// compiledFlag comes before a module that is to be compiled.
const compiledFlag = "-compiled"

// oneModule parses the argument of %get.
func oneModule(text string) (Module, error) {
	rest, compiled := strings.CutPrefix(text, compiledFlag+" ")
	rest = strings.TrimSpace(rest)
	if n := len(rest); n > 1 && (rest[0] == '"' || rest[0] == '\'') && rest[n-1] == rest[0] { // as a shell needs for a directory with spaces
		rest = rest[1 : n-1]
	}
	m := Module{Query: rest, Compiled: compiled}
	switch {
	case compiled && m.Directory():
		return m, fmt.Errorf("%%get %s needs a module with a version: %%get %[1]s github.com/mattn/go-sqlite3@v1.14.32", compiledFlag)
	case isAddress(m):
		return Module{}, fmt.Errorf("%%get takes the path of a module, not an address: %%get %s; the password of a private one is read from ~/.netrc or git's credential helper", modulePath(m.Query))
	case m.Query == "", m.Query == compiledFlag, strings.ContainsAny(m.Query, " \t") && !m.Directory():
		return m, errors.New("%get needs one module: %get github.com/dustin/go-humanize@v1.0.1")
	}
	return m, nil
}

// isAddress reports whether a module is given by an address, which may have a password or token: a URL, host:path as for
// git, or user@host/path.
func isAddress(m Module) bool {
	path, query, _ := strings.Cut(m.Query, "@")
	return !m.Directory() && (strings.ContainsAny(m.Query, ":?") || !strings.Contains(path, ".") && strings.Contains(query, ".") && strings.Contains(query, "/"))
}

// modulePath returns the path of the module at an address, if it can be told from a password, or an example.
func modulePath(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		if u, err := url.Parse("https://" + rest); err == nil && !strings.Contains(u.Path, "@") && u.Port() == "" {
			path := strings.TrimSuffix(strings.Trim(u.Host+u.Path, "/"), ".git")
			if xmodule.CheckPath(path) == nil {
				return path
			}
		}
	}
	return "github.com/owner/name"
}

var get = command{
	name: "%get", usage: "%get [-compiled] module@version",
	doc: "makes a module, package or directory importable; -compiled builds a worker with it",
	// The session has downloaded or built the module before it checked the cell.
	prepare: func(text string) (action, error) {
		m, err := oneModule(text)
		return func(_ context.Context, r *Run, _ []any) error {
			_, err := fmt.Fprintln(r.session.Stdout(), r.session.Module(m))
			return err
		}, err
	},
}
