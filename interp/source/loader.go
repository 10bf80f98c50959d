package source

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/quernlab/quern/interp/module"
)

// Modules finds packages in modules.
type Modules interface {
	Find(ctx context.Context, importPath string) (p module.Package, ok bool, err error)
}

// An Error tells why a package of a module cannot be interpreted.
type Error struct {
	Path string
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("package %s cannot be interpreted: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A Package is checked source that a session has to run before it is used.
type Package struct {
	Path  string
	Types *types.Package
	Info  *types.Info
	Specs []*ast.TypeSpec
	Funcs []*ast.FuncDecl
	Vars  []*types.Var
	// Init are the initialisers of the variables, in the order to run, and Inits
	// the calls of the init functions that follow them.
	Init  []*types.Initializer
	Inits []ast.Stmt
}

// Loader imports packages, from source where it must.
type Loader struct {
	compiled types.Importer
	fset     *token.FileSet
	modules  Modules

	mu      sync.Mutex
	ctx     context.Context // of downloads
	loading []string        // paths, for cycles
	loaded  map[string]loadedPackage
	failed  map[string]error
	pending []*Package
}

// A loadedPackage is one with the module that it was loaded from.
type loadedPackage struct {
	types *types.Package
	from  module.Package
}

// NewLoader returns a loader in front of an importer of compiled packages.
func NewLoader(compiled types.Importer, fset *token.FileSet, modules Modules) *Loader {
	return &Loader{compiled: compiled, fset: fset, modules: modules, ctx: context.Background(),
		loaded: map[string]loadedPackage{}, failed: map[string]error{}}
}

// Begin sets the context of the downloads that imports of a cell make, and forgets
// what could not be loaded.
func (l *Loader) Begin(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx = ctx
	clear(l.failed)
}

// Import implements types.Importer.
func (l *Loader) Import(importPath string) (*types.Package, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.importPackage(importPath)
}

// Take returns the packages that were loaded since the last call, each after what
// it imports.
func (l *Loader) Take() []*Package {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.pending
	l.pending = nil
	return list
}

// Drop forgets packages that could not be run.
func (l *Loader) Drop(packages []*Package) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range packages {
		delete(l.loaded, p.Path)
	}
}

func (l *Loader) importPackage(importPath string) (*types.Package, error) {
	p, err := l.compiled.Import(importPath)
	if err == nil {
		return p, nil
	}
	if err, ok := l.failed[importPath]; ok {
		return nil, err
	}
	place, ok, findErr := l.modules.Find(l.ctx, importPath)
	if findErr != nil {
		return nil, findErr
	}
	if !ok {
		return nil, err
	}
	if p, ok := l.loaded[importPath]; ok && p.from == place {
		return p.types, nil
	}
	if slices.Contains(l.loading, importPath) {
		return nil, &Error{importPath, errors.New("it imports itself")}
	}
	l.loading = append(l.loading, importPath)
	defer func() { l.loading = l.loading[:len(l.loading)-1] }()
	loaded, err := l.load(importPath, place)
	if err != nil {
		var inner *Error
		if !errors.As(err, &inner) {
			err = &Error{importPath, err}
		}
		l.failed[importPath] = err
		return nil, err
	}
	l.loaded[importPath] = loadedPackage{loaded.Types, place}
	l.pending = append(l.pending, loaded)
	return loaded.Types, nil
}

// tags are build tags by which packages leave out what only a compiler can use.
var tags = []string{"purego", "noasm", "safe", "appengine", "nounsafe"}

// load parses and checks a package.
func (l *Loader) load(importPath string, place module.Package) (*Package, error) {
	target := build.Default
	target.CgoEnabled = false
	target.BuildTags = tags
	files, err := target.ImportDir(place.Dir, 0)
	var none *build.NoGoError
	switch {
	case errors.As(err, &none) && len(files.IgnoredGoFiles) > 0:
		return nil, errors.New("all its files are for cgo or for other systems")
	case errors.As(err, &none):
		return nil, errors.New("it has no Go files")
	case err != nil:
		return nil, err
	case files.Name == "main":
		return nil, errors.New("it is a program")
	case len(files.EmbedPatterns) > 0:
		return nil, errors.New("it embeds files")
	}
	var parsed []*ast.File
	for _, name := range files.GoFiles {
		text, err := os.ReadFile(filepath.Join(place.Dir, name))
		if err != nil {
			return nil, err
		}
		shown := path.Join(place.Module.Path+"@"+place.Module.Version, strings.TrimPrefix(importPath, place.Module.Path), name)
		file, err := parser.ParseFile(l.fset, shown, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	return l.check(importPath, parsed)
}

// initFunction calls, for the checker, the init functions of a package.
const initFunction = "initsʹ"

// check makes a package of its files.
func (l *Loader) check(importPath string, files []*ast.File) (*Package, error) {
	p := &Package{Path: importPath, Types: types.NewPackage("main", files[0].Name.Name), Info: newInfo()}
	calls := nameInits(files)
	text := fmt.Sprintf("package %s\nfunc %s() {\n%s}\n", files[0].Name.Name, initFunction, calls)
	extra, err := parser.ParseFile(l.fset, importPath+"/init", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var failed []error
	config := types.Config{
		Importer: importer{l},
		Error:    func(err error) { failed = append(failed, err) },
		Sizes:    types.SizesFor("gc", build.Default.GOARCH),
	}
	_ = types.NewChecker(&config, l.fset, p.Types, p.Info).Files(append(files, extra))
	if len(failed) > 0 {
		var inner *Error
		if errors.As(failed[0], &inner) {
			return nil, inner
		}
		return nil, failed[0]
	}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body == nil {
					return nil, fmt.Errorf("%s: the function %s has no body in Go", l.fset.Position(d.Pos()), d.Name.Name)
				}
				p.Funcs = append(p.Funcs, d)
			case *ast.GenDecl:
				if d.Tok != token.TYPE {
					continue
				}
				for _, s := range d.Specs {
					p.Specs = append(p.Specs, s.(*ast.TypeSpec))
				}
			}
		}
	}
	for _, name := range p.Types.Scope().Names() {
		if v, ok := p.Types.Scope().Lookup(name).(*types.Var); ok {
			p.Vars = append(p.Vars, v)
		}
	}
	p.Init = p.Info.InitOrder
	p.Inits = extra.Decls[0].(*ast.FuncDecl).Body.List
	return p, nil
}

// nameInits gives each init function a name of its own and returns their calls.
func nameInits(files []*ast.File) string {
	var calls strings.Builder
	number := 0
	for _, f := range files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "init" {
				number++
				d.Name.Name = fmt.Sprintf("initʹ%d", number)
				fmt.Fprintf(&calls, "%s()\n", d.Name.Name)
			}
		}
	}
	return calls.String()
}

// importer is the loader inside of itself.
type importer struct{ *Loader }

func (i importer) Import(path string) (*types.Package, error) { return i.importPackage(path) }

func newInfo() *types.Info {
	return &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Instances:  map[*ast.Ident]types.Instance{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Implicits:  map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes:     map[ast.Node]*types.Scope{},
	}
}
