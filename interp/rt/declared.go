package rt

import (
	"errors"
	"fmt"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/quernlab/quern/interp/lower/layout"
	"github.com/quernlab/quern/interp/named"
	"github.com/quernlab/quern/interp/origin"
)

// Packages that encode and decode by reflection get a value of a cell as a value of a
// type with the declared name, fields and methods. It is the same memory under another
// type, which package named makes. The methods run those of the cell; see declaredmethod.go.

// declaredTypes creates and caches these types.
type declaredTypes struct {
	known sync.Map // *Type to reflect.Type
	made  sync.Map // named reflect.Type to *declaredType
	owner named.Owner

	mu      sync.Mutex // guards builder
	builder layout.Builder
}

// A rawType is the type in lowered code of values of a declared type.
type rawType struct{ reflect.Type }

// newDeclared makes the named type for n, whose memory is like that of memory. The builder calls it.
func (r *Registry) newDeclared(n *types.Named, memory reflect.Type) (*named.Type, error) {
	d := &declaredType{t: r.Describe(n)}
	d.declared = d.t.declaredMethods()
	if memory.Kind() != reflect.Interface {
		d.methods = r.compiledMethods(d.t.pointer())
	}
	declaration := named.Declaration{Name: d.t.name, Path: origin.ImportPath(n.Obj().Pkg()), Memory: memory}
	own := d.t.set.Load()
	for _, m := range d.methods {
		declaration.Methods = append(declaration.Methods, named.MethodName{Name: m.name, Pointer: own == nil || own.find(m.name) == nil})
	}
	made, err := r.declared.owner.New(declaration)
	if err != nil {
		return nil, err
	}
	d.made = made
	r.declared.made.Store(made.Type(), d)
	return made, nil
}

// completeDeclared gives a type of newDeclared its parts and methods. The builder calls it.
func (r *Registry) completeDeclared(_ *types.Named, made *named.Type, parts named.Parts) error {
	known, _ := r.declared.made.Load(made.Type())
	d := known.(*declaredType)
	return made.Complete(parts, namedMethods(d.methods, d.receiver))
}

// setRaw gives the methods of the types in e the raw types of their receivers.
func (e encoded) setRaw() {
	e.parts(func(w view, t reflect.Type) {
		if d, ok := e.r.declared.made.Load(t); ok {
			d.(*declaredType).raw.CompareAndSwap(nil, &rawType{w.t})
		}
	})
}

// outdated returns the declared types in e that have got methods since they were made.
func (e encoded) outdated() (list []*types.Named) {
	e.parts(func(w view, t reflect.Type) {
		if d, ok := e.r.declared.made.Load(t); ok && d.(*declaredType).declared != w.d.declaredMethods() {
			list = append(list, types.Unalias(w.d.typ).(*types.Named))
		}
	})
	return list
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

// Close releases what is shared with other sessions of the process. No code of the
// session's cells may run any more.
func (r *Registry) Close() { r.declared.owner.Close() }

// An EncodingError reports a value of a cell that an encoding package would not handle
// as it does in compiled Go.
type EncodingError struct {
	Package, Unseen string
	withoutType     error // why there is no type with the methods, if that is the reason
}

func (e *EncodingError) Error() string { return fmt.Sprintf("%s does not see %s", e.Package, e.Unseen) }

func (e *EncodingError) Unwrap() error { return e.withoutType }

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

// encodable returns x as the package must see it. It panics with an *EncodingError if the package would miss
// something that the cell declares.
func (r *Registry) encodable(pkg string, x any) encoded {
	b, ok := r.unbox(x)
	if !ok {
		return encoded{value: x}
	}
	v := reflect.ValueOf(b.V)
	t := r.encodableType(pkg, view{b.T, v.Type()})
	if t == v.Type() {
		return encoded{r, b.V, b, t}
	}
	return encoded{r, underlying(v, t).Interface(), b, t}
}

// encodableType returns the type that a package must see for values of type w. It panics
// with an *EncodingError if the package would miss something that the cell declares.
func (r *Registry) encodableType(pkg string, w view) reflect.Type {
	if w.d == nil || types.IsInterface(w.d.typ) {
		return w.t
	}
	for {
		t, err := r.declaredType(w.d)
		if noType := (&named.UnsupportedError{}); errors.As(err, &noType) {
			panic(&EncodingError{pkg, fmt.Sprintf("the methods of %s: %s", w.d.name, err), err})
		}
		if exhausted := (&named.ExhaustedError{}); errors.As(err, &exhausted) {
			panic(&EncodingError{pkg, fmt.Sprintf("the methods of %s: %s", w.d.name, err), err})
		}
		if err != nil || !sameLayout(w.t, t, map[reflect.Type]bool{}) {
			panic(&EncodingError{Package: pkg, Unseen: "the fields of " + w.d.name + "; encode a simpler type, or the fields one by one"})
		}
		e := encoded{r, nil, Box{w.d, reflect.Zero(w.t).Interface()}, t}
		outdated := e.outdated()
		if outdated == nil {
			e.setRaw()
			return t
		}
		r.declared.forget(outdated)
	}
}

// forget makes declaredType make the types and all that mention them again.
func (t *declaredTypes) forget(all []*types.Named) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known.Clear()
	t.builder.Forget(all...)
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
