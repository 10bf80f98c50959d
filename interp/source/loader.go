package source

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"sync"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/interp/embedded"
	"github.com/quernlab/quern/interp/module"
)

// Modules finds packages in modules.
type Modules interface {
	Find(ctx context.Context, importPath string) (p module.Package, ok bool, err error)
	// Begin is called before the imports of a cell: files may have changed since the last one.
	Begin()
	// Local reports whether a package comes from this machine, and so before a compiled one.
	Local(importPath string) bool
	// Generation changes when packages may be found in other versions of their modules.
	Generation() int
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
	next     func(importPath string) bool
	later    bool     // see Later
	paths    sync.Map // of files of the disk, by their names in positions

	mu      sync.Mutex
	ctx     context.Context  // of downloads
	loading []string         // paths of packages being loaded, to find cycles
	imports []*loadedPackage // of the package being loaded
	loaded  map[string]*loadedPackage
	failed  map[string]error
	// generation is that of the modules after the cell before.
	generation int
	unchanged  map[*loadedPackage]bool // results of current since Begin; empty after a package was replaced
	// order may have packages of several versions of a module, each after its imports.
	order    []*loadedPackage
	packages map[*types.Package]*loadedPackage
	complete map[types.Object]bool // objects that lead to no missing function; see needed
	search   *search
	read     map[module.Package]*files // read ahead of the import in progress
	checking *display.Meter            // counts the packages of the import in progress; nil between imports
	// rejected has the versions of packages that could not run, by import path. reloading is true in reload, which does not
	// load them.
	rejected  map[string]*loadedPackage
	reloading bool
	restore   func() // restores the settings of the garbage collector; nil if they are unchanged
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
	reloaded bool // no cell has imported it: it was loaded because its files had changed
	// waiting are the declarations that have not run.
	waiting map[types.Object]declaration
	// declared are the functions whose bodies wait although code that mentions them has been compiled.
	declared map[types.Object]bool
	// dispatched are the types whose values may be in interfaces.
	dispatched map[*types.Named]bool
	tables     map[*ast.CompositeLit]bool // see table
	bodies     bodies                     // that have not been checked
	missing    map[string]string          // functions and variables that are not declared in Go, with the reasons
}

// A Package is a package that has been parsed and checked.
type Package struct {
	Types *types.Package
	Info  *types.Info
	Files []*ast.File // their init functions have other names
}

// Packages returns the packages that have been loaded, each after its imports.
func (l *Loader) Packages() []Package {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Package
	for _, p := range l.order {
		list = append(list, Package{p.types, p.info, p.files})
	}
	return list
}

// NewLoader returns a loader in front of an importer of compiled packages.
func NewLoader(compiled types.Importer, fset *token.FileSet, modules Modules) *Loader {
	l := &Loader{compiled: compiled, fset: fset, modules: modules, next: func(string) bool { return false }, ctx: context.Background(),
		loaded: map[string]*loadedPackage{}, failed: map[string]error{}, rejected: map[string]*loadedPackage{}, unchanged: map[*loadedPackage]bool{}, packages: map[*types.Package]*loadedPackage{}, complete: map[types.Object]bool{}}
	l.search = newSearch(l)
	return l
}

// NextWorker sets a function that reports whether the next worker has a package that this one cannot import.
func (l *Loader) NextWorker(has func(importPath string) bool) { l.next = has }

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
	p, err := l.importPackage(importPath)
	if err != nil && l.next(importPath) {
		return nil, errors.New("it is compiled into a worker that has not started yet: run %restart in a cell")
	}
	return p, err
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
	if l.reloading && l.isRejected(importPath, pkg) {
		return nil, errRejected
	}
	if i := slices.Index(l.loading, importPath); i >= 0 {
		cycle := append(slices.Clone(l.loading[i:]), importPath)
		return nil, &Error{importPath, errors.New("import cycle: " + strings.Join(cycle, " imports "))}
	}
	if p := l.earlier(importPath, pkg); p != nil {
		clear(l.unchanged)
		l.loaded[importPath] = p
		l.imported(p)
		return p.types, nil
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
	loaded.path, loaded.from, loaded.imports, loaded.reloaded = importPath, pkg, l.imports, l.reloading
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

// checksLater reports whether the bodies of the functions of a package can be checked when code reaches them: not those of local
// packages, so that their errors are found early, and of files that may not belong together.
func (l *Loader) checksLater(pkg module.Package, f *files) bool {
	return l.later && pkg.Stamp == "" && !selections[f.selection].guess
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
	p, err := l.check(importPath, pkg.Language, f.parsed, l.checksLater(pkg, f))
	for err != nil && f.selection > 0 { // for another architecture a package may lack declarations
		var inner *Error
		if errors.As(err, &inner) {
			return nil, err
		}
		parsed := map[string]sourceFile{}
		original := l.readSelection(importPath, pkg, 0, parsed)
		if f = l.readNext(importPath, pkg, f, original, parsed); f == nil {
			f = original
		}
		p, err = l.check(importPath, pkg.Language, f.parsed, l.checksLater(pkg, f))
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
