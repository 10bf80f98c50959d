package rt

import (
	"fmt"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/quernlab/quern/interp/lower/layout"
)

// Packages that encode and decode by reflection get a value of a cell as a value of a
// type with the declared name, fields and methods. It is the same memory under another
// type. The methods come from stubs.go.

// declaredTypes creates and caches these types.
type declaredTypes struct {
	known sync.Map // *Type to reflect.Type
	slots sync.Map // named reflect.Type to []*slot

	mu      sync.Mutex // guards builder
	builder layout.Builder
}

// nameDeclared returns the name and the methods of a type for the builder.
func (r *Registry) nameDeclared(n *types.Named, made reflect.Type) (name string, methods, ofPointer []layout.Method, done func(reflect.Type)) {
	t := r.Describe(n)
	methods, ofPointer, used := r.stubbed(t, made)
	return t.name, methods, ofPointer, func(made reflect.Type) { r.declared.slots.Store(made, used) }
}

// setRaw gives the method stubs of the types in e the raw types of their receivers.
func (e encoded) setRaw() {
	e.parts(func(w view, t reflect.Type) {
		if used, ok := e.r.declared.slots.Load(t); ok {
			for _, s := range used.([]*slot) {
				s.raw.CompareAndSwap(nil, &rawType{w.t})
			}
		}
	})
}

// unseen returns an error if a package would miss one of the methods: if a type in e
// declares it and the created type lacks it. Otherwise it returns nil.
func (e encoded) unseen(pkg string, methods []string) (unseen *EncodingError) {
	e.parts(func(w view, t reflect.Type) {
		if _, ok := types.Unalias(w.d.typ).(*types.Named); !ok || unseen != nil || types.IsInterface(w.d.typ) {
			return
		}
		for _, name := range w.d.pointer().stubMethods() {
			if !slices.Contains(methods, name) {
				continue
			}
			if _, ok := reflect.PointerTo(t).MethodByName(name); ok {
				continue
			}
			if unseen = noSlot(pkg, w.d); w.kind() == reflect.Func { // no type with methods has kind func
				unseen = &EncodingError{Package: pkg, Unseen: "the method " + name + " of " + w.d.name + "; encode what it returns instead"}
			}
			return
		}
	})
	return unseen
}

// declaredType returns the created type for t.
func (r *Registry) declaredType(t *Type) (reflect.Type, error) {
	if made, ok := r.declared.known.Load(t); ok {
		return made.(reflect.Type), nil
	}
	r.declared.mu.Lock()
	defer r.declared.mu.Unlock()
	made, err := r.declared.builder.Reflect(t.typ)
	if err == nil {
		r.declared.known.Store(t, made)
	}
	return made, err
}

// An EncodingError reports a value of a cell that an encoding package would not handle
// as it does in compiled Go.
type EncodingError struct {
	Package, Unseen string
	exhausted       bool // no slot is left
}

func (e *EncodingError) Error() string { return fmt.Sprintf("%s does not see %s", e.Package, e.Unseen) }

func (*EncodingError) compiledName() string { return "runtime.errorString" }

// RuntimeError makes it a runtime.Error.
func (*EncodingError) RuntimeError() {}

// encoded is a value as an encoding package sees it.
type encoded struct {
	r     *Registry
	value any
	box   Box          // the boxed value; T is nil if value was not boxed
	typ   reflect.Type // of value
}

// encodable returns x as the package must see it. methods are the methods that the
// package looks for. encodable panics with an *EncodingError if the package would miss
// something that the cell declares.
func (r *Registry) encodable(pkg string, x any, methods []string) encoded {
	b, ok := r.unbox(x)
	if !ok {
		return encoded{value: x}
	}
	v := reflect.ValueOf(b.V)
	t, err := r.declaredType(b.T)
	if err != nil || !sameLayout(v.Type(), t, map[reflect.Type]bool{}) {
		panic(&EncodingError{Package: pkg, Unseen: "the fields of " + b.T.name + "; encode a simpler type, or the fields one by one"})
	}
	if t == v.Type() {
		return encoded{r, b.V, b, t}
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	e := encoded{r, reflect.NewAt(t, p.UnsafePointer()).Elem().Interface(), b, t}
	if unseen := e.unseen(pkg, methods); unseen != nil {
		panic(unseen)
	}
	e.setRaw()
	return e
}

// sameLayout reports whether values of the two types have the same memory layout.
func sameLayout(a, b reflect.Type, seen map[reflect.Type]bool) bool {
	if a == b || seen[a] {
		return true
	}
	seen[a] = true
	if a.Kind() != b.Kind() || a.Size() != b.Size() || a.Align() != b.Align() {
		return false
	}
	switch a.Kind() {
	case reflect.Struct:
		if a.NumField() != b.NumField() {
			return false
		}
		for i := range a.NumField() {
			f, g := a.Field(i), b.Field(i)
			if f.Offset != g.Offset || !sameLayout(f.Type, g.Type, seen) {
				return false
			}
		}
	case reflect.Map:
		return sameLayout(a.Key(), b.Key(), seen) && sameLayout(a.Elem(), b.Elem(), seen)
	case reflect.Array, reflect.Slice, reflect.Pointer, reflect.Chan:
		return sameLayout(a.Elem(), b.Elem(), seen)
	}
	return true
}

// parts calls visit for the type of the value and for each type that it contains,
// together with the created types.
func (e encoded) parts(visit func(declared view, t reflect.Type)) {
	seen := map[reflect.Type]bool{}
	var walk func(w view, t reflect.Type)
	walk = func(w view, t reflect.Type) {
		if w.d == nil || seen[t] {
			return
		}
		seen[t] = true
		visit(w, t)
		switch t.Kind() {
		case reflect.Struct:
			for i := range t.NumField() {
				_, f := w.field(i)
				walk(f, t.Field(i).Type)
			}
		case reflect.Map:
			walk(w.key(), t.Key())
			walk(w.elem(), t.Elem())
		case reflect.Array, reflect.Slice, reflect.Pointer, reflect.Chan:
			walk(w.elem(), t.Elem())
		}
	}
	if e.box.T != nil {
		walk(view{e.box.T, reflect.TypeOf(e.box.V)}, e.typ)
	}
}

// declaredError is an error whose text uses the type names of cells.
type declaredError struct {
	text string
	err  error
}

func (e *declaredError) Error() string { return e.text }
func (e *declaredError) Unwrap() error { return e.err }

func (*declaredError) compiledName() string { return "*errors.errorString" }

// boxName matches the names of the box types.
var boxName = regexp.MustCompile(`\brt\.[Bb]ox\w*`)

// named returns err with the type names of cells in its text.
func (e encoded) named(err error) error {
	if err == nil {
		return nil
	}
	type pair struct{ inner, name string }
	var pairs []pair
	e.parts(func(w view, t reflect.Type) { pairs = append(pairs, pair{t.String(), w.String()}) })
	slices.SortStableFunc(pairs, func(a, b pair) int { return len(b.inner) - len(a.inner) })
	text := err.Error()
	for _, p := range pairs {
		if len(p.inner) > len("struct {}") || strings.HasSuffix(text, " "+p.inner) {
			text = strings.ReplaceAll(text, p.inner, p.name)
		}
	}
	text = boxName.ReplaceAllString(text, "a type of a cell")
	if text == err.Error() {
		return err
	}
	return &declaredError{text, err}
}
