package rt

import (
	"fmt"
	"iter"
	"reflect"
	"unsafe"
)

// ReflectValue replaces reflect.Value in cells: it is a raw value with its declared type.
// Methods that do not depend on the declaration are those of the raw value.
type ReflectValue struct {
	reflect.Value // the raw value; for an unexported field it has the flags of one
	r             *Registry
	d             *Type // nil for a compiled type
}

func (ReflectValue) compiledName() string { return "reflect.Value" }

// ReflectValueOf is reflect.ValueOf.
func (r *Registry) ReflectValueOf(x any) ReflectValue {
	if x == nil {
		return ReflectValue{}
	}
	w, raw := r.viewOf(reflect.ValueOf(x))
	return r.reflected(raw, w.d)
}

func (r *Registry) reflected(raw reflect.Value, d *Type) ReflectValue {
	if !raw.IsValid() {
		return ReflectValue{}
	}
	return ReflectValue{raw, r, d}
}

func (v ReflectValue) view() view { return view{v.d, v.Value.Type()} }

// Type does what the method of reflect.Value does.
func (v ReflectValue) Type() reflect.Type {
	t := v.Value.Type()
	if v.d == nil {
		return compiledType(t)
	}
	return v.r.reflectType(view{v.d, t})
}

// Interface does what the method of reflect.Value does.
func (v ReflectValue) Interface() any {
	x := v.Value.Interface()
	switch {
	case v.Kind() == reflect.Interface:
		return v.r.Plain(x)
	case v.d != nil:
		return v.d.box(x)
	}
	return x
}

// String does what the method of reflect.Value does.
func (v ReflectValue) String() string {
	if v.d == nil || v.Kind() == reflect.String {
		return v.Value.String()
	}
	return "<" + v.d.name + " Value>"
}

// Format prints the value that v holds, as fmt does for a reflect.Value.
func (v ReflectValue) Format(f fmt.State, verb rune) {
	switch {
	case !v.IsValid():
		_, _ = f.Write([]byte("<invalid reflect.Value>"))
	case v.CanInterface():
		_, _ = v.r.Fprintf(f, fmt.FormatString(f, verb), v.Interface())
	default:
		format(v.r, f, verb, func(p *printer) { p.printNested(v.d, v.Value, verb, 0, hidden) })
	}
}

// Equal does what the method of reflect.Value does.
func (v ReflectValue) Equal(u ReflectValue) bool {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if u.Kind() == reflect.Interface {
		u = u.Elem()
	}
	if v.d != u.d || v.d == nil {
		return v.d == u.d && v.Value.Equal(u.Value)
	}
	switch v.Kind() {
	case reflect.Array:
		for i := range v.Len() {
			if !v.Index(i).Equal(u.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).Equal(u.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Func, reflect.Map, reflect.Slice:
		panic("reflect.Value.Equal: values of type " + v.d.name + " are not comparable")
	}
	return v.Value.Equal(u.Value)
}

// Elem does what the method of reflect.Value does.
func (v ReflectValue) Elem() ReflectValue {
	inner := v.Value.Elem()
	switch {
	case !inner.IsValid():
		return ReflectValue{}
	case v.Kind() == reflect.Interface:
		d, raw, _ := v.r.unboxValue(inner)
		return v.r.reflected(raw, d)
	}
	return v.r.reflected(inner, v.view().elem().d)
}

// Addr does what the method of reflect.Value does.
func (v ReflectValue) Addr() ReflectValue {
	p := v.Value.Addr()
	return v.r.reflected(p, v.view().pointer().d)
}

// ReflectIndirect is reflect.Indirect.
func ReflectIndirect(v ReflectValue) ReflectValue {
	if v.Kind() != reflect.Pointer {
		return v
	}
	return v.Elem()
}

// NumField does what the method of reflect.Value does.
func (v ReflectValue) NumField() int { return withoutReplacement(v.Value).NumField() }

// Field does what the method of reflect.Value does.
func (v ReflectValue) Field(i int) ReflectValue {
	raw := withoutReplacement(v.Value).Field(i)
	if v.d == nil {
		return v.r.reflected(raw, nil)
	}
	f, w := v.view().field(i)
	if !f.exported {
		raw = unexported(raw, f.embedded)
	}
	return v.r.reflected(raw, w.d)
}

// FieldByIndex does what the method of reflect.Value does.
func (v ReflectValue) FieldByIndex(index []int) ReflectValue {
	v, err := v.FieldByIndexErr(index)
	if err != nil {
		panic("reflect: indirection through nil pointer to embedded struct")
	}
	return v
}

// FieldByIndexErr does what the method of reflect.Value does.
func (v ReflectValue) FieldByIndexErr(index []int) (ReflectValue, error) {
	for i, n := range index {
		if i > 0 && v.Kind() == reflect.Pointer && v.Value.Type().Elem().Kind() == reflect.Struct {
			if v.IsNil() {
				return ReflectValue{}, fmt.Errorf("reflect: indirection through nil pointer to embedded struct field %s", v.view().elem().name())
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v, nil
}

// FieldByName does what the method of reflect.Value does.
func (v ReflectValue) FieldByName(name string) ReflectValue {
	if v.Kind() != reflect.Struct {
		v.Value.FieldByName(name) // panics
	}
	if f, ok := v.Type().FieldByName(name); ok {
		return v.FieldByIndex(f.Index)
	}
	return ReflectValue{}
}

// FieldByNameFunc does what the method of reflect.Value does.
func (v ReflectValue) FieldByNameFunc(match func(string) bool) ReflectValue {
	if v.Kind() != reflect.Struct {
		v.Value.FieldByNameFunc(match) // panics
	}
	if f, ok := v.Type().FieldByNameFunc(match); ok {
		return v.FieldByIndex(f.Index)
	}
	return ReflectValue{}
}

// Fields does what the method of reflect.Value does.
func (v ReflectValue) Fields() iter.Seq2[reflect.StructField, ReflectValue] {
	t := v.Type()
	return func(yield func(reflect.StructField, ReflectValue) bool) {
		for i := range v.NumField() {
			if !yield(t.Field(i), v.Field(i)) {
				return
			}
		}
	}
}

// Index does what the method of reflect.Value does.
func (v ReflectValue) Index(i int) ReflectValue {
	defer keepText()
	raw := v.Value.Index(i)
	if v.Kind() == reflect.String {
		return v.r.reflected(raw, nil)
	}
	return v.r.reflected(raw, v.view().elem().d)
}

// Slice does what the method of reflect.Value does.
func (v ReflectValue) Slice(i, j int) ReflectValue {
	defer keepText()
	return v.r.reflected(v.Value.Slice(i, j), v.sliced())
}

// Slice3 does what the method of reflect.Value does.
func (v ReflectValue) Slice3(i, j, k int) ReflectValue {
	defer keepText()
	return v.r.reflected(v.Value.Slice3(i, j, k), v.sliced())
}

// sliced returns the type of a slice of v.
func (v ReflectValue) sliced() *Type {
	if v.Kind() != reflect.Array || v.d == nil {
		return v.d
	}
	return viewOfType(v.r.ReflectSliceOf(v.r.reflectType(v.view().elem()))).d
}

// rawReflectValue has the memory layout of reflect.Value.
type rawReflectValue struct {
	_, _ unsafe.Pointer
	flag uintptr
}

// Bits of the flag, as defined in package reflect.
const (
	flagStickyRO = 1 << 5 // obtained through an unexported field
	flagEmbedRO  = 1 << 6 // obtained through an unexported embedded field
	flagRO       = flagStickyRO | flagEmbedRO
)

// unexported marks v as obtained through an unexported field. In lowered code that field
// is exported.
func unexported(v reflect.Value, embedded bool) reflect.Value {
	raw := (*rawReflectValue)(unsafe.Pointer(&v))
	if embedded {
		raw.flag |= flagEmbedRO
	} else {
		raw.flag |= flagStickyRO
	}
	return v
}

// exported removes the mark.
func exported(v reflect.Value) reflect.Value {
	(*rawReflectValue)(unsafe.Pointer(&v)).flag &^= flagRO
	return v
}
