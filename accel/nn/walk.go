package nn

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unsafe"

	"github.com/quernlab/quern/accel/tensor"
)

// walk finds the parts of a module. It goes through structs (with unexported fields), pointers,
// interfaces, slices, arrays and maps in the order of declaration (map keys are sorted). It
// calls visit once for every tensor and every other value on the way. path is the field names
// from the root; it is valid only during the call.
func walk(root any, visit func(path []string, v any)) {
	w := walker{visit: visit, seen: map[visited]bool{}}
	w.value(nil, reflect.ValueOf(root))
}

type walker struct {
	visit func(path []string, v any)
	null  func(path []string) // called for each module that is nil; nil for none
	seen  map[visited]bool
}

type visited struct {
	at     unsafe.Pointer
	typ    reflect.Type
	length int // of a slice
}

// sequence is implemented by the containers of this package, whose parts are named by their
// index.
type sequence interface{ parts() []Module }

var tensorType = reflect.TypeFor[*tensor.Tensor]()

// value visits v and its parts.
func (w *walker) value(path []string, v reflect.Value) {
	if !v.IsValid() || !mayHold(v.Type()) || v.Type() == reflect.TypeFor[slotTensors]() {
		return
	}
	if k := v.Kind(); w.null != nil && (k == reflect.Interface || k == reflect.Pointer) && v.IsNil() && v.Type().Implements(reflect.TypeFor[Module]()) {
		w.null(path)
	}
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() && partOfModel(v.Elem()) {
			w.value(path, v.Elem())
		}
		return
	case reflect.Pointer:
		if v.IsNil() || !w.first(v, 0) {
			return
		}
	}
	if v.CanInterface() {
		x := v.Interface()
		w.visit(path, x)
		if s, ok := x.(sequence); ok {
			for i, part := range s.parts() {
				w.value(append(path, strconv.Itoa(i)), reflect.ValueOf(part))
			}
			return
		}
		if v.Type() == tensorType {
			return
		}
		if l, ok := x.(lazy); ok {
			for _, s := range l.slots() {
				if s.listed {
					w.value(append(path, s.name), reflect.ValueOf(*s.at))
				}
			}
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		w.value(path, v.Elem())
	case reflect.Struct:
		w.fields(path, v)
	case reflect.Slice:
		if v.Len() == 0 || !w.first(v, v.Len()) {
			return
		}
		w.elements(path, v)
	case reflect.Array:
		w.elements(path, v)
	case reflect.Map:
		if v.IsNil() || !w.first(v, 0) {
			return
		}
		keys := v.MapKeys()
		names := map[string]reflect.Value{}
		var order []string
		for _, k := range keys {
			name := fmt.Sprint(k)
			names[name] = k
			order = append(order, name)
		}
		slices.Sort(order)
		for _, name := range order {
			w.value(append(path, name), v.MapIndex(names[name]))
		}
	}
}

func (w *walker) elements(path []string, v reflect.Value) {
	for i := range v.Len() {
		w.value(append(path, strconv.Itoa(i)), v.Index(i))
	}
}

func (w *walker) fields(path []string, v reflect.Value) {
	if !v.CanAddr() {
		// A copy is addressable, so that its unexported fields can be read.
		c := reflect.New(v.Type()).Elem()
		if !v.CanInterface() {
			return
		}
		c.Set(v)
		v = c
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !mayHold(f.Type) {
			continue
		}
		field := v.Field(i)
		if !f.IsExported() {
			// Most structs keep their modules in unexported fields, which are only read here.
			field = reflect.NewAt(f.Type, field.Addr().UnsafePointer()).Elem()
		}
		name, embedded := fieldName(v.Type(), f.Name), f.Anonymous
		if other, ok := f.Tag.Lookup(nameTag); ok {
			name, embedded = other, other == ""
		}
		if embedded {
			w.value(path, field)
			continue
		}
		w.value(append(path, name), field)
	}
}

// nameTag is the key of a struct tag with the name of a field in the path of its parameters.
const nameTag = "nn"

// first reports whether a pointer is visited for the first time, which ends cycles and counts
// shared parameters once.
func (w *walker) first(v reflect.Value, length int) bool {
	key := visited{v.UnsafePointer(), v.Type(), length}
	if w.seen[key] {
		return false
	}
	w.seen[key] = true
	return true
}

// partOfModel reports whether walk follows an interface to a value: a module, a tensor, or a
// container of an unnamed type. It does not follow a context or a logger in a module, since
// these lead to unrelated data.
func partOfModel(v reflect.Value) bool {
	t := v.Type()
	switch {
	case t == tensorType, t.Implements(reflect.TypeFor[Module]()):
		return true
	case t.Kind() == reflect.Pointer:
		t = t.Elem()
	}
	return t.Name() == ""
}

// fieldName returns the name of a field in the path of a parameter. Fields of this package's
// layers are in snake case, as in the files of other frameworks: in_proj_weight.
func fieldName(t reflect.Type, name string) string {
	if t.PkgPath() == reflect.TypeFor[walker]().PkgPath() {
		return snakeCase(name)
	}
	return name
}

// snakeCase converts runningMean to running_mean.
func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// holds caches the results of mayHold.
var holds sync.Map // reflect.Type to bool

// mayHold reports whether a value of the type can lead to a tensor, so that walk does not
// iterate over large slices of numbers.
func mayHold(t reflect.Type) bool {
	if known, ok := holds.Load(t); ok {
		return known.(bool)
	}
	found := leadsToTensor(t, map[reflect.Type]bool{})
	holds.Store(t, found)
	return found
}

func leadsToTensor(t reflect.Type, open map[reflect.Type]bool) bool {
	if t == tensorType || t.Implements(reflect.TypeFor[modeSetter]()) {
		return true
	}
	if open[t] {
		return false // a recursive type holds a tensor elsewhere or not at all
	}
	open[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return leadsToTensor(t.Elem(), open)
	case reflect.Struct:
		for i := range t.NumField() {
			if leadsToTensor(t.Field(i).Type, open) {
				return true
			}
		}
	}
	return false
}

// nilModules implements [layer.NilModules].
func nilModules(model any) (paths []string) {
	w := walker{visit: func([]string, any) {}, seen: map[visited]bool{}}
	w.null = func(path []string) { paths = append(paths, strings.Join(path, ".")) }
	w.value(nil, reflect.ValueOf(model))
	return paths
}
