package lower

import (
	"context"
	"go/ast"
	"go/types"
	"reflect"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/lower/layout"
	"github.com/quernlab/quern/interp/vm"
)

// Registry gives types the numbers by which lowered code names them; it is
// implemented by *rt.Registry.
type Registry interface {
	// ID is the number of t, canonical by types.Identical.
	ID(t types.Type) int
	// Descriptor is what lowered code refers to t by where it needs more than its
	// number.
	Descriptor(t types.Type) any
	// Mentions reports whether a value of type t goes into an interface as a box.
	Mentions(t types.Type) bool
	// UnsupportedInXML tells what encoding/xml would not see of a value of type t, as a
	// noun phrase; "" if there is nothing.
	UnsupportedInXML(t types.Type) string
}

// Config is what a Program needs to know of the session.
type Config struct {
	// Registry must treat the types for which Interpreted holds as interpreted.
	Registry Registry
	// Importer imports compiled packages.
	Importer types.Importer
	// Generic gives the sources, by file name, of the generic functions and types
	// of the compiled package path. Nil when there are none.
	Generic func(path string) (map[string]string, bool)
	// Packages is yaegi's table of compiled symbols, keyed "path/name".
	Packages map[string]map[string]reflect.Value
	// Machine, if not nil, is what package vm needs to know to run functions
	// in place of yaegi. New sets its field Type.
	Machine *vm.Config
	// Errors notes which errors of a cell are unread; see check.Cell.Tracks.
	Errors ErrorNotes
	// StopCall makes the check for an interrupt and the storing of a position
	// calls, which are free of data races, and not accesses to variables, which
	// are cheap.
	StopCall bool
}

// Program lowers the cells of one session. It remembers under which names the
// definitions of earlier cells are known to yaegi. It is not safe for
// concurrent use.
type Program struct {
	Config
	names    map[types.Object]string        // variables, types, functions and methods that are not generic
	generics map[types.Object]*ast.FuncDecl // generic functions
	methods  map[*types.TypeName]*methods   // of every interpreted type
	// recovering tells of functions and methods whether they call recover.
	recovering map[types.Object]bool
	versions   map[declaration]version
	instances  map[instance]string                // functions and types
	arguments  map[instance][]types.Type          // of instances
	existing   map[*types.TypeName][]*types.Named // instances of the generic types of cells, in the order of their making
	helpers    map[string]string                  // emitted helpers by what they do
	aliases    map[string]string                  // import path -> name of the package in lowered code
	sources    map[string]*source                 // of generic packages, by import path
	counts     map[string]int                     // never rolled back: yaegi may know a name of a failed cell
	layout     *layout.Builder
	fast       *vm.VM                   // nil if yaegi runs everything
	publics    map[publicKey]publicType // made by public
	mentioned  map[string]bool          // see noteMentions
	files      fileTable                // of positions
	journal    []func()                 // undoes the changes of the unit that is not yet committed
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

// New makes a Program without any definition.
func New(config Config) *Program {
	p := &Program{
		Config:     config,
		names:      map[types.Object]string{},
		generics:   map[types.Object]*ast.FuncDecl{},
		methods:    map[*types.TypeName]*methods{},
		recovering: map[types.Object]bool{},
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
		c.Type = p.layout.Reflect
		p.fast = vm.New(c)
	}
	return p
}

// TypesPath is the import path of the package that has the types of Unit.Types.
const TypesPath = "quern/types"

// Unit is a lowered cell: what yaegi evaluates, in the order of the fields.
type Unit struct {
	// Types are compiled types that the cell needs, as symbols of the package
	// TypesPath: yaegi must know them before it evaluates anything.
	Types map[string]reflect.Value
	// Imports are import declarations, to be evaluated one by one.
	Imports []string
	// Source declares types, variables and functions. See also Pieces.
	Source string
	// Machine has the functions that Source declares as variables. It must be
	// linked when yaegi knows Source. Nil without a machine.
	Machine *vm.Unit
	// Values are functions of Source that yaegi must call by their values and
	// not by their names.
	Values []string
	// Redeclared are functions of earlier units that functions of Source stand for
	// from now on, wherever they are called.
	Redeclared []Redeclared
	// Register is the call that registers method tables; "" when there are none.
	Register string
	// Body is the call that runs the cell.
	Body string
	// Once are the functions that nothing calls by name again when the cell has run.
	Once []string

	declarations []int // where those in Source begin
}

// Lower lowers a checked cell. The unit before it must have been committed or
// discarded. An error is an *UnsupportedError, an *InternalError or that of ctx when it
// has ended; after an error nothing of the cell is known.
func (p *Program) Lower(ctx context.Context, cell *check.Cell) (unit *Unit, err error) {
	if p.pending != nil {
		return nil, &InternalError{Reason: "the unit before is neither committed nor discarded"}
	}
	p.journal = nil
	e := &emitter{Program: p, ctx: ctx, cell: cell, Fset: cell.Fset, Info: cell.Info, filed: map[*types.TypeName]bool{}}
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

// Commit makes the definitions of unit those of the session.
func (p *Program) Commit(unit *Unit) {
	p.journal, p.pending = nil, nil
	if unit.Machine != nil {
		unit.Machine.Commit()
	}
}

// Discard forgets the definitions of unit: names mean again what they meant
// before it was lowered.
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

// set changes one entry of a map of the program, so that it can be undone.
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

// Redirect has code that package vm runs call v in place of the function of
// an earlier unit with this key and this name in lowered code.
func (p *Program) Redirect(key types.Object, name string, v reflect.Value) {
	if p.fast != nil {
		p.fast.Redirect(key, name, v)
	}
}

// Slow has yaegi run the functions of all cells to come.
func (p *Program) Slow() { p.fast = nil }

// Name returns the name of o in lowered code; "" for an object that is not known or
// that is generic.
func (p *Program) Name(o types.Object) string { return p.names[o] }
