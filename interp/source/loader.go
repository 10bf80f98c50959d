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
	"slices"
	"strings"
	"sync"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/interp/embedded"
	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/origin"
)

// Modules finds packages in modules.
type Modules interface {
	Find(ctx context.Context, importPath string) (p module.Package, ok bool, err error)
	// Begin is called before the imports of a cell: files may have changed since the last one.
	Begin()
	// Local reports whether a package comes from this machine, and so before a compiled one.
	Local(importPath string) bool
	// CheckInternal returns an error for an internal package that cells may not import.
	CheckInternal(importPath string) error
}

// An Error is the reason why a package of a module cannot be interpreted.
type Error struct {
	Path string
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("package %s cannot be interpreted: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Loader imports packages, from source if they are not compiled in.
type Loader struct {
	compiled types.Importer
	fset     *token.FileSet
	modules  Modules

	mu        sync.Mutex
	ctx       context.Context  // of downloads
	loading   []string         // paths of packages being loaded, to find cycles
	imports   []*loadedPackage // of the package being loaded
	loaded    map[string]*loadedPackage
	failed    map[string]error
	unchanged map[*loadedPackage]bool // results of current since Begin; empty after a package was replaced
	// order may have packages of several versions of a module, each after its imports.
	order    []*loadedPackage
	packages map[*types.Package]*loadedPackage
	read     map[module.Package]*files // read ahead of the import in progress
	checking *display.Meter            // counts the packages of the import in progress; nil between imports
	restore  func()                    // restores the settings of the garbage collector; nil if they are unchanged
}

// A loadedPackage is a package with the module that it was loaded from.
type loadedPackage struct {
	path  string
	from  module.Package
	types *types.Package
	info  *types.Info
	files []*ast.File
	inits []ast.Stmt // the calls of the init functions
	begun bool       // its initializers and init functions have run
	// imports are the packages that it imports, as far as they are not compiled.
	imports []*loadedPackage
	// patterns are those of the //go:embed lines. stamp is a text that changes with the files
	// that match them, and embedded has the files of each variable.
	patterns []string
	stamp    string
	embedded map[*types.Var]embedded.Files
	// replaces is the same package before its files changed; nil for the first one.
	replaces *loadedPackage
	// waiting are the declarations that have not run.
	waiting map[types.Object]declaration
	// dispatched are the types whose values may be in interfaces.
	dispatched map[*types.Named]bool
	tables     map[*ast.CompositeLit]bool // see table
	missing    map[string]string          // functions and variables that are not declared in Go, with the reasons
}

// NewLoader returns a loader in front of an importer of compiled packages.
func NewLoader(compiled types.Importer, fset *token.FileSet, modules Modules) *Loader {
	return &Loader{compiled: compiled, fset: fset, modules: modules, ctx: context.Background(),
		loaded: map[string]*loadedPackage{}, failed: map[string]error{}, unchanged: map[*loadedPackage]bool{}, packages: map[*types.Package]*loadedPackage{}}
}

// Begin sets the context of the downloads for imports of a cell, and forgets packages that could
// not be loaded.
func (l *Loader) Begin(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx = ctx
	clear(l.failed)
	clear(l.unchanged)
	l.modules.Begin()
}

// Import implements types.Importer.
func (l *Loader) Import(importPath string) (*types.Package, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.read = nil }()
	return l.importPackage(importPath)
}

// Drop forgets packages whose first part could not be run.
func (l *Loader) Drop(parts []*Part) {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.unchanged)
	for _, p := range parts {
		p.failed()
		if p.of.begun {
			continue
		}
		if l.loaded[p.Path] == p.of {
			delete(l.loaded, p.Path)
			if p.of.replaces != nil {
				l.loaded[p.Path] = p.of.replaces
			}
		}
		delete(l.packages, p.Types)
		l.order = slices.DeleteFunc(l.order, func(o *loadedPackage) bool { return o == p.of })
	}
}

func (l *Loader) importPackage(importPath string) (*types.Package, error) {
	p, err := l.compiled.Import(importPath)
	if err == nil && !l.modules.Local(importPath) {
		return p, nil
	}
	if err, ok := l.failed[importPath]; ok {
		return nil, err
	}
	pkg, ok, findErr := l.modules.Find(l.ctx, importPath)
	missing := errors.As(findErr, new(*module.PackageError))
	switch {
	case missing && p == nil:
		return nil, fmt.Errorf("%w; if another module has it, add the line %%get %s", findErr, importPath)
	case findErr != nil && !missing:
		return nil, findErr
	case !ok:
		return p, err // p is nil if it is not compiled either
	}
	if err := l.checkInternal(importPath); err != nil {
		return nil, err
	}
	if p, ok := l.loaded[importPath]; ok && p.from == pkg && l.current(p) {
		l.imported(p)
		return p.types, nil
	}
	if slices.Contains(l.loading, importPath) {
		return nil, &Error{importPath, errors.New("it imports itself")}
	}
	l.loading = append(l.loading, importPath)
	importers := l.imports
	l.imports = nil
	defer func() {
		l.loading = l.loading[:len(l.loading)-1]
		l.imports = importers
		if loaded := l.loaded[importPath]; loaded != nil {
			l.imported(loaded)
		}
	}()
	if l.read == nil {
		l.relaxCollector()
		l.readAhead(importPath)
		l.checking, _ = display.Measure(l.ctx, "checking packages", float64(len(l.read)))
		defer func() {
			l.checking.End()
			l.checking = nil
		}()
	}
	loaded, err := l.load(importPath, pkg)
	if err != nil {
		var inner *Error
		if !errors.As(err, &inner) {
			err = &Error{importPath, err}
		}
		l.failed[importPath] = err
		return nil, err
	}
	loaded.path, loaded.from, loaded.imports = importPath, pkg, l.imports
	if old := l.loaded[importPath]; old != nil {
		clear(l.unchanged)
		if old.from.Dir == pkg.Dir {
			loaded.replaces = old
			if !old.begun {
				loaded.replaces = old.replaces
			}
		}
	}
	l.loaded[importPath] = loaded
	l.packages[loaded.types] = loaded
	l.order = append(l.order, loaded)
	l.checking.Set(l.checking.Last().Done+1, importPath)
	return loaded.types, nil
}

// imported notes that the package being loaded imports p.
func (l *Loader) imported(p *loadedPackage) {
	if len(l.loading) > 0 {
		l.imports = append(l.imports, p)
	}
}

// checkInternal returns an error if the package being loaded, or a cell, may not import a package.
func (l *Loader) checkInternal(importPath string) error {
	if len(l.loading) == 0 {
		return l.modules.CheckInternal(importPath)
	}
	return module.CheckInternal(l.loading[len(l.loading)-1], importPath)
}

// load reads and checks a package.
func (l *Loader) load(importPath string, pkg module.Package) (*loadedPackage, error) {
	f := l.read[pkg]
	if f == nil {
		f = l.readFiles(importPath, pkg)
	}
	if f.err != nil {
		return nil, f.err
	}
	p, err := l.check(importPath, f.parsed)
	for err != nil && f.selection > 0 { // for another architecture a package may lack declarations
		var inner *Error
		if errors.As(err, &inner) {
			return nil, err
		}
		original := l.readSelection(importPath, pkg, 0)
		if f = l.readNext(importPath, pkg, f, original); f == nil {
			f = original
		}
		p, err = l.check(importPath, f.parsed)
	}
	if err != nil {
		return nil, err
	}
	p.missing = f.missing
	p.patterns, p.stamp, p.embedded = f.patterns, f.stamp, map[*types.Var]embedded.Files{}
	for _, e := range f.embedded {
		if v, ok := p.types.Scope().Lookup(e.name).(*types.Var); ok {
			p.embedded[v] = e.files
		}
	}
	return p, nil
}

// initFunction is a function that calls the init functions of a package, for the checker.
const initFunction = "initsʹ"

// check type-checks the files of a package.
func (l *Loader) check(importPath string, files []*ast.File) (*loadedPackage, error) {
	calls := nameInits(files)
	tables := shortenTables(files)
	p, err := l.checkFiles(importPath, files, calls)
	valid := err == nil
	for _, t := range tables {
		t.restore()
	}
	for _, t := range tables {
		valid = valid && t.finish(p)
	}
	if !valid && len(tables) > 0 {
		for _, t := range tables {
			t.restore()
		}
		tables = nil
		p, err = l.checkFiles(importPath, files, calls)
	}
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		p.tables[t.literal] = true
	}
	p.note()
	return p, nil
}

// checkFiles type-checks files; calls are the statements that call their init functions.
func (l *Loader) checkFiles(importPath string, files []*ast.File, calls string) (*loadedPackage, error) {
	p := &loadedPackage{types: types.NewPackage(origin.ModulePath(importPath), files[0].Name.Name), info: newInfo(), files: files,
		waiting: map[types.Object]declaration{}, dispatched: map[*types.Named]bool{}, tables: map[*ast.CompositeLit]bool{}}
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
	_ = types.NewChecker(&config, l.fset, p.types, p.info).Files(append(files, extra))
	if len(failed) > 0 {
		var inner *Error
		if errors.As(failed[0], &inner) {
			return nil, inner
		}
		return nil, errors.New(origin.Describe(failed[0].Error()))
	}
	p.inits = extra.Decls[0].(*ast.FuncDecl).Body.List
	return p, nil
}

// note sets the declarations of a package.
func (p *loadedPackage) note() {
	for _, f := range p.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				p.waiting[p.info.Defs[d.Name]] = declaration{function: d}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						p.waiting[p.info.Defs[s.Name]] = declaration{spec: s}
					}
				}
			}
		}
	}
	for _, name := range p.types.Scope().Names() {
		if v, ok := p.types.Scope().Lookup(name).(*types.Var); ok {
			p.waiting[v] = declaration{variable: v}
		}
	}
	for _, init := range p.info.InitOrder {
		for _, v := range init.Lhs {
			if v.Name() != "_" {
				p.waiting[v] = declaration{variable: v, init: init}
			}
		}
	}
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

// importer is the loader as the importer of packages that it loads.
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
