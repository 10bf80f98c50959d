package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"github.com/quernlab/quern/interp/embedded"
)

// A Part is the part of a package that a session has to run before code that uses it.
type Part struct {
	Path  string
	Types *types.Package
	// First is Types as it was before its files changed for the first time.
	First *types.Package
	Info  *types.Info // facts about the package
	Nodes []ast.Node  // the syntax of the part
	Specs []*ast.TypeSpec
	Funcs []*ast.FuncDecl
	// Later are functions that code mentions and that are compiled when they are called for the first time; see
	// [Loader.NeededFunction].
	Later []*ast.FuncDecl
	Vars  []*types.Var
	// Embedded are the files of the variables with //go:embed lines. They are set before the
	// initializers run.
	Embedded map[*types.Var]embedded.Files
	// Tables are literals of integers whose elements are numerals. Info has no facts about the elements.
	Tables map[*ast.CompositeLit]bool
	// Dispatched are the types of the package whose values may be in interfaces from now on.
	Dispatched []*types.Named
	// Init are the initializers of the variables, in the order in which they run, and Inits
	// the calls of the init functions that follow them.
	Init  []*types.Initializer
	Inits []ast.Stmt
	// Order are the initializers of all variables of the package, also those that have no part yet, in the first part
	// of the package.
	Order []*types.Initializer

	// SharesLoopVariables reports whether the code at a position is in a language before Go 1.22; nil if none is.
	SharesLoopVariables func(token.Pos) bool

	// Missing is the reason why the part cannot run: it reaches a function that has no body in Go. It is nil if the
	// part can run.
	Missing error

	// Replaced says that the files of the package have changed since, and that a newer version of it has been loaded.
	Replaced bool

	of       *loadedPackage
	objects  []types.Object
	later    []types.Object               // of Later
	compiled map[types.Object]declaration // objects; nil if the part has not been compiled
	begins   bool                         // the package had not begun before
	chosen   map[*types.Initializer]bool  // as a set, before they are ordered
}

// Empty reports whether there is nothing to run.
func (p *Part) Empty() bool {
	return len(p.Specs) == 0 && len(p.Funcs) == 0 && len(p.Later) == 0 && len(p.Vars) == 0 && len(p.Dispatched) == 0 && len(p.Init) == 0 && len(p.Inits) == 0
}

// Replaces reports whether the package has run before its files changed.
func (p *Part) Replaces() bool { return p.of.replaces != nil }

// A declaration declares one object at package level. Exactly one of spec,
// function and variable is set.
type declaration struct {
	spec     *ast.TypeSpec
	function *ast.FuncDecl
	variable *types.Var
	init     *types.Initializer // of the variable; nil if it has none
	index    int                // orders the declarations of a package: types and functions as in the source, then variables by name
}

// Code is the code of a cell.
type Code struct {
	Imports []string // paths
	Info    *types.Info
	Nodes   []ast.Node // types, functions and statements
	Init    []*types.Initializer
	Vars    []*types.Var
	Shown   []ast.Expr // whose values the cell shows
}

// Needed returns what has to run before code: the declarations that it reaches and that have
// not run; and for a package that is imported for the first time, its initializers and init
// functions, with all that they reach. Each part comes after those of the packages that it
// imports. An initializer without an observable effect waits until its variable is reached.
//
// The methods of a type that only interfaces and package reflect may call wait until they do.
func (l *Loader) Needed(code Code) []*Part {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.needed(func(r *reach) {
		for _, path := range code.Imports {
			if p := l.loaded[path]; p != nil && !p.begun {
				r.part(p)
			}
		}
		r.replacements()
		for _, n := range code.Nodes {
			r.node(n, code.Info, nil)
		}
		for _, init := range code.Init {
			r.node(init.Rhs, code.Info, nil)
			r.assign(init, code.Info)
		}
		for _, v := range code.Vars {
			r.typ(v.Type())
		}
		for _, x := range code.Shown {
			r.convert(code.Info.Types[x].Type)
		}
	})
}

// NeededMethod returns what has to run before a method of a package is called for the first time through an interface or
// package reflect. There may be nothing.
func (l *Loader) NeededMethod(m *types.Func) []*Part {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := newReach(l)
	r.method(m)
	return r.run()
}

// Compiled records that a part has been compiled and is going to run. Methods that its initializers call are compiled
// meanwhile; see NeededMethod.
func (l *Loader) Compiled(p *Part) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.begins, p.of.begun = !p.of.begun, true
	for _, t := range p.Dispatched {
		p.of.dispatched[t] = true
	}
	p.compiled = make(map[types.Object]declaration, len(p.objects))
	for _, o := range p.objects {
		p.compiled[o] = p.of.waiting[o]
		delete(p.of.waiting, o)
	}
	for _, o := range p.later {
		p.of.declared[o] = true
	}
}

// failed makes the declarations of a part wait again.
func (p *Part) failed() {
	if p.begins {
		p.of.begun = false
	}
	maps.Copy(p.of.waiting, p.compiled)
	p.compiled = nil
}

// finish puts the collected declarations in the order of the source.
func (p *Part) finish() {
	p.SharesLoopVariables = p.of.sharesLoopVariables()
	slices.SortFunc(p.objects, func(a, b types.Object) int { return p.of.waiting[a].index - p.of.waiting[b].index })
	for _, o := range p.objects {
		switch d := p.of.waiting[o]; {
		case d.function != nil:
			p.Funcs = append(p.Funcs, d.function)
		case d.spec != nil:
			p.Specs = append(p.Specs, d.spec)
		case d.variable != nil:
			p.Vars = append(p.Vars, d.variable)
			if files, ok := p.of.embedded[d.variable]; ok {
				if p.Embedded == nil {
					p.Embedded = map[*types.Var]embedded.Files{}
				}
				p.Embedded[d.variable] = files
			}
		}
	}
	for _, o := range p.later {
		p.Later = append(p.Later, p.of.waiting[o].function)
	}
	if !p.of.begun {
		p.Order = p.of.info.InitOrder
	}
	if len(p.chosen) == 0 {
		return
	}
	for _, init := range p.of.info.InitOrder {
		if p.chosen[init] {
			p.Init = append(p.Init, init)
		}
	}
}
