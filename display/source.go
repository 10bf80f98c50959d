package display

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// source returns the rows of a table by index.
type source struct {
	header []string
	rows   int
	row    func(i int) []node
}

func newSource(n node, columns []string) (*source, error) {
	switch n.kind() {
	case reflect.Slice, reflect.Array:
		return listSource(n, columns)
	case reflect.Map:
		return mapSource(n, columns)
	case reflect.Struct:
		return fieldSource(n, columns)
	case reflect.Invalid:
		return nil, fmt.Errorf("cannot make a table of nil")
	case reflect.Pointer:
		if n.value.IsNil() {
			return nil, fmt.Errorf("cannot make a table of a nil %s", typeName(n.typ()))
		}
	}
	return nil, fmt.Errorf("cannot make a table of %s: want a slice of structs, maps or slices, a map or a struct", typeName(n.typ()))
}

func listSource(n node, columns []string) (*source, error) {
	element := n.typ().Elem()
	kind := element.Kind()
	if kind == reflect.Pointer {
		element = element.Elem()
		kind = element.Kind()
	}
	rows := n.value.Len()
	row := func(i int) node {
		r := n.index(i)
		if to, ok := r.target(); ok {
			return to
		}
		return r
	}
	if kind == reflect.Interface && rows > 0 {
		first := row(0)
		if kind = first.kind(); kind != reflect.Invalid {
			element = first.typ()
		}
	}
	hasText := rows > 0 && n.typ().Elem().Kind() == reflect.Interface && n.index(0).hasText()
	switch {
	case kind == reflect.Struct && (len(columns) > 0 || !hasText && len(visibleFields(element)) > 0):
		return structSource(element, rows, row, columns)
	case kind == reflect.Map && !hasText:
		return keySource(rows, row, columns)
	case (kind == reflect.Slice || kind == reflect.Array) && !hasText && element != rawType:
		return sliceSource(rows, row, columns)
	}
	if len(columns) == 0 {
		columns = []string{"value"}
	}
	return &source{columns, rows, func(i int) []node { return []node{n.index(i)} }}, nil
}

// fieldNames returns the names of all fields that have one.
func fieldNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if name := t.Field(i).Name; name != "_" {
			names = append(names, name)
		}
	}
	return names
}

// visibleFields returns the names of the fields that are shown unless columns are chosen. Unexported fields of types declared in
// a cell or in package main are among them: their author wants to see all fields.
func visibleFields(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if f := t.Field(i); f.Name != "_" && (f.IsExported() || f.PkgPath == "main") {
			names = append(names, f.Name)
		}
	}
	return names
}

// structSource has a row for each struct; all have the same type.
func structSource(typ reflect.Type, rows int, row func(int) node, columns []string) (*source, error) {
	fields := map[string]int{}
	for i := range typ.NumField() {
		fields[typ.Field(i).Name] = i
	}
	for _, c := range columns {
		if _, ok := fields[c]; !ok || c == "_" {
			return nil, fmt.Errorf("%s has no field %q: it has %s", typeName(typ), c, strings.Join(fieldNames(typ), ", "))
		}
	}
	names := columns
	if len(columns) == 0 {
		names = visibleFields(typ)
	}
	return &source{names, rows, func(i int) []node {
		n := row(i)
		cells := make([]node, len(names))
		if n.kind() == reflect.Pointer { // nil
			return cells
		}
		// A type that a cell has declared again may have other fields.
		if n.kind() != reflect.Struct || n.typ() != typ && (n.typ().String() != typ.String() || !n.typ().ConvertibleTo(typ)) {
			if len(cells) > 0 {
				cells[0] = n
			}
			return cells
		}
		for j, name := range names {
			_, cells[j] = n.field(fields[name])
		}
		return cells
	}}, nil
}

// maxKeyRows is the number of rows that are searched for keys.
const maxKeyRows = 1000

// keySource has a row for each map.
func keySource(rows int, row func(int) node, columns []string) (*source, error) {
	if len(columns) == 0 {
		seen := map[string]bool{}
		for i := range min(rows, maxKeyRows) {
			if m := row(i); m.kind() == reflect.Map {
				for _, e := range m.entries() {
					seen[e.key.line()] = true
				}
			}
		}
		for k := range seen {
			columns = append(columns, k)
		}
		slices.Sort(columns)
	}
	return &source{columns, rows, func(i int) []node {
		cells := make([]node, len(columns))
		m := row(i)
		if m.kind() != reflect.Map {
			return cells
		}
		values := map[string]node{}
		for _, e := range m.entries() {
			key := e.key.line()
			if _, ok := values[key]; ok { // such as of 1 and "1" in a map[any]any
				e.value = nodeOf("several values")
			}
			values[key] = e.value
		}
		for j, c := range columns {
			cells[j] = values[c]
		}
		return cells
	}}, nil
}

// sliceSource has a row for each list.
func sliceSource(rows int, row func(int) node, columns []string) (*source, error) {
	width := len(columns)
	for i := range min(rows, maxKeyRows) {
		if r := row(i); r.kind() == reflect.Slice || r.kind() == reflect.Array {
			width = max(width, r.value.Len())
		}
	}
	header := slices.Clone(columns)
	for i := len(columns); i < width; i++ {
		header = append(header, fmt.Sprint(i))
	}
	return &source{header, rows, func(i int) []node {
		r := row(i)
		if r.kind() != reflect.Slice && r.kind() != reflect.Array {
			return []node{r}
		}
		cells := make([]node, min(r.value.Len(), width))
		for j := range cells {
			cells[j] = r.index(j)
		}
		return cells
	}}, nil
}

// mapSource has a row for each entry.
func mapSource(n node, columns []string) (*source, error) {
	entries := sortedEntries(n)
	value := func(i int) node {
		v := entries[i].value
		if to, ok := v.target(); ok {
			return to
		}
		return v
	}
	element := n.typ().Elem()
	if element.Kind() == reflect.Pointer {
		element = element.Elem()
	}
	if element.Kind() == reflect.Struct && len(entries) > 0 && !value(0).hasText() {
		values, err := structSource(element, len(entries), value, columns)
		if err != nil {
			return nil, err
		}
		return &source{append([]string{"key"}, values.header...), len(entries), func(i int) []node {
			return append([]node{entries[i].key}, values.row(i)...)
		}}, nil
	}
	header := []string{"key", "value"}
	copy(header, columns)
	return &source{header, len(entries), func(i int) []node {
		return []node{entries[i].key, value(i)}
	}}, nil
}

// fieldSource has a row for each field of one struct.
func fieldSource(n node, columns []string) (*source, error) {
	header := []string{"field", "value"}
	copy(header, columns)
	return &source{header, n.value.NumField(), func(i int) []node {
		name, f := n.field(i)
		return []node{nodeOf(name), f}
	}}, nil
}
