package display

import (
	"fmt"
	"reflect"
)

// Structured is a value whose type is unknown to package reflect, such as one of a type
// declared in a cell. GoType returns the declared type. Raw returns the value in a form with
// the same structure and the struct fields in the same order. Part converts a component of Raw
// and its declared type to the value that Go code would see.
type Structured interface {
	GoType() reflect.Type
	Raw() any
	Part(declared reflect.Type, raw any) any
}

// node is a part of a value while Format or Table traverses it.
type node struct {
	typ    reflect.Type  // as declared; nil for a nil interface
	value  reflect.Value // its structure
	parent Structured    // converts the components; nil if they need no conversion
	shown  any           // what fmt prints: the value, or its reflect.Value if it is unexported
}

func nodeOf(x any) node {
	x = withoutMonotonic(x)
	if x == nil {
		return node{shown: x}
	}
	if s, ok := x.(Structured); ok {
		return node{s.GoType(), reflect.ValueOf(s.Raw()), s, x}
	}
	v := reflect.ValueOf(x)
	return node{v.Type(), v, nil, x}
}

// child returns a component of n.
func (n node) child(declared reflect.Type, v reflect.Value) node {
	if v.Kind() == reflect.Interface {
		if v.IsNil() {
			return node{}
		}
		v = v.Elem()
		declared = v.Type()
		if v.CanInterface() {
			return nodeOf(v.Interface())
		}
	}
	switch {
	case !v.CanInterface():
		return node{declared, v, nil, v}
	case n.parent != nil:
		return nodeOf(n.parent.Part(declared, v.Interface()))
	}
	return node{declared, v, nil, v.Interface()}
}

func (n node) kind() reflect.Kind {
	if n.typ == nil {
		return reflect.Invalid
	}
	return n.value.Kind()
}

func (n node) index(i int) node { return n.child(n.typ.Elem(), n.value.Index(i)) }

// entry is a map entry.
type entry struct{ key, value node }

// entries returns the entries of a map in no particular order.
func (n node) entries() []entry {
	entries := make([]entry, 0, n.value.Len())
	for i := n.value.MapRange(); i.Next(); { // MapIndex does not find NaN keys
		entries = append(entries, entry{n.child(n.typ.Key(), i.Key()), n.child(n.typ.Elem(), i.Value())})
	}
	return entries
}

func (n node) field(i int) (name string, child node) {
	f := n.typ.Field(i)
	return f.Name, n.child(f.Type, n.value.Field(i))
}

// target returns what a pointer points to; ok is false for other values.
func (n node) target() (node, bool) {
	if n.kind() != reflect.Pointer || n.value.IsNil() {
		return n, false
	}
	return n.child(n.typ.Elem(), n.value.Elem()), true
}

// hasText reports whether the value has its own text form.
func (n node) hasText() bool {
	switch n.shown.(type) {
	case reflect.Value: // before Stringer, which it implements
		return false // fmt calls no methods of unexported values
	case error, fmt.Stringer:
		return true
	case Structured:
		return false // prints the same as fmt
	case fmt.Formatter:
		return true
	}
	return false
}

// line returns the value as fmt prints it, without the monotonic clock reading of times.
func (n node) line() string {
	text := fmt.Sprintf("%+v", n.shown)
	if (composite(n.kind()) || n.kind() == reflect.Pointer) && holdsTime(n.typ) {
		text = reading.ReplaceAllString(text, "$1")
	}
	return text
}
