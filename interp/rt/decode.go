package rt

import (
	"cmp"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"go/types"
	"go/version"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/origin"
)

// Interfaces of cells have no methods for compiled packages, so decoders store any value in them. Afterwards, the functions in this
// file remove what does not implement its interface, and return the error of the package.

// DecodeGob is d.Decode(x).
func (r *Registry) DecodeGob(d *gob.Decoder, x any) error {
	err := d.Decode(x)
	if bad := r.misfitIn(x); bad != nil && err == nil {
		return fmt.Errorf("gob: %T is not assignable to type %s", bad.value, bad.in.name)
	}
	return err
}

// JSONUnmarshal is json.Unmarshal.
func (r *Registry) JSONUnmarshal(data []byte, x any) error {
	return r.decodedJSON(json.Unmarshal(data, x), x)
}

// JSONDecode is d.Decode(x).
func (r *Registry) JSONDecode(d *json.Decoder, x any) error { return r.decodedJSON(d.Decode(x), x) }

// decodedJSON returns the error of decoding x. err is what encoding/json has returned.
func (r *Registry) decodedJSON(err error, x any) error {
	bad := r.misfitIn(x)
	if bad == nil || err != nil {
		return err
	}
	kind := "object"
	switch reflect.TypeOf(bad.value).Kind() {
	case reflect.Slice:
		kind = "array"
	case reflect.Bool:
		kind = "bool"
	case reflect.Float64:
		kind = "number"
	case reflect.String:
		kind = "string"
		if _, ok := bad.value.(json.Number); ok {
			kind = "number"
		}
	}
	made, _ := r.declared.interfaces.Load(bad.in)
	e := &json.UnmarshalTypeError{Value: kind, Type: made.(reflect.Type), Struct: bad.structure}
	var path []string
	for _, s := range bad.path {
		if s.field || fromRoot {
			path = append(path, s.name)
		}
	}
	e.Field = strings.Join(path, ".")
	if fromRoot && len(path) > 0 {
		t := reflect.TypeOf(x)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		e.Struct = t.Name()
	}
	return e
}

// fromRoot reports whether an UnmarshalTypeError has the type of the root and the whole path to the value, as since Go 1.27. Before,
// it had the innermost struct and only the names of fields.
var fromRoot = version.Compare(runtime.Version(), "go1.27") >= 0

// misfit is a value in an interface that it does not implement.
type misfit struct {
	value     any
	in        *Type
	structure string // the name of the innermost struct on the way
	path      []step
}

// step is a field, an index or a key on the way to a value.
type step struct {
	name  string
	field bool
}

// misfitIn removes the values from the interfaces in the target x of a decoder that do not implement them, and returns the first one,
// or nil.
func (r *Registry) misfitIn(x any) *misfit {
	b, ok := r.unbox(x)
	if !ok {
		return nil
	}
	s := misfits{r: r, seen: map[reachable]bool{}, reaches: map[reflect.Type]bool{}}
	s.visit(view{b.T, reflect.TypeOf(b.V)}, reflect.ValueOf(b.V))
	return s.found
}

type misfits struct {
	r         *Registry
	found     *misfit // the first one
	structure string
	path      []step
	seen      map[reachable]bool
	reaches   map[reflect.Type]bool // see reachesInterface
}

// reachesInterface reports whether a value of type t may lead to an interface.
func (s *misfits) reachesInterface(t reflect.Type) bool {
	known, ok := s.reaches[t]
	if !ok {
		known = leadsToInterface(t, map[reflect.Type]bool{})
		s.reaches[t] = known
	}
	return known
}

// leadsToInterface is reachesInterface, apart from the types on the way to t.
func leadsToInterface(t reflect.Type, way map[reflect.Type]bool) bool {
	if way[t] {
		return false
	}
	way[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return leadsToInterface(t.Elem(), way)
	case reflect.Map:
		return leadsToInterface(t.Key(), way) || leadsToInterface(t.Elem(), way)
	case reflect.Struct:
		for i := range t.NumField() {
			if leadsToInterface(t.Field(i).Type, way) {
				return true
			}
		}
	}
	return false
}

// first reports whether v, a pointer, slice or map, has not been visited.
func (s *misfits) first(v reflect.Value, length int) bool {
	if v.IsNil() {
		return false
	}
	key := reachable{v.Pointer(), v.Type(), length}
	known := s.seen[key]
	s.seen[key] = true
	return !known
}

// in is visit for a component of the value that is being visited.
func (s *misfits) in(at step, w view, v reflect.Value) (is bool) {
	s.path = append(s.path, at)
	defer func() { s.path = s.path[:len(s.path)-1] }()
	return s.visit(w, v)
}

// visit looks for misfits in v, a raw value of w. It reports whether v itself is one.
func (s *misfits) visit(w view, v reflect.Value) (is bool) {
	if w.d == nil || !w.sameKind() || !s.reachesInterface(v.Type()) {
		return false
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return false
		}
		x := v.Elem().Interface()
		if w.d.compiled == nil && !s.r.Implements(x, w.d) {
			if s.found == nil {
				s.found = &misfit{x, w.d, s.structure, slices.Clone(s.path)}
			}
			if v.CanSet() {
				v.SetZero()
			}
			return true
		}
		of, raw := s.r.viewOf(reflect.ValueOf(x))
		s.visit(of, raw)
	case reflect.Pointer:
		if s.first(v, 0) {
			s.visit(w.elem(), v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Array || s.first(v, v.Len()) {
			for i := range v.Len() {
				s.in(step{name: strconv.Itoa(i)}, w.elem(), v.Index(i))
			}
		}
	case reflect.Map:
		if s.first(v, 0) {
			for _, key := range v.MapKeys() {
				switch {
				case s.visit(w.key(), key):
					v.SetMapIndex(key, reflect.Value{})
				case s.in(step{name: fmt.Sprint(key)}, w.elem(), v.MapIndex(key)):
					v.SetMapIndex(key, reflect.Zero(v.Type().Elem()))
				}
			}
		}
	case reflect.Struct:
		if len(w.d.shape().fields) != v.NumField() {
			return false
		}
		outer := s.structure
		for i := range v.NumField() {
			f, of := w.field(i)
			s.structure = w.name()
			name, _, _ := strings.Cut(f.tag.Get("json"), ",")
			s.in(step{cmp.Or(name, f.name), true}, of, v.Field(i))
		}
		s.structure = outer
	}
	return false
}

// registerGob is gob.RegisterName(name, x), or gob.Register(x) if name is empty. Package
// encoding/gob keeps the first type of a name until the process ends.
func (r *Registry) registerGob(name string, x any) {
	b, ok := r.unbox(x)
	switch {
	case ok && name == "":
		name = gobName(b.T)
	case name == "":
		gob.Register(x)
		return
	case !ok:
		gob.RegisterName(name, x)
		return
	}
	defer func() {
		text, ok := recover().(string)
		if !ok {
			return
		}
		if strings.HasPrefix(text, "gob: registering duplicate types for ") {
			old, _ := r.gobNames.Load(name)
			if t, ok := old.(*Type); !ok || t.name == b.T.name {
				text = fmt.Sprintf("gob: the name %q is registered for an earlier definition of %s, which package encoding/gob cannot forget: "+
					"restart the kernel, or register the type under another name with gob.RegisterName", name, b.T.name)
			}
		}
		panic(text)
	}()
	gob.RegisterName(name, x)
	parts(view{b.T, reflect.TypeOf(b.V)}, reflect.TypeOf(x), func(_ view, t reflect.Type) {
		if d, ok := r.declared.made.Load(t); ok {
			d.(*declaredType).made.Keep()
		}
	})
	r.gobNames.Store(name, b.T)
}

// gobName returns the name under which gob.Register registers t.
func gobName(t *Type) string {
	stars, base := "", types.Unalias(t.typ)
	if p, ok := base.(*types.Pointer); ok {
		stars, base = "*", types.Unalias(p.Elem())
	}
	n, ok := base.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return t.name
	}
	_, name, _ := strings.Cut(t.name, ".")
	return stars + origin.ImportPath(n.Obj().Pkg()) + "." + name
}
