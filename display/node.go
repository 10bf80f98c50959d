package display

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
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

// line returns the value as fmt prints it, without the monotonic clock reading of times, and with the text of JSON.
func (n node) line() string {
	if text, ok := n.raw(); ok {
		return text
	}
	if to, ok := n.target(); ok && composite(to.kind()) && !n.hasText() && !to.hasText() && holds(to.typ(), rawType) {
		return "&" + to.parts()
	}
	if composite(n.kind()) && !n.hasText() && holds(n.typ(), rawType) {
		return n.parts()
	}
	text := fmt.Sprintf("%+v", n.shown)
	if (composite(n.kind()) || n.kind() == reflect.Pointer) && holds(n.typ(), timeType) {
		text = reading.ReplaceAllString(text, "$1")
	}
	return text
}

// parts returns a struct, a list or a map as fmt prints it, with texts of its parts that may not be those of fmt.
func (n node) parts() string {
	var texts []string
	switch n.kind() {
	case reflect.Struct:
		for i := range n.value.NumField() {
			name, f := n.field(i)
			texts = append(texts, name+":"+f.text())
		}
		return "{" + strings.Join(texts, " ") + "}"
	case reflect.Map:
		for _, e := range sortedEntries(n) {
			texts = append(texts, e.key.text()+":"+e.value.text())
		}
		return "map[" + strings.Join(texts, " ") + "]"
	}
	for i := range n.value.Len() {
		texts = append(texts, n.index(i).text())
	}
	return "[" + strings.Join(texts, " ") + "]"
}

// text is line for a part of a value, in which fmt prints pointers as addresses.
func (n node) text() string {
	switch {
	case n.kind() == reflect.Invalid:
		return "<nil>"
	case n.kind() == reflect.Pointer && !n.hasText():
		if n.value.IsNil() {
			return "<nil>"
		}
		return fmt.Sprintf("%#x", n.value.Pointer())
	}
	return n.line()
}

// raw returns the text of a valid json.RawMessage, of which fmt prints the bytes.
func (n node) raw() (text string, ok bool) {
	if n.kind() != reflect.Slice || n.typ() != rawType {
		return "", false
	}
	return rawText(n.value.Bytes())
}

func rawText(m json.RawMessage) (text string, ok bool) {
	if m == nil {
		return "null", true
	}
	return string(m), json.Valid(m)
}

var rawType = reflect.TypeFor[json.RawMessage]()

// typeName returns the name of a type as cells write it: without the name of their package.
func typeName(t reflect.Type) string {
	return strings.ReplaceAll(own.ReplaceAllString(t.String(), ""), "interface {}", "any")
}

// own matches the qualifier of types of cells.
var own = regexp.MustCompile(`\bmain\.`)

// holds reports whether values of type t contain values of another type that fmt would print. If t is an interface, or
// contains one, they may contain a time.
func holds(t, part reflect.Type) bool { return holdsUnseen(t, part, map[reflect.Type]bool{}) }

func holdsUnseen(t, part reflect.Type, seen map[reflect.Type]bool) bool {
	if t == part {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsUnseen(t.Field(i).Type, part, seen) {
				return true
			}
		}
	case reflect.Map:
		return holdsUnseen(t.Key(), part, seen) || holdsUnseen(t.Elem(), part, seen)
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return holdsUnseen(t.Elem(), part, seen)
	case reflect.Interface:
		return part == timeType
	}
	return false
}
