package rt

import (
	"fmt"
	"go/types"
	"io"
	"os"
	"reflect"
	"sync"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/quernlab/quern/interp/lower/layout"
)

// Config configures a Registry. Only Interpreted has no default.
type Config struct {
	// Interpreted reports whether a named type (or an instance of a generic
	// one) exists in lowered code only. It must not change its mind.
	Interpreted func(*types.Named) bool

	// Packages is yaegi's table of compiled symbols, keyed "path/name".
	// In it the compiled interfaces (a nil pointer under "Reader") and their
	// wrappers (a nil pointer under "_Reader") are found. nil means none.
	Packages map[string]map[string]reflect.Value

	// Stdout is where Print, Printf and Println write; nil means os.Stdout.
	Stdout io.Writer

	// Stderr is where the builtins print and println write; nil means os.Stderr.
	Stderr io.Writer

	// Uncaught reports whether a panic value must pass through a recover that
	// the standard library would have made, as fmt does around String methods:
	// the interrupt of a cell, for instance. nil means that none must.
	Uncaught func(any) bool

	// Activations are the names, as package runtime tells them, of the functions
	// that run an activation of a function of lowered code: yaegi's and that of
	// package vm. Without them recover works in what a deferred function calls,
	// too.
	Activations []string

	// Stopped returns a channel that is closed when the calling goroutine is to
	// stop, and Stop ends such a goroutine by a panic; if it returns, the
	// goroutine goes on for a while. nil means that nothing stops a select.
	Stopped func() <-chan struct{}
	Stop    func()
	// Gone reports whether the calling goroutine, which ends, does so as with its process: without its deferred calls. nil
	// means that none does.
	Gone func() bool
}

// Registry holds the type descriptors of one session and answers all questions
// about the dynamic types of its values.
type Registry struct {
	config Config

	mu          sync.Mutex   // guards all that follows up to declared
	descriptors typeutil.Map // types.Type to int, the identifier, by types.Identical
	next        int          // the next identifier
	kept        map[int]*Type
	left        map[int]leftType          // see Sweep
	embedding   map[*types.TypeName][]int // the types that embed a named one

	templateBuiltins map[string]any // functions that every template has
	declared         declaredTypes
	gobTypes         sync.Map // reflect.Type that stands for a registered type, to gobType
	gobNames         sync.Map // name of a registered type, to *Type
	flagTypes        sync.Map // *Type to reflect.Type, see holderType

	byType     sync.Map // types.Type to *Type, by pointer: a cache of descriptors
	wrappers   sync.Map // reflect.Type to func(Box) any: see AddWrapper
	engine     sync.Map // pointer types of yaegi's wrappers in use, to struct{}
	closed     sync.Map // reflect.Type to bool: see holdsNoBox
	compiled   sync.Map // implementsKey to bool
	indices    sync.Map // methodKey to int, the index of a compiled method
	holders    sync.Map // reflect.Type to bool: see holdsInterface
	jsonClosed sync.Map // reflect.Type to bool: see jsonHoldsNoBox
	fields     sync.Map // view to []jsonField
	finalized  sync.Map // uintptr, the address of an object with a finalizer, to struct{}
	escaped    sync.Map // *htmltemplate.Template to nil: those that html/template has escaped
}

// New returns an empty registry.
func New(config Config) *Registry {
	if config.Interpreted == nil {
		config.Interpreted = func(*types.Named) bool { return false }
	}
	if config.Stdout == nil {
		config.Stdout = os.Stdout
	}
	if config.Stderr == nil {
		config.Stderr = os.Stderr
	}
	if config.Uncaught == nil {
		config.Uncaught = func(any) bool { return false }
	}
	r := &Registry{config: config, kept: map[int]*Type{}, left: map[int]leftType{}, embedding: map[*types.TypeName][]int{}}
	r.declared.builder = layout.Builder{Interpreted: config.Interpreted, Packages: config.Packages, Declared: true, Name: r.nameDeclared}
	r.addNativeWrappers()
	r.templateBuiltins = r.newTemplateBuiltins()
	return r
}

// ID returns the identifier of t: the same for identical types, and only for
// those. It is an index that emitted code may hold as a literal.
func (r *Registry) ID(t types.Type) int { return r.Describe(t).id }

// Descriptor is Describe for package lower.
func (r *Registry) Descriptor(t types.Type) any { return r.Describe(t) }

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
		r.kept[d.id] = d
		for _, name := range d.embedded {
			r.embedding[name] = append(r.embedding[name], d.id)
		}
	}
	if r.kept[d.id] != nil {
		r.byType.Store(t, d)
	}
	return d
}

// described returns the descriptor of t, or nil. The registry's lock is held.
func (r *Registry) described(t types.Type) *Type {
	id, ok := r.descriptors.At(t).(int)
	if !ok {
		return nil
	}
	return r.find(id)
}

// find returns the descriptor with the identifier id, or nil. The registry's lock is held.
func (r *Registry) find(id int) *Type {
	if d := r.kept[id]; d != nil {
		return d
	}
	return r.left[id].descriptor.Value()
}

// Type returns the descriptor that has the identifier id, which must be one
// that ID has returned.
func (r *Registry) Type(id int) *Type {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.find(id)
	if d == nil {
		panic(fmt.Sprintf("rt: the type %d is forgotten", id))
	}
	return d
}

// Types returns every type that was described: identical ones too, if they are
// different values.
func (r *Registry) Types() []types.Type {
	var list []types.Type
	r.byType.Range(func(t, _ any) bool {
		list = append(list, t.(types.Type))
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.kept {
		list = append(list, d.typ)
	}
	for _, l := range r.left {
		list = append(list, l.typ)
	}
	return list
}

// child returns the descriptor of a component type that needs one, and nil for
// a type that is the same in lowered code as in Go.
func (r *Registry) child(t types.Type) *Type {
	if !r.Mentions(t) {
		return nil
	}
	return r.Describe(t)
}

// isGenericFunction reports whether t is an instance of a function type such as
// iter.Seq, which in lowered code is that function type without its name.
func isGenericFunction(t *types.Named) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok && t.TypeArgs().Len() > 0
}

// Mentions reports whether t differs in lowered code from what it is in Go, so
// that a value of it needs a box: whether it mentions an interpreted named
// type, a literal interface with methods, or a struct literal with embedded or
// unexported fields.
func (r *Registry) Mentions(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return r.config.Interpreted(t) || isGenericFunction(t)
	case *types.Pointer:
		return r.Mentions(t.Elem())
	case *types.Slice:
		return r.Mentions(t.Elem())
	case *types.Array:
		return r.Mentions(t.Elem())
	case *types.Chan:
		return r.Mentions(t.Elem())
	case *types.Map:
		return r.Mentions(t.Key()) || r.Mentions(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if f.Embedded() || !f.Exported() || r.Mentions(f.Type()) {
				return true
			}
		}
	case *types.Signature:
		for v := range t.Params().Variables() {
			if r.Mentions(v.Type()) {
				return true
			}
		}
		for v := range t.Results().Variables() {
			if r.Mentions(v.Type()) {
				return true
			}
		}
	case *types.Interface:
		return t.NumMethods() > 0
	}
	return false
}
