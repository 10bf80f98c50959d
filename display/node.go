package display

import (
	"fmt"
	"reflect"
)

// Structured is a value whose type package reflect does not know, as that of a
// type that was declared in a cell. GoType is the type as it was declared; Raw
// is the value in a form that has the same structure, the fields of structs in
// the same order; Part makes of a component of Raw and its declared type the
// value that Go code would see.
type Structured interface {
	GoType() reflect.Type
	Raw() any
	Part(declared reflect.Type, raw any) any
}

// node is a value on the way through a larger one.
type node struct {
	typ    reflect.Type  // as declared; nil for a nil interface
	value  reflect.Value // its structure
	parent Structured    // makes the components; nil if they are what they seem
	shown  any           // what to give to fmt: the value, or its reflect.Value where it is hidden
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

// child is a component of n.
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

// entry is one of a map.
type entry struct{ key, value node }

// entries are those of a map, in no order.
func (n node) entries() []entry {
	entries := make([]entry, 0, n.value.Len())
	for i := n.value.MapRange(); i.Next(); { // a key that is NaN is found in no other way
		entries = append(entries, entry{n.child(n.typ.Key(), i.Key()), n.child(n.typ.Elem(), i.Value())})
	}
	return entries
}

func (n node) field(i int) (name string, child node) {
	f := n.typ.Field(i)
	return f.Name, n.child(f.Type, n.value.Field(i))
}

// target is what a pointer points to, and false for all else.
func (n node) target() (node, bool) {
	if n.kind() != reflect.Pointer || n.value.IsNil() {
		return n, false
	}
	return n.child(n.typ.Elem(), n.value.Elem()), true
}

// speaks reports whether the value has a text of its own.
func (n node) speaks() bool {
	switch n.shown.(type) {
	case reflect.Value: // before Stringer, which it is
		return false // what is hidden has no methods for fmt
	case error, fmt.Stringer:
		return true
	case Structured:
		return false // prints itself as fmt would
	case fmt.Formatter:
		return true
	}
	return false
}

// line is the value as fmt prints it, but for the monotonic clock in times.
func (n node) line() string {
	text := fmt.Sprintf("%+v", n.shown)
	if (composite(n.kind()) || n.kind() == reflect.Pointer) && holdsTime(n.typ) {
		text = reading.ReplaceAllString(text, "$1")
	}
	return text
}
