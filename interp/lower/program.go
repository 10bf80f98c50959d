package lower

import (
	"context"
	"go/ast"
	"go/types"
	"reflect"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/lower/layout"
	"github.com/quernlab/quern/interp/vm"
)

// Registry gives types the identifiers that lowered code uses. *rt.Registry implements it.
type Registry interface {
	// ID returns the identifier of t, canonical by types.Identical.
	ID(t types.Type) int
	// Descriptor returns the descriptor of t, for lowered code that needs more than the
	// identifier.
	Descriptor(t types.Type) any
	// Mentions reports whether a value of type t is boxed when it is converted to an
	// interface.
	Mentions(t types.Type) bool
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
	// Packages is yaegi's table of compiled symbols, keyed "path/name".
	Packages map[string]map[string]reflect.Value
	// Machine, if not nil, configures package vm, which runs functions in place of yaegi.
	// New sets its field Type.
	Machine *vm.Config
	// Errors records at run time which errors of a cell are unread; see check.Cell.Tracks.
	Errors ErrorNotes
	// StopCall makes lowered code check for interrupts and store positions by calls, which
	// are free of data races, instead of by variables, which are faster.
	StopCall bool
}

// Program lowers the cells of one session. It records the names that the definitions of earlier cells have in yaegi. It is
// not safe for concurrent use.
type Program struct {
	Config
	names    map[types.Object]string        // of variables, and of types, functions and methods that are not generic
	generics map[types.Object]*ast.FuncDecl // generic functions
	methods  map[*types.TypeName]*methods   // declared methods of each interpreted type
	// recovering maps functions and methods to whether they call recover.
	recovering map[types.Object]bool
	later      map[types.Object]bool  // functions that are compiled at their first call, before that
	unbound    map[string]*types.Func // functions of this kind that yaegi has no variable for, by name
	versions   map[declaration]version
	instances  map[instance]string                // functions and types
	arguments  map[instance][]types.Type          // of instances
	existing   map[*types.TypeName][]*types.Named // instances of the generic types of cells, in the order of their creation
	helpers    map[string]string                  // names of emitted helpers by key
	aliases    map[string]string                  // import path to name of the package in lowered code
	sources    map[string]*source                 // sources of generic packages, by import path
	counts     map[string]int                     // for unique names; never rolled back, because yaegi may know a name of a failed cell
	layout     *layout.Builder
	fast       *vm.VM                   // nil if yaegi runs everything
	compiled   *vm.VM                   // has the functions of earlier cells; nil if yaegi has always run everything
	publics    map[publicKey]publicType // see public
	mentioned  map[string]bool          // see noteMentions
	files      fileTable                // of positions
	journal    []func()                 // undoes the changes of the pending unit
	pending    *Unit
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
		Config:     config,
		names:      map[types.Object]string{},
		generics:   map[types.Object]*ast.FuncDecl{},
		methods:    map[*types.TypeName]*methods{},
		recovering: map[types.Object]bool{},
		later:      map[types.Object]bool{},
		unbound:    map[string]*types.Func{},
		versions:   map[declaration]version{},
		instances:  map[instance]string{},
		arguments:  map[instance][]types.Type{},
		existing:   map[*types.TypeName][]*types.Named{},
		helpers:    map[string]string{},
		aliases:    map[string]string{},
		mentioned:  map[string]bool{},
		sources:    map[string]*source{},
		counts:     map[string]int{},
		layout:     &layout.Builder{Interpreted: Interpreted, Packages: config.Packages},
	}
	if config.Machine != nil {
		c := *config.Machine
		c.Type, c.Replacement = p.layout.Reflect, replacement
		p.compiled = vm.New(c)
		p.fast = p.compiled
	}
	return p
}

// TypesPath is the import path of the package of the types in Unit.Types.
const TypesPath = "quern/types"

// Unit is a lowered cell: the code that yaegi evaluates, in the order of the fields.
type Unit struct {
	// Types are the compiled types that the cell needs, as symbols of the package
	// TypesPath. yaegi must have them before it evaluates the unit.
	Types map[string]reflect.Value
	// Imports are import declarations, to be evaluated one by one.
	Imports []string
	// Source declares types, variables and functions. See also Pieces.
	Source string
	// Machine has the functions that Source declares as variables. It must be linked after
	// yaegi has evaluated Source. It is nil without package vm.
	Machine *vm.Unit
	// Values are functions of Source that yaegi must call by value and not by name.
	Values []string
	// Redeclared are functions of earlier units that functions of Source replace from now
	// on, wherever they are called.
	Redeclared []Redeclared
	// Bindings are variables that Source declares for functions that package vm compiles at their first call.
	Bindings []Binding
	// StandIns are functions of Source that run in place of functions that package vm could not compile at their first call.
	StandIns []StandIn
	// Register is the call that registers method tables, or "" if there are none.
	Register string
	// Body is the function of Source that runs the cell, or "" if there is nothing to run or package vm runs it; see Statements.
	Body string
	// Once are the functions that nothing calls by name after the cell has run.
	Once []string

	declarations []int         // offsets of the declarations in Source
	bodyKey      *ast.FuncDecl // of the function of Machine that runs the cell; nil if yaegi runs it
}

// IsEmpty reports whether there is nothing to run.
func (u *Unit) IsEmpty() bool { return u.Body == "" && u.bodyKey == nil }

// Statements returns the function that runs the cell, after Machine has been linked; nil if that is Body.
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
	e := &emitter{Program: p, ctx: ctx, cell: cell, Fset: cell.Fset, Info: cell.Info, facts: map[*ast.FuncDecl]*facts.Function{}, before: map[*types.Initializer][]ast.Stmt{}, copiedMethods: map[*types.TypeName]bool{}, copied: map[*ast.CallExpr]bool{}, casts: map[*ast.CallExpr]bool{}}
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
	if unit.Machine != nil {
		unit.Machine.Commit()
	}
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

// Redirect makes code that package vm runs call v instead of the function of an earlier unit with this key and name in
// lowered code.
func (p *Program) Redirect(key types.Object, name string, v reflect.Value) {
	if p.compiled != nil {
		p.compiled.Redirect(key, name, v)
	}
}

// Slow makes yaegi run the functions of all later cells.
func (p *Program) Slow() { p.fast = nil }

// Name returns the name of o in lowered code, or "" if o is unknown or generic.
func (p *Program) Name(o types.Object) string { return p.names[o] }
