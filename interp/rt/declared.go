package rt

import (
	"cmp"
	"fmt"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/quernlab/quern/interp/lower/layout"
)

// Packages that encode and decode by reflection get values of cells as values of
// types with the fields as they were declared: the same memory under another type.
// Such a type has no name and no methods.

// declaredTypes makes these types.
type declaredTypes struct {
	known sync.Map // *Type to reflect.Type

	mu      sync.Mutex // guards builder
	builder layout.Builder
}

// declaredType is the type that stands for t.
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

// An EncodingError reports a value of a cell that a package which encodes or
// decodes would not treat as Go does.
type EncodingError struct{ Package, Unseen string }

func (e *EncodingError) Error() string { return fmt.Sprintf("%s does not see %s", e.Package, e.Unseen) }

func (*EncodingError) compiledName() string { return "runtime.errorString" }

// RuntimeError makes it a runtime.Error.
func (*EncodingError) RuntimeError() {}

// encoded is a value that such a package gets.
type encoded struct {
	r     *Registry
	value any
	box   Box          // what value stands for; without T if it is that itself
	typ   reflect.Type // of value
}

// encodable is x as the package gets it, which asks values for the methods. It
// panics with an *EncodingError where it would not find what Go finds.
func (r *Registry) encodable(pkg string, x any, methods []string) encoded {
	b, ok := r.unbox(x)
	if !ok {
		return encoded{value: x}
	}
	if unseen := r.unseenMethod(b.T.typ, methods, map[types.Type]bool{}); unseen != "" {
		panic(&EncodingError{pkg, unseen})
	}
	v := reflect.ValueOf(b.V)
	t, err := r.declaredType(b.T)
	if err != nil || !sameLayout(v.Type(), t, map[reflect.Type]bool{}) {
		panic(&EncodingError{pkg, "the fields of " + b.T.name})
	}
	if t == v.Type() {
		return encoded{r, b.V, b, t}
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return encoded{r, reflect.NewAt(t, p.UnsafePointer()).Elem().Interface(), b, t}
}

// unseenMethod is a method, of those, that t or a part of it has, as a noun phrase;
// "" if there is none.
func (r *Registry) unseenMethod(t types.Type, methods []string, seen map[types.Type]bool) string {
	t = types.Unalias(t)
	if seen[t] || !r.Mentions(t) {
		return ""
	}
	seen[t] = true
	if named, ok := t.(*types.Named); ok {
		set := types.NewMethodSet(types.NewPointer(named))
		for m := range set.Methods() {
			if name := m.Obj().Name(); slices.Contains(methods, name) {
				return "the method " + name + " of " + r.Describe(named).name
			}
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Map:
		return cmp.Or(r.unseenMethod(u.Key(), methods, seen), r.unseenMethod(u.Elem(), methods, seen))
	case interface{ Elem() types.Type }:
		return r.unseenMethod(u.Elem(), methods, seen)
	case *types.Struct:
		for f := range u.Fields() {
			if !f.Exported() && !f.Embedded() {
				continue
			}
			if unseen := r.unseenMethod(f.Type(), methods, seen); unseen != "" {
				return unseen
			}
		}
	}
	return ""
}

// sameLayout tells whether values of two types lie in memory in the same way.
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

// parts calls visit for the type of the value, and for those that it is made of,
// with the types that stand for them.
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

// declaredError is an error that tells types by their names.
type declaredError struct {
	text string
	err  error
}

func (e *declaredError) Error() string { return e.text }
func (e *declaredError) Unwrap() error { return e.err }

func (*declaredError) compiledName() string { return "*errors.errorString" }

// boxName is the name of a type of boxes.
var boxName = regexp.MustCompile(`\brt\.[Bb]ox\w*`)

// named is err with the names that types have in cells.
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
