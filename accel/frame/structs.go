package frame

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"
)

// FromStructs makes a frame of a slice of structs, with a column for each exported field. The tag
// `frame:"name"` sets the name of the column, and `frame:"-"` leaves the field out; without a tag
// the name is that of the field. Fields are numbers, bools, strings, time.Time, named types of
// these, or pointers to these, where nil is a missing value.
func FromStructs(slice any) (*Frame, error) {
	v := reflect.ValueOf(slice)
	if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("frame: FromStructs of a value of type %v: use a slice of structs", reflect.TypeOf(slice))
	}
	fields, err := fieldsOf(v.Type().Elem())
	if err != nil {
		return nil, err
	}
	columns, names := make([]Column, len(fields)), map[string]bool{}
	for k, field := range fields {
		if names[field.name] {
			return nil, &ColumnError{Name: field.name, Duplicate: true}
		}
		names[field.name] = true
		columns[k] = Column{name: field.name, cells: newCells(field.kind, v.Len())}
		for i := range v.Len() {
			if err := store(columns[k].cells, i, v.Index(i).Field(field.index)); err != nil {
				return nil, fmt.Errorf("frame: field %s of struct %d: %w", field.name, i, err)
			}
		}
	}
	return build(columns, v.Len()), nil
}

// Structs fills the slice of structs to which slice points: it replaces its elements by one per row. Fields
// and columns correspond as for [FromStructs]; columns without a field are ignored. A field without a
// column is a [*ColumnError], a type that does not fit is a [*TypeError], and a missing value in a field that
// is neither a pointer nor a float is a [*MissingError].
func (f *Frame) Structs(slice any) error {
	p := reflect.ValueOf(slice)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() != reflect.Slice || p.Elem().Type().Elem().Kind() != reflect.Struct {
		return fmt.Errorf("frame: Structs with a value of type %v: use a pointer to a slice of structs", reflect.TypeOf(slice))
	}
	fields, err := fieldsOf(p.Type().Elem().Elem())
	if err != nil {
		return err
	}
	rows := reflect.MakeSlice(p.Elem().Type(), f.Len(), f.Len())
	for _, field := range fields {
		if !f.Has(field.name) {
			return &ColumnError{Name: field.name, Columns: f.Columns()}
		}
		c := f.Column(field.name)
		if c.Type() == Int && field.kind == Float {
			c.cells = &list[float64]{values: c.Floats()}
		}
		if c.Type() != field.kind {
			return c.typeError(fmt.Sprintf("a column of type %s, for the field's type %s,", field.kind, field.typ))
		}
		for i := range f.Len() {
			if err := load(c, i, rows.Index(i).Field(field.index)); err != nil {
				return err
			}
		}
	}
	p.Elem().Set(rows)
	return nil
}

type field struct {
	name  string
	index int
	typ   reflect.Type
	kind  Type
}

var timeType = reflect.TypeFor[time.Time]()

func fieldsOf(t reflect.Type) ([]field, error) {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, tagged := f.Tag.Lookup("frame")
		if !f.IsExported() || name == "-" {
			continue
		}
		if !tagged || name == "" {
			name = f.Name
		}
		kind, ok := kindOf(f.Type)
		if !ok {
			return nil, fmt.Errorf("frame: field %s of %s has type %s: use numbers, bools, strings, time.Time or pointers to these, or leave it out with the tag `frame:\"-\"`", f.Name, t, f.Type)
		}
		fields = append(fields, field{name, i, f.Type, kind})
	}
	return fields, nil
}

func kindOf(t reflect.Type) (Type, bool) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == timeType:
		return Time, true
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return Int, true
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return Float, true
	case t.Kind() == reflect.Bool:
		return Bool, true
	case t.Kind() == reflect.String:
		return Text, true
	}
	return 0, false
}

func newCells(kind Type, n int) cells {
	switch kind {
	case Float:
		return &list[float64]{values: make([]float64, n)}
	case Int:
		return &list[int]{values: make([]int, n)}
	case Bool:
		return &list[bool]{values: make([]bool, n)}
	case Text:
		return &list[string]{values: make([]string, n)}
	}
	return &list[time.Time]{values: make([]time.Time, n)}
}

// store sets cell i to the value of a field.
func store(c cells, i int, v reflect.Value) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			c.setMissing(i)
			return nil
		}
		v = v.Elem()
	}
	switch l := c.(type) {
	case *list[float64]:
		l.values[i] = v.Float()
	case *list[int]:
		if v.CanInt() {
			l.values[i] = int(v.Int())
		} else if u := v.Uint(); u > math.MaxInt {
			return errors.New("the number is beyond the range of int")
		} else {
			l.values[i] = int(u)
		}
	case *list[bool]:
		l.values[i] = v.Bool()
	case *list[string]:
		l.values[i] = v.String()
	case *list[time.Time]:
		if v.IsZero() {
			l.setMissing(i)
		} else {
			l.values[i] = v.Interface().(time.Time)
		}
	}
	return nil
}

// load sets a field to cell i.
func load(c Column, i int, v reflect.Value) error {
	if c.Missing(i) {
		if k := v.Kind(); k == reflect.Float32 || k == reflect.Float64 {
			v.SetFloat(math.NaN())
		} else if k != reflect.Pointer {
			return &MissingError{Column: c.name, Row: i}
		}
		return nil
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch l := c.cells.(type) {
	case *list[float64]:
		v.SetFloat(l.values[i])
	case *list[int]:
		n := l.values[i]
		if v.CanInt() && !v.OverflowInt(int64(n)) {
			v.SetInt(int64(n))
		} else if v.CanUint() && n >= 0 && !v.OverflowUint(uint64(n)) {
			v.SetUint(uint64(n))
		} else {
			return fmt.Errorf("frame: column %q, row %d: %d does not fit a field of type %s", c.name, i, n, v.Type())
		}
	case *list[bool]:
		v.SetBool(l.values[i])
	case *list[string]:
		v.SetString(l.values[i])
	case *list[time.Time]:
		v.Set(reflect.ValueOf(l.values[i]))
	}
	return nil
}
