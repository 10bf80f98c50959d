package magic

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/quernlab/quern/display"
)

// size returns the number of elements of a value, or its shape, and the memory that it takes. It calls no methods but those of
// Quern's packages, and finds no memory behind the fields of other packages.
func size(v reflect.Value) string {
	shape := lengths(v)
	if inner, _, ok := shaped(v); ok {
		shape = inner
	}
	m := &measure{left: maxSteps, seen: map[seenAt]bool{}}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		m.contents(v)
	case reflect.String, reflect.Slice, reflect.Map, reflect.Array, reflect.Struct:
		if k := v.Kind(); k == reflect.Array || k == reflect.Struct && m.open(v.Type()) {
			m.bytes = int(v.Type().Size())
		}
		m.contents(v)
	}
	text := ""
	if m.bytes > 0 {
		if text = memory(m.bytes); m.left < 0 {
			text = "≥ " + text
		}
	}
	return strings.Join(nonEmpty(dimensions(shape), text), ", ")
}

func nonEmpty(texts ...string) (list []string) {
	for _, text := range texts {
		if text != "" {
			list = append(list, text)
		}
	}
	return list
}

// dimensions writes a shape.
func dimensions(shape []int) string {
	var texts []string
	for _, n := range shape {
		texts = append(texts, display.Integer(n))
	}
	return strings.Join(texts, "×")
}

// own is the beginning of the paths of Quern's packages.
const own = "github.com/quernlab/quern/"

// isShaped reports whether values of a type know their shape, as tensors and data frames do.
func isShaped(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer || !strings.HasPrefix(t.Elem().PkgPath(), own) {
		return false
	}
	return t.Implements(reflect.TypeFor[tensor]()) || t.Implements(reflect.TypeFor[frame]())
}

type tensor interface{ Shape() []int }

type frame interface {
	Len() int
	Columns() []string
}

// shaped returns the shape of a tensor and the memory of its elements, or the numbers of rows and columns of a data frame.
func shaped(v reflect.Value) (shape []int, bytes int, ok bool) {
	if !v.IsValid() || !isShaped(v.Type()) || v.IsNil() || !v.CanInterface() {
		return nil, 0, false
	}
	defer func() {
		if recover() != nil { // the memory of the tensor has been released
			shape, bytes, ok = nil, 0, false
		}
	}()
	switch x := v.Interface().(type) {
	case tensor:
		shape = x.Shape()
		if t := elementType(v); t.IsValid() {
			if s, ok := t.Interface().(interface{ Size() int }); ok {
				bytes = s.Size()
				for _, d := range shape {
					bytes *= d
				}
			}
		}
	case frame:
		shape = []int{x.Len(), len(x.Columns())}
	}
	return shape, bytes, true
}

// elementType returns the type of the elements of a tensor.
func elementType(v reflect.Value) (t reflect.Value) {
	if m := v.MethodByName("DType"); m.IsValid() && m.Type().NumIn() == 0 && m.Type().NumOut() == 1 {
		t = m.Call(nil)[0]
	}
	return t
}

// describe returns the element type of a tensor, whose text would run the recorded ops, or the columns of a data frame. ok is false
// for other values.
func describe(v reflect.Value, withShape bool) (text string, ok bool) {
	shape, _, ok := shaped(v)
	if !ok {
		return "", false
	}
	if f, ok := v.Interface().(frame); ok {
		return strings.Join(f.Columns(), ", "), true
	}
	if t := elementType(v); t.IsValid() {
		text = fmt.Sprint(t.Interface())
	}
	if withShape {
		text += "[" + dimensions(shape) + "]"
	}
	return text, true
}

// lengths returns the length of a list, a map or a channel; for lists of equally long lists, also theirs.
func lengths(v reflect.Value) []int {
	switch v.Kind() {
	case reflect.String, reflect.Map, reflect.Chan:
		return []int{v.Len()}
	case reflect.Slice, reflect.Array:
	default:
		return nil
	}
	shape := []int{v.Len()}
	if k := v.Type().Elem().Kind(); v.Len() == 0 || k != reflect.Slice && k != reflect.Array {
		return shape
	}
	first := lengths(v.Index(0))
	for i := range v.Len() {
		inner := lengths(v.Index(i))
		for j := range first {
			if j == len(inner) || inner[j] != first[j] {
				first = first[:j]
				break
			}
		}
	}
	return append(shape, first...)
}

// maxSteps is the number of values that are measured.
const maxSteps = 2_000_000

// A measure adds up the memory of values.
type measure struct {
	bytes int
	left  int // steps
	seen  map[seenAt]bool
}

// seenAt is memory that has been counted.
type seenAt struct {
	at uintptr
	t  reflect.Type
}

// open reports whether a measure looks into values of type t: not into those of other packages, whose goroutines may change them.
func (m *measure) open(t reflect.Type) bool { return t.PkgPath() == "" || t.PkgPath() == "main" }

// contents adds the memory to which v refers, without that of v itself.
func (m *measure) contents(v reflect.Value) {
	if m.left--; m.left < 0 {
		return
	}
	count := func(at uintptr, bytes int) (first bool) {
		key := seenAt{at, v.Type()}
		if m.seen[key] {
			return false
		}
		m.seen[key] = true
		m.bytes += bytes
		return true
	}
	switch v.Kind() {
	case reflect.String:
		m.bytes += v.Len()
	case reflect.Interface:
		if e := v.Elem(); e.IsValid() {
			if e.Kind() != reflect.Pointer && m.open(e.Type()) {
				m.bytes += int(e.Type().Size())
			}
			m.contents(e)
		}
	case reflect.Pointer:
		if _, bytes, ok := shaped(v); ok {
			count(v.Pointer(), bytes)
		} else if t := v.Type().Elem(); !v.IsNil() && m.open(t) && count(v.Pointer(), int(t.Size())) {
			m.contents(v.Elem())
		}
	case reflect.Slice:
		if t := v.Type().Elem(); v.Len() > 0 && count(v.Pointer(), v.Len()*int(t.Size())) && refers(t) {
			m.elements(v)
		}
	case reflect.Array:
		if refers(v.Type().Elem()) {
			m.elements(v)
		}
	case reflect.Struct:
		if m.open(v.Type()) {
			for _, f := range v.Fields() {
				m.contents(f)
			}
		}
	case reflect.Map:
		t := v.Type()
		if !v.IsNil() && count(v.Pointer(), v.Len()*int(t.Key().Size()+t.Elem().Size())) && (refers(t.Key()) || refers(t.Elem())) {
			for i := v.MapRange(); m.left >= 0 && i.Next(); {
				m.contents(i.Key())
				m.contents(i.Value())
			}
		}
	}
}

func (m *measure) elements(v reflect.Value) {
	for i := 0; i < v.Len() && m.left >= 0; i++ {
		m.contents(v.Index(i))
	}
}

// refers reports whether values of type t may refer to other memory.
func refers(t reflect.Type) bool {
	switch k := t.Kind(); {
	case k == reflect.Array:
		return refers(t.Elem())
	case k == reflect.Struct:
		for i := range t.NumField() {
			if refers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return k == reflect.String || k > reflect.Array && k != reflect.Func && k != reflect.Chan
	}
}

// memory returns a number of bytes in a unit that leaves at most three digits.
func memory(bytes int) string {
	value, unit := float64(bytes), "B"
	for _, larger := range []string{"kB", "MB", "GB", "TB"} {
		if value < 1000 {
			break
		}
		value, unit = value/1000, larger
	}
	return fmt.Sprintf("%.3g %s", value, unit)
}
