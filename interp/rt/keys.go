package rt

import (
	"cmp"
	"reflect"
	"slices"
)

// entry is one entry of a map.
type entry struct{ key, value reflect.Value }

// sortedEntries returns the entries of a map in the order in which fmt prints them.
func (r *representations) sortedEntries(m reflect.Value) []entry {
	entries := make([]entry, 0, m.Len())
	for i := m.MapRange(); i.Next(); {
		entries = append(entries, entry{i.Key(), i.Value()})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return r.compareKeys(a.key, b.key) })
	return entries
}

// compareKeys orders two values of one type: nil first, NaN before numbers, false before
// true, pointers by address, structs and arrays element by element, interfaces by type
// and then by value.
func (r *representations) compareKeys(a, b reflect.Value) int {
	switch a.Kind() {
	case reflect.Bool:
		return boolToInt(a.Bool()) - boolToInt(b.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return cmp.Compare(a.Int(), b.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return cmp.Compare(a.Uint(), b.Uint())
	case reflect.String:
		return cmp.Compare(a.String(), b.String())
	case reflect.Float32, reflect.Float64:
		return cmp.Compare(a.Float(), b.Float())
	case reflect.Complex64, reflect.Complex128:
		x, y := a.Complex(), b.Complex()
		return cmp.Or(cmp.Compare(real(x), real(y)), cmp.Compare(imag(x), imag(y)))
	case reflect.Pointer, reflect.UnsafePointer, reflect.Chan:
		return cmp.Compare(uintptr(a.UnsafePointer()), uintptr(b.UnsafePointer()))
	case reflect.Struct:
		for i := range a.NumField() {
			if c := r.compareKeys(a.Field(i), b.Field(i)); c != 0 {
				return c
			}
		}
	case reflect.Array:
		for i := range a.Len() {
			if c := r.compareKeys(a.Index(i), b.Index(i)); c != 0 {
				return c
			}
		}
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return boolToInt(!a.IsNil()) - boolToInt(!b.IsNil())
		}
		x, av, _ := r.unboxValue(a.Elem())
		y, bv, _ := r.unboxValue(b.Elem())
		if c := compareTypes(x, av.Type(), y, bv.Type()); c != 0 {
			return c
		}
		return r.compareKeys(av, bv)
	}
	return 0
}

// compareTypes orders dynamic types: compiled types by the address of their runtime type,
// as fmt does, followed by interpreted types in the order of their creation.
func compareTypes(x *Type, xt reflect.Type, y *Type, yt reflect.Type) int {
	switch {
	case x != nil && y != nil:
		return cmp.Compare(x.id, y.id)
	case x == nil && y == nil:
		return cmp.Compare(reflect.ValueOf(xt).Pointer(), reflect.ValueOf(yt).Pointer())
	}
	return boolToInt(x != nil) - boolToInt(y != nil)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
