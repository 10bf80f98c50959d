package display

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
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
	if text, ok := n.raw(); ok {
		return text
	}
	text := fmt.Sprintf("%+v", n.shown)
	if (composite(n.kind()) || n.kind() == reflect.Pointer) && holdsTime(n.typ()) {
		text = reading.ReplaceAllString(text, "$1")
	}
	return text
}

// raw returns the text of a valid json.RawMessage, of which fmt prints the bytes.
func (n node) raw() (text string, ok bool) {
	if n.kind() != reflect.Slice || n.typ() != rawType || !json.Valid(n.value.Bytes()) {
		return "", false
	}
	return string(n.value.Bytes()), true
}

var rawType = reflect.TypeFor[json.RawMessage]()

// holdsRaw reports whether fmt would print the bytes of a json.RawMessage as part of n.
func holdsRaw(n node) bool {
	switch n.kind() {
	case reflect.Struct:
		for i := range n.value.NumField() {
			if _, f := n.field(i); f.kind() == reflect.Slice && f.typ() == rawType && f.value.Len() > 0 {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		return n.value.Len() > 0 && n.typ() != rawType && (n.typ().Elem() == rawType || n.typ().Elem().Kind() == reflect.Struct && holdsRaw(n.index(0)))
	case reflect.Pointer:
		to, ok := n.target()
		return ok && to.kind() == reflect.Struct && holdsRaw(to)
	case reflect.Map:
		return n.value.Len() > 0 && n.typ().Elem() == rawType
	}
	return false
}

// typeName returns the name of a type as cells write it: without the name of their package.
func typeName(t reflect.Type) string { return own.ReplaceAllString(t.String(), "") }

// own matches the qualifier of types of cells.
var own = regexp.MustCompile(`\bmain\.`)
