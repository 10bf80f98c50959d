package export

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"

	xmodule "golang.org/x/mod/module"

	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/symbols"
)

// Modules that cells get, and their packages.
//
// A session has the packages of such a module under the path of its own, for what
// package reflect says of them. A program imports them, so here they have theirs.

// A Requirement is a module that the program needs because a cell has got it.
type Requirement struct {
	xmodule.Version
	Indirect bool // no cell imports a package of it
	Cell     int  // the first that imports one, or something that does
}

// A sourceImporter imports compiled packages, and those of modules from source.
type sourceImporter struct {
	ctx      context.Context
	fset     *token.FileSet
	compiled types.Importer
	source   module.Source
	modules  *module.Set
	dir      string // of the notebook

	place    int      // of the cell that is checked
	loading  []string // paths, for cycles
	packages map[string]*types.Package
	needed   []Requirement  // modules of packages, in the order of their imports
	used     map[string]int // compiled packages that those of modules import, with the cell
}

func newSourceImporter(ctx context.Context, fset *token.FileSet, source module.Source, dir string) *sourceImporter {
	modules := module.New(source)
	modules.Prefer(symbols.Offering())
	modules.In(dir)
	return &sourceImporter{
		ctx: ctx, fset: fset, compiled: symbols.Importer(fset), source: source, modules: modules, dir: dir,
		packages: map[string]*types.Package{}, used: map[string]int{},
	}
}

// Import implements types.Importer.
func (i *sourceImporter) Import(path string) (*types.Package, error) {
	compiled, unknown := i.compiled.Import(path)
	if unknown == nil && !i.modules.Local(path) {
		if len(i.loading) > 0 {
			i.used[path] = i.place
		}
		return compiled, nil
	}
	if p := i.packages[path]; p != nil {
		return p, nil
	}
	found, ok, err := i.modules.Find(i.ctx, path)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return compiled, unknown
	case slices.Contains(i.loading, path):
		return nil, fmt.Errorf("package %s imports itself", path)
	}
	i.loading = append(i.loading, path)
	defer func() { i.loading = i.loading[:len(i.loading)-1] }()
	if len(i.loading) == 1 {
		err = i.modules.CheckInternal(path)
	} else {
		err = module.CheckInternal(i.loading[len(i.loading)-2], path)
	}
	if err != nil {
		return nil, err
	}
	p, err := i.check(path, found)
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", path, err)
	}
	i.packages[path] = p
	if !slices.ContainsFunc(i.needed, func(r Requirement) bool { return r.Version == found.Module }) {
		i.needed = append(i.needed, Requirement{Version: found.Module, Cell: i.place})
	}
	return p, nil
}

// check checks a package as the compiler does without cgo, in the language that
// its module asks for.
func (i *sourceImporter) check(path string, found module.Package) (*types.Package, error) {
	target := build.Default
	target.CgoEnabled = false
	files, err := target.ImportDir(found.Dir, 0)
	if err != nil {
		return nil, err
	}
	language, err := i.modules.Language(i.ctx, found)
	if err != nil {
		return nil, err
	}
	var parsed []*ast.File
	for _, name := range files.GoFiles {
		file, err := parser.ParseFile(i.fset, filepath.Join(found.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	config := types.Config{Importer: i, GoVersion: language}
	return config.Check(path, i.fset, parsed, nil)
}

// get gets the modules that a cell asks for. It gives the cell with a call of
// [magic.Name] for each command, whose argument is what the command prints.
func (i *sourceImporter) get(c *cell, known func(string) bool) (string, *Objection) {
	line := func(offset int) int { return 1 + strings.Count(c.Source[:offset], "\n") }
	requests, err := magic.Gets(c.Source, known)
	var wrong *magic.Error
	if errors.As(err, &wrong) {
		return "", &Objection{c.place, line(wrong.Offset), wrong.Msg}
	}
	for _, r := range requests {
		if !r.Directory() && symbols.Has(r.Path()) {
			continue
		}
		var err error
		if r.Directory() {
			_, err = i.modules.Add(r.Query)
		} else {
			_, err = i.modules.Get(i.ctx, r.Query)
		}
		if err != nil {
			return "", &Objection{c.place, line(r.Offset), fmt.Sprintf("%%get %s: %v", r.Query, err)}
		}
		for _, n := range i.needed {
			if version := i.modules.Version(n.Path); n.Version.Version != "" && version != n.Version.Version {
				return "", &Objection{c.place, line(r.Offset), fmt.Sprintf(
					"earlier cells use %s, this one changes its version to %s, and a program has one version of a module", n.Version, shown(version))}
			}
		}
	}
	var calls []edit
	for _, r := range requests {
		calls = append(calls, edit{r.Offset, r.End, fmt.Sprintf("%s(%q)", magic.Name, magic.Described(r.Path(), i.modules))})
	}
	return edited(c.Source, 0, len(c.Source), calls), nil
}

func shown(version string) string {
	if version == "" {
		return "none"
	}
	return version
}

// requirements returns the modules of the program whose packages it imports. A go
// command that is given their versions takes the same, or there is an objection.
func (i *sourceImporter) requirements(imports []string) ([]Requirement, []Objection) {
	required := slices.DeleteFunc(slices.Clone(i.needed), func(r Requirement) bool { return r.Version.Version == "" })
	again := module.New(i.source)
	again.In(i.dir)
	var objections []Objection
	for k := range required {
		r := &required[k]
		r.Indirect = !slices.ContainsFunc(imports, func(path string) bool {
			found, ok, err := i.modules.Find(i.ctx, path)
			return i.packages[path] != nil && err == nil && ok && found.Module == r.Version
		})
		if _, err := again.Get(i.ctx, r.String()); err != nil {
			objections = append(objections, Objection{Cell: r.Cell, Reason: err.Error()})
		}
	}
	if len(required) == 0 {
		return nil, objections
	}
	own, compiled := symbols.Versions(), i.compiledPackages(imports)
	for _, r := range required {
		if version := again.Version(r.Path); version != r.Version.Version {
			objections = append(objections, Objection{Cell: r.Cell, Reason: fmt.Sprintf(
				"it uses %s, and the modules together need %s: %%get %s@%[2]s", r.Version, shown(version), r.Path)})
		}
		if version := own[r.Path]; len(compiled) > 0 && newer(version, r.Version.Version) {
			objections = append(objections, Objection{Cell: r.Cell, Reason: fmt.Sprintf(
				"it uses %s, and a program with packages of quern needs %s: %%get %s@%[2]s", r.Version, version, r.Path)})
		}
	}
	for path, cell := range compiled {
		for m := path; m != "."; m = pathpkg.Dir(m) {
			if version := again.Version(m); newer(version, own[m]) {
				objections = append(objections, Objection{Cell: cell, Reason: fmt.Sprintf(
					"what it gets needs %s %s, and the session has %s compiled in", m, version, shown(own[m]))})
			}
		}
	}
	return required, objections
}

// local returns the lines of go.mod for packages on this machine; none if the program has none.
func (i *sourceImporter) local() (module.Lines, error) {
	if !slices.ContainsFunc(i.needed, func(r Requirement) bool { return r.Version.Version == "" }) {
		return module.Lines{}, nil
	}
	return i.modules.Lines()
}

// internalBelow returns the path below which the module of the program must be, because cells import
// internal packages; "" if it may be anywhere.
func (i *sourceImporter) internalBelow(imports []string) string {
	below := ""
	for _, path := range imports {
		if parent, ok := module.InternalParent(path); ok && i.packages[path] != nil && len(parent) > len(below) {
			below = parent
		}
	}
	return below
}

// compiledPackages returns the compiled packages of the program but for those of the
// standard library, each with a cell that has got a module.
func (i *sourceImporter) compiledPackages(imports []string) map[string]int {
	cells := map[string]int{}
	for _, path := range imports {
		if i.packages[path] == nil && needsModule(path) {
			cells[path] = i.needed[0].Cell
		}
	}
	for path, cell := range i.used {
		if needsModule(path) {
			cells[path] = cell
		}
	}
	return cells
}
