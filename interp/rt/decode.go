package rt

import (
	"encoding/gob"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Interfaces of cells have no methods for compiled packages, so decoders store any value in them. Afterwards, the functions in this
// file remove what does not implement its interface, and return the error of the package.

// DecodeGob is d.Decode(x).
func (r *Registry) DecodeGob(d *gob.Decoder, x any) error {
	err := d.Decode(x)
	if bad := r.misfitIn(x); bad != nil && err == nil {
		return &declaredError{fmt.Sprintf("gob: %s is not assignable to type %s", r.TypeName(bad.value), bad.in.name)}
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
	return &json.UnmarshalTypeError{Value: kind, Type: made.(reflect.Type), Struct: bad.structure, Field: strings.Join(bad.path, ".")}
}

// misfit is a value in an interface that it does not implement.
type misfit struct {
	value     any
	in        *Type
	structure string   // the name of the innermost struct on the way
	path      []string // of fields
}

// misfitIn removes the values from the interfaces in the target x of a decoder that do not implement them, and returns the first one,
// or nil.
func (r *Registry) misfitIn(x any) *misfit {
	b, ok := r.unbox(x)
	if !ok {
		return nil
	}
	s := misfits{r: r, seen: map[reachable]bool{}}
	s.visit(view{b.T, reflect.TypeOf(b.V)}, reflect.ValueOf(b.V))
	return s.found
}

type misfits struct {
	r         *Registry
	found     *misfit // the first one
	structure string
	path      []string
	seen      map[reachable]bool
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

// visit looks for misfits in v, a raw value of w. It reports whether v itself is one.
func (s *misfits) visit(w view, v reflect.Value) (is bool) {
	if w.d == nil || !w.sameKind() {
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
				s.found = &misfit{x, w.d, s.structure, append([]string(nil), s.path...)}
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
				s.visit(w.elem(), v.Index(i))
			}
		}
	case reflect.Map:
		if s.first(v, 0) {
			for _, key := range v.MapKeys() {
				switch {
				case s.visit(w.key(), key):
					v.SetMapIndex(key, reflect.Value{})
				case s.visit(w.elem(), v.MapIndex(key)):
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
			s.structure, s.path = w.name(), append(s.path, f.name)
			if name, _, _ := strings.Cut(f.tag.Get("json"), ","); name != "" {
				s.path[len(s.path)-1] = name
			}
			s.visit(of, v.Field(i))
			s.path = s.path[:len(s.path)-1]
		}
		s.structure = outer
	}
	return false
}

// declaredError is an error of a compiled package with a text of its own.
type declaredError struct{ text string }

func (e *declaredError) Error() string { return e.text }

func (*declaredError) compiledName() string { return "*errors.errorString" }
