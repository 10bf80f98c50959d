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

// Modules of %get and their packages.
//
// A session stores the packages of such a module under a path of its own, which shows in package reflect.
// The program imports them under their real path.

// A Requirement is a module that the program needs because of %get.
type Requirement struct {
	xmodule.Version
	Indirect bool // no cell imports a package of it
	Cell     int  // number of the first cell that imports one of its packages, directly or not
}

// A sourceImporter imports compiled packages, and packages of modules from source.
type sourceImporter struct {
	ctx      context.Context
	fset     *token.FileSet
	compiled types.Importer
	source   module.Source
	modules  *module.Set
	dir      string // of the notebook

	cell     int      // number of the cell that is being checked
	loading  []string // paths of the packages being imported, to find cycles
	packages map[string]*types.Package
	needed   []Requirement  // modules of the imported packages, in the order of import
	used     map[string]int // compiled packages that packages of modules import; the value is the number of the cell
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
			i.used[path] = i.cell
		}
		return compiled, nil
	}
	if p := i.packages[path]; p != nil {
		return p, nil
	}
	found, ok, err := i.modules.Find(i.ctx, path)
	switch {
	case err != nil && (unknown != nil || !errors.As(err, new(*module.PackageError))):
		return nil, err
	case !ok:
		return compiled, unknown
	case slices.Contains(i.loading, path):
		return nil, fmt.Errorf("import cycle through package %s", path)
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
		i.needed = append(i.needed, Requirement{Version: found.Module, Cell: i.cell})
	}
	return p, nil
}

// check type-checks a package as compiled without cgo, in the language version of its module.
func (i *sourceImporter) check(path string, found module.Package) (*types.Package, error) {
	target := build.Default
	target.CgoEnabled = false
	target.BuildTags = append(target.BuildTags, module.BuildTags()...)
	files, err := target.ImportDir(found.Dir, 0)
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
	config := types.Config{Importer: i, GoVersion: found.Language}
	return config.Check(path, i.fset, parsed, nil)
}

// get adds the modules that the %get commands of a cell ask for. It returns the cell with each command
// replaced by a call of [magic.Name] whose argument is the output of the command.
func (i *sourceImporter) get(c *cell, known func(string) bool) (string, *Problem) {
	line := func(offset int) int { return 1 + strings.Count(c.Source[:offset], "\n") }
	requests, err := magic.Gets(c.Source, known)
	var wrong *magic.Error
	if errors.As(err, &wrong) {
		return "", &Problem{c.number, line(wrong.Offset), wrong.Msg}
	}
	for _, r := range requests {
		compiled, err := r.CompiledIn()
		switch {
		case compiled:
		case r.Directory():
			_, err = i.modules.Add(r.Query)
		default:
			_, err = i.modules.Get(i.ctx, r.Query)
		}
		if err != nil {
			return "", &Problem{c.number, line(r.Offset), fmt.Sprintf("%%get %s: %v", r.Query, err)}
		}
		for _, n := range i.needed {
			if version := i.modules.Version(n.Path); n.Version.Version != "" && version != n.Version.Version {
				return "", &Problem{c.number, line(r.Offset), fmt.Sprintf(
					"changes the version of %s, which earlier cells use, to %s, and a program has only one version of a module; use one version in all cells", n.Version, shown(version))}
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

// requirements returns the modules whose packages the program imports. It returns a problem for each module
// of which the go command would select another version.
func (i *sourceImporter) requirements(imports []string) ([]Requirement, []Problem) {
	required := slices.DeleteFunc(slices.Clone(i.needed), func(r Requirement) bool { return r.Version.Version == "" })
	resolved := module.New(i.source)
	resolved.In(i.dir)
	var problems []Problem
	for k := range required {
		r := &required[k]
		r.Indirect = !slices.ContainsFunc(imports, func(path string) bool {
			found, ok, err := i.modules.Find(i.ctx, path)
			return i.packages[path] != nil && err == nil && ok && found.Module == r.Version
		})
		if _, err := resolved.Get(i.ctx, r.String()); err != nil {
			problems = append(problems, Problem{Cell: r.Cell, Reason: err.Error()})
		}
	}
	if len(required) == 0 {
		return nil, problems
	}
	own, compiled := symbols.Versions(), i.compiledPackages(imports)
	for _, r := range required {
		if version := resolved.Version(r.Path); version != r.Version.Version {
			problems = append(problems, Problem{Cell: r.Cell, Reason: fmt.Sprintf(
				"uses %s, but the modules together need version %s: add %%get %s@%[2]s", r.Version, shown(version), r.Path)})
		}
		if version := own[r.Path]; len(compiled) > 0 && newer(version, r.Version.Version) {
			problems = append(problems, Problem{Cell: r.Cell, Reason: fmt.Sprintf(
				"uses %s, but packages of quern need version %s: add %%get %s@%[2]s", r.Version, version, r.Path)})
		}
	}
	for path, cell := range compiled {
		for m := path; m != "."; m = pathpkg.Dir(m) {
			if version := resolved.Version(m); newer(version, own[m]) {
				problems = append(problems, Problem{Cell: cell, Reason: fmt.Sprintf(
					"a module of %%get needs %s %s, but quern is built with version %s", m, version, shown(own[m]))})
			}
		}
	}
	return required, problems
}

// local returns the lines of go.mod for packages on this machine.
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

// compiledPackages returns the compiled packages of the program, without the standard library, each with a
// cell that needs a module.
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
