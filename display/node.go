package display

import (
	"fmt"
	"reflect"
)

// node is a part of a value while Format or Table traverses it.
type node struct {
	value reflect.Value // invalid for a nil interface
	shown any           // what fmt prints: the value, or its reflect.Value if it is unexported
}

func nodeOf(x any) node {
	x = withoutMonotonic(x)
	return node{reflect.ValueOf(x), x}
}

// component returns the node of a component of a value.
func component(v reflect.Value) node {
	if v.Kind() == reflect.Interface {
		if v.IsNil() {
			return node{}
		}
		v = v.Elem()
	}
	if !v.CanInterface() {
		return node{v, v}
	}
	return nodeOf(v.Interface())
}

func (n node) kind() reflect.Kind { return n.value.Kind() }

func (n node) typ() reflect.Type { return n.value.Type() }

func (n node) index(i int) node { return component(n.value.Index(i)) }

// entry is a map entry.
type entry struct{ key, value node }

// entries returns the entries of a map in no particular order.
func (n node) entries() []entry {
	entries := make([]entry, 0, n.value.Len())
	for i := n.value.MapRange(); i.Next(); { // MapIndex does not find NaN keys
		entries = append(entries, entry{component(i.Key()), component(i.Value())})
	}
	return entries
}

func (n node) field(i int) (name string, child node) {
	return n.typ().Field(i).Name, component(n.value.Field(i))
}

// target returns what a pointer points to; ok is false for other values.
func (n node) target() (node, bool) {
	if n.kind() != reflect.Pointer || n.value.IsNil() {
		return n, false
	}
	return component(n.value.Elem()), true
}

// hasText reports whether the value has its own text form.
func (n node) hasText() bool {
	switch n.shown.(type) {
	case reflect.Value: // before Stringer, which it implements
		return false // fmt calls no methods of unexported values
	case error, fmt.Stringer, fmt.Formatter:
		return true
	}
	return false
}

// line returns the value as fmt prints it, without the monotonic clock reading of times.
func (n node) line() string {
	text := fmt.Sprintf("%+v", n.shown)
	if (composite(n.kind()) || n.kind() == reflect.Pointer) && holdsTime(n.typ()) {
		text = reading.ReplaceAllString(text, "$1")
	}
	return text
}
