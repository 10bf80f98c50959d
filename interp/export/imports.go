package export

import (
	"fmt"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
)

// imports are the imports of the program. A package keeps the name that a cell gave it, unless the name
// means something else at package level.
type imports struct {
	program *program
	names   map[importKey]string
	own     map[string]string // by path, the name in calls that the exporter adds
	blank   map[string]bool
}

type importKey struct{ name, path string }

func newImports(p *program) *imports {
	return &imports{p, map[importKey]string{}, map[string]string{}, map[string]bool{}}
}

// named returns the name in the program of a package that a cell calls name.
func (i *imports) named(name, path string) string {
	key := importKey{name, path}
	if known := i.names[key]; known != "" {
		return known
	}
	chosen := name
	if i.program.isPackageName(name) || i.isTaken(name) {
		chosen = i.program.fresh(name + "pkg")
	}
	i.names[key] = chosen
	i.program.taken[chosen] = true
	return chosen
}

// isTaken reports whether an import has this name.
func (i *imports) isTaken(name string) bool {
	return slices.Contains(slices.Collect(maps.Values(i.names)), name)
}

// of returns any name of a package, for the text of a type.
func (i *imports) of(path, name string) string {
	for _, key := range slices.SortedFunc(maps.Keys(i.names), compareKeys) {
		if key.path == path {
			return i.names[key]
		}
	}
	return i.named(name, path)
}

// safe returns a name of a package that no cell uses for anything else. Calls that the exporter adds to
// functions of cells use it.
func (i *imports) safe(path, name string) string {
	if known := i.own[path]; known != "" {
		return known
	}
	chosen := ""
	for _, key := range slices.SortedFunc(maps.Keys(i.names), compareKeys) {
		if key.path == path && !i.program.hides(i.names[key]) {
			chosen = i.names[key]
		}
	}
	switch {
	case chosen != "":
	case i.program.hides(name) || i.isTaken(name) || i.program.isPackageName(name):
		chosen = i.program.fresh(name + "pkg")
		i.names[importKey{chosen, path}] = chosen
	default:
		chosen = i.named(name, path)
	}
	i.own[path] = chosen
	return chosen
}

func compareKeys(a, b importKey) int { return strings.Compare(a.name+" "+a.path, b.name+" "+b.path) }

// hides reports whether a cell declares something other than a package with this name.
func (p *program) hides(name string) bool {
	for _, c := range p.cells {
		for _, f := range c.references {
			if _, isPackage := f.object.(*types.PkgName); f.name == name && !isPackage && f.defines {
				return true
			}
		}
	}
	return false
}

// paths returns the paths of all imports.
func (i *imports) paths() []string {
	set := maps.Clone(i.blank)
	for key := range i.names {
		set[key.path] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// text returns the import declaration: the standard library, then the other packages.
func (i *imports) text(packageName func(path string) string) string {
	var standard, others []string
	add := func(name, importPath string) {
		line := fmt.Sprintf("%q", importPath)
		if name != packageName(importPath) || name != path.Base(importPath) && !isVersion(path.Base(importPath)) {
			line = name + " " + line
		}
		if first, _, _ := strings.Cut(importPath, "/"); strings.Contains(first, ".") {
			others = append(others, line)
		} else {
			standard = append(standard, line)
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(i.names), func(a, b importKey) int { return strings.Compare(a.path+a.name, b.path+b.name) }) {
		add(i.names[key], key.path)
	}
	for importPath := range i.blank {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(i.names)), func(k importKey) bool { return k.path == importPath }) {
			add("_", importPath)
		}
	}
	if len(standard)+len(others) == 0 {
		return ""
	}
	return "import (\n" + strings.Join(standard, "\n") + "\n\n" + strings.Join(others, "\n") + "\n)\n"
}

func isVersion(element string) bool {
	return len(element) > 1 && element[0] == 'v' && strings.Trim(element[1:], "0123456789") == ""
}
