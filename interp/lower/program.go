package lower

import (
	"cmp"
	"context"
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/lower/layout"
	"github.com/quernlab/quern/interp/vm"
	"github.com/quernlab/quern/interp/vm/compile"
)

// Registry gives types the identifiers that lowered code uses. *rt.Registry implements it.
type Registry interface {
	// ID returns the identifier of t, canonical by types.Identical.
	ID(t types.Type) int
}

// Config configures a Program.
type Config struct {
	// Registry must treat the types for which Interpreted returns true as interpreted.
	Registry Registry
	// Importer imports compiled packages.
	Importer types.Importer
	// Generic returns the sources, by file name, of the generic functions and types of the
	// compiled package path. ok is false if there are none.
	Generic func(path string) (map[string]string, bool)
	// Packages is the table of compiled symbols, keyed "path/name".
	Packages map[string]map[string]reflect.Value
	// Machine configures the VM.
	Machine vm.Config
	// Compiler configures the compiler for the VM. New sets its field Type.
	Compiler compile.Config
	// Errors records at run time which errors of a cell are unread; see check.Cell.Tracks.
	Errors ErrorNotes
}

// Program lowers the cells of one session. It records the names that the definitions of earlier cells have in yaegi. It is
// not safe for concurrent use.
type Program struct {
	Config
	names     map[types.Object]string            // of variables, and of functions and methods that are not generic
	generics  map[types.Object]*ast.FuncDecl     // generic functions
	methods   map[*types.TypeName]*methods       // declared methods of each interpreted type
	later     map[types.Object]bool              // functions that are compiled at their first call, before that
	exposed   map[types.Object]bool              // variables of the session that functions or pointers refer to
	versions  map[declaration][]version          // with different signatures, the latest one last
	instances map[instance]string                // functions and types
	arguments map[instance][]types.Type          // of instances
	existing  map[*types.TypeName][]*types.Named // instances of the generic types of cells, in the order of their creation
	public    map[instance]*types.Named          // the compiled types for instances of types of generic sources
	sources   map[string]*source                 // sources of generic packages, by import path
	counts    map[string]int                     // for unique names; never rolled back, because yaegi may know a name of a failed cell
	layout    *layout.Builder
	machine   *vm.VM
	files     fileTable // of positions
	journal   []func()  // undoes the changes of the pending unit
	pending   *Unit
}

// methods are the declared methods of an interpreted type, in source order.
type methods struct {
	order  []string
	byName map[string]*ast.FuncDecl
}

func (m *methods) add(decl *ast.FuncDecl) {
	if m.byName[decl.Name.Name] == nil {
		m.order = append(m.order, decl.Name.Name)
	}
	m.byName[decl.Name.Name] = decl
}

// New returns a Program without definitions.
func New(config Config) *Program {
	p := &Program{
		Config:    config,
		names:     map[types.Object]string{},
		generics:  map[types.Object]*ast.FuncDecl{},
		methods:   map[*types.TypeName]*methods{},
		later:     map[types.Object]bool{},
		exposed:   map[types.Object]bool{},
		versions:  map[declaration][]version{},
		instances: map[instance]string{},
		arguments: map[instance][]types.Type{},
		existing:  map[*types.TypeName][]*types.Named{},
		public:    map[instance]*types.Named{},
		sources:   map[string]*source{},
		counts:    map[string]int{},
		layout:    &layout.Builder{Interpreted: Interpreted, Packages: config.Packages},
	}
	p.Compiler.Type = p.layout.Reflect
	p.machine = vm.New(config.Machine)
	return p
}

// TypesPath is the import path of the package of the types in Unit.Types.
const TypesPath = "quern/types"

// Unit is a lowered cell.
type Unit struct {
	// Types are the types of the variables, as symbols of the package TypesPath. yaegi must have them before it evaluates
	// Source.
	Types map[string]reflect.Value
	// Source declares the variables that the cell adds to the session, for yaegi.
	Source string
	// Machine has the functions. It must be linked after yaegi has evaluated Source.
	Machine *compile.Unit
	// Redeclared are functions of earlier units that functions of Machine replace from now on, wherever they are called.
	Redeclared []Redeclared

	variables []string      // that the cell adds to the session
	bodyKey   *ast.FuncDecl // of the function of Machine that runs the cell; nil if there is nothing to run
}

// Import is the declaration that yaegi must have evaluated before Source.
const Import = `import ` + TypesName + ` "` + TypesPath + `"`

// IsEmpty reports whether there is nothing to run.
func (u *Unit) IsEmpty() bool { return u.bodyKey == nil }

// Statements returns the function that runs the cell, after Machine has been linked; nil if there is nothing to run.
func (u *Unit) Statements() func() {
	if u.bodyKey == nil {
		return nil
	}
	return u.Machine.Function(u.bodyKey)
}

// Lower lowers a checked cell. The previous unit must have been committed or discarded. The error is an
// *UnsupportedError, an *InternalError or that of ctx if it has ended. After an error, the Program does not contain
// anything of the cell.
func (p *Program) Lower(ctx context.Context, cell *check.Cell) (unit *Unit, err error) {
	if p.pending != nil {
		return nil, &InternalError{Reason: "the previous unit was neither committed nor discarded"}
	}
	p.journal = nil
	e := &emitter{Program: p, ctx: ctx, cell: cell, Fset: cell.Fset, Info: cell.Info, facts: map[*ast.FuncDecl]*facts.Function{}, before: map[*types.Initializer][]ast.Stmt{}, copiedMethods: map[*types.TypeName]bool{}, reached: map[types.Type]bool{}}
	p.layout.Source = e.findSourceType
	defer func() {
		if r := recover(); r != nil {
			p.rollback()
			unit, err = nil, e.failure(r)
		}
	}()
	unit = e.lower()
	p.pending = unit
	return unit, nil
}

// Commit makes the definitions of unit available to later cells.
func (p *Program) Commit(unit *Unit) {
	p.journal, p.pending = nil, nil
	unit.Machine.Commit()
}

// Discard removes the definitions of unit: names have the same meaning again as before.
func (p *Program) Discard(unit *Unit) {
	if p.pending == unit {
		p.rollback()
	}
}

func (p *Program) rollback() {
	for i := len(p.journal) - 1; i >= 0; i-- {
		p.journal[i]()
	}
	p.journal, p.pending = nil, nil
}

// set changes one entry of a map of the program so that it can be undone.
func set[K comparable, V any](p *Program, m map[K]V, key K, value V) {
	old, had := m[key]
	p.journal = append(p.journal, func() {
		if had {
			m[key] = old
		} else {
			delete(m, key)
		}
	})
	m[key] = value
}

// remove removes one entry of a map of the program so that it can be undone.
func remove[K comparable, V any](p *Program, m map[K]V, key K) {
	if old, ok := m[key]; ok {
		p.journal = append(p.journal, func() { m[key] = old })
		delete(m, key)
	}
}

// Redirect makes callers of a function of an earlier unit call v.
func (p *Program) Redirect(f *types.Func, v reflect.Value) { p.machine.Redirect(f, v) }

// Variables returns the variables of the session and of packages that have names: those of cells, also those that later cells have
// replaced until Sweep removes them, and those of packages imported from source, each in the order of the paths and the names.
func (p *Program) Variables() []*types.Var {
	var list []*types.Var
	for o := range p.names {
		if v, ok := o.(*types.Var); ok {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b *types.Var) int {
		return cmp.Or(strings.Compare(a.Pkg().Path(), b.Pkg().Path()), strings.Compare(p.names[a], p.names[b]))
	})
	return list
}

// Name returns the name of o, for a variable in lowered code; "" if o is unknown or generic.
func (p *Program) Name(o types.Object) string { return p.names[o] }
