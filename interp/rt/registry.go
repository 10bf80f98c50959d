package rt

import (
	"fmt"
	"go/types"
	"io"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/quernlab/quern/interp/lower/layout"
	"github.com/quernlab/quern/interp/typeparts"
)

// Config configures a Registry. Only Interpreted has no default.
type Config struct {
	// Interpreted reports whether a named type (or an instance of a generic
	// one) only exists in lowered code. Its result for a type must never change.
	Interpreted func(*types.Named) bool

	// Packages is the table of compiled symbols, keyed "path/name". It has the
	// compiled interfaces (a nil pointer under "Reader"), and under Methods those of the session. nil means that there are none.
	Packages map[string]map[string]reflect.Value

	// Stderr is where the builtins print and println write; nil means os.Stderr.
	Stderr io.Writer

	// Activations are the names, as package runtime reports them, of the functions
	// of package vm that run an activation of a function of a cell.
	// Without them, recover also works in functions that a deferred function calls.
	Activations []string

	// FunctionPointer returns what reflect.Value.Pointer returns for a function value that the session runs.
	// The second result is false for other functions; nil means that all are.
	FunctionPointer func(reflect.Value) (uintptr, bool)

	// Captured returns pointers to the variables that a function value of a cell captures, and nothing for other functions; nil means that none
	// does.
	Captured func(function unsafe.Pointer) []reflect.Value

	// Declared reports whether the function with this number has a declaration, so that all its values are equal.
	Declared func(pc uintptr) bool

	// Stopped returns a channel that is closed when the calling goroutine must stop.
	// Stop ends such a goroutine by a panic; if it returns, the goroutine may continue
	// for a while. If Stopped is nil, nothing ends a wait.
	Stopped func() <-chan struct{}
	Stop    func()
	// Method returns what code of cells calls instead of a method of a compiled type; first is the index of its first
	// parameter in the function: 0 for a method value, 1 for a function with the receiver. nil means the function itself.
	Method func(receiver reflect.Type, method reflect.Value, first int) reflect.Value
	// Gone reports whether the calling goroutine is ending together with its program, and so
	// must not run its deferred calls. nil means that no goroutine does.
	Gone func() bool
}

// Registry has the type descriptors of one session. Its methods depend on the dynamic
// types of values.
type Registry struct {
	routines
	representations
	config Config
	// compiler compiles a method that is called for the first time and has not been registered; see CompileMethods.
	compiler func(m *types.Func) error
	enter    func(MethodCall) unsafe.Pointer // see EnterMethods

	mu          sync.Mutex   // guards the fields up to embedding; locked after declared.mu where both are held
	descriptors typeutil.Map // types.Type to identifier (int), by types.Identical
	next        int          // the next identifier
	live        map[int]*Type
	released    map[int]releasedType      // see Sweep
	embedding   map[*types.TypeName][]int // named type to the types that embed it

	methods    sync.Mutex   // held while the methods of a type change
	registered atomic.Int64 // changes when methods do

	declared declaredTypes
	gobNames sync.Map // name of a registered type, to *Type

	byType     sync.Map // types.Type to *Type, by pointer: a cache of descriptors
	implements sync.Map // implementsKey to bool
	bound      sync.Map // methodKey to boundMethod
	finalized  sync.Map // uintptr, the address of an object with a finalizer, to struct{}
}

// representations knows how lowered code represents values: which types their interface values have, and how to compare
// them.
type representations struct {
	made       sync.Map // the type word of an interface to *madeType, nil for a compiled type
	interfaces sync.Map // holdsKey to bool: see holds
}

// routines runs the deferred calls of goroutines and ends their waits. It knows nothing of types.
type routines struct{ config *Config }

// New returns an empty registry.
func New(config Config) *Registry {
	if config.Interpreted == nil {
		config.Interpreted = func(*types.Named) bool { return false }
	}
	if config.Stderr == nil {
		config.Stderr = os.Stderr
	}
	if config.FunctionPointer == nil {
		config.FunctionPointer = func(reflect.Value) (uintptr, bool) { return 0, false }
	}
	if config.Declared == nil {
		config.Declared = func(uintptr) bool { return false }
	}
	r := &Registry{config: config, live: map[int]*Type{}, released: map[int]releasedType{}, embedding: map[*types.TypeName][]int{}}
	r.routines.config = &r.config
	r.declared.signatures = map[*Type]methodSignature{}
	r.declared.builder = layout.Builder{Interpreted: r.isNamed, Packages: config.Packages, Declared: true, New: r.newDeclared, Complete: r.completeDeclared, Interface: r.newInterface}
	return r
}

// ID returns the identifier of t. Two types have the same identifier if and only if they
// are identical. Lowered code contains identifiers as literals.
func (r *Registry) ID(t types.Type) int { return r.Describe(t).id }

// Describe returns the descriptor of t.
func (r *Registry) Describe(t types.Type) *Type {
	if d, ok := r.byType.Load(t); ok {
		return d.(*Type)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.described(t)
	if d == nil {
		d = r.newType(r.next, types.Unalias(t))
		r.next++
		r.descriptors.Set(t, d.id)
		r.live[d.id] = d
		for _, name := range d.embedded {
			r.embedding[name] = append(r.embedding[name], d.id)
		}
	}
	if r.live[d.id] != nil {
		r.byType.Store(t, d)
	}
	return d
}

// described returns the descriptor of t, or nil. The caller holds r.mu.
func (r *Registry) described(t types.Type) *Type {
	id, ok := r.descriptors.At(t).(int)
	if !ok {
		return nil
	}
	return r.find(id)
}

// find returns the descriptor with the identifier id, or nil. The caller holds r.mu.
func (r *Registry) find(id int) *Type {
	if d := r.live[id]; d != nil {
		return d
	}
	return r.released[id].descriptor.Value()
}

// Type returns the descriptor with the identifier id, which ID must have returned.
func (r *Registry) Type(id int) *Type {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.find(id)
	if d == nil {
		panic(fmt.Sprintf("rt: no type has the identifier %d", id))
	}
	return d
}

// Types returns every type that has a descriptor. Identical types with different
// addresses all appear.
func (r *Registry) Types() []types.Type {
	var list []types.Type
	r.byType.Range(func(t, _ any) bool {
		list = append(list, t.(types.Type))
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.live {
		list = append(list, d.typ)
	}
	for _, l := range r.released {
		list = append(list, l.typ)
	}
	return list
}

// child returns the descriptor of a component type, or nil if the type is the same in
// lowered code as in Go.
func (r *Registry) child(t types.Type) *Type {
	if !r.Mentions(t) {
		return nil
	}
	return r.Describe(t)
}

// isNamed reports whether the named type t is made at run time.
func (r *Registry) isNamed(t *types.Named) bool {
	return r.config.Interpreted(t) || isGenericFunction(t)
}

// isGenericFunction reports whether t is an instance of a named function type such as
// iter.Seq. In lowered code it is the function type without the name.
func isGenericFunction(t *types.Named) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok && t.TypeArgs().Len() > 0
}

// Mentions reports whether t in lowered code differs from t in Go, so that its values
// need a box. That is so if t mentions an interpreted named type, a literal interface
// with methods, or a struct literal type with embedded or unexported fields.
func (r *Registry) Mentions(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return r.config.Interpreted(t) || isGenericFunction(t)
	case *types.Struct:
		for f := range t.Fields() {
			if f.Embedded() || !f.Exported() {
				return true
			}
		}
	case *types.Interface:
		return t.NumMethods() > 0
	}
	return typeparts.Any(t, r.Mentions)
}
