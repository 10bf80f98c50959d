package rt

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

func (d *jsonDecoder) object(w view, v reflect.Value) error {
	t := d.find(w, v, false)
	switch {
	case t.unmarshal != nil:
		return t.unmarshal(d.take())
	case t.text != nil:
		d.mismatch("object", w, d.pos+1)
		d.take()
		return nil
	}
	w, v = t.view, t.value
	switch {
	case v.Kind() == reflect.Interface && w.methods() == 0:
		return d.generic(v)
	case v.Kind() == reflect.Map && d.keyAllowed(w.key()):
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	case v.Kind() != reflect.Struct:
		d.mismatch("object", w, d.pos+1)
		d.take()
		return nil
	}
	structName, inStruct, depth := d.structName, d.inStruct, len(d.path)
	d.pos++
	for first := true; !d.expect('}'); first = false {
		if !first {
			d.expect(',')
		}
		start := d.pos
		name := d.take()
		d.expect(':')
		var err error
		if v.Kind() == reflect.Map {
			err = d.entry(w, v, name, start)
		} else {
			err = d.member(w, v, name)
		}
		if err != nil {
			return err
		}
		d.structName, d.inStruct, d.path = structName, inStruct, d.path[:depth]
	}
	return nil
}

func (d *jsonDecoder) keyAllowed(key view) bool {
	switch key.kind() {
	case reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return key.pointer().has(unmarshalText)
}

// entry decodes one entry of a map. offset is the offset of its key.
func (d *jsonDecoder) entry(w view, v reflect.Value, name []byte, offset int) error {
	elem := reflect.New(v.Type().Elem()).Elem()
	if err := d.value(w.elem(), elem); err != nil {
		return err
	}
	key := reflect.New(v.Type().Key())
	text, _ := unquote(name)
	switch k := key.Elem(); {
	case w.key().pointer().has(unmarshalText):
		if err := d.literal(name, w.key().pointer(), key, offset, true); err != nil {
			return err
		}
	case k.Kind() == reflect.String:
		k.SetString(text)
	case k.CanInt():
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || k.OverflowInt(n) {
			d.mismatch("number "+text, w.key(), offset+1)
			return nil
		}
		k.SetInt(n)
	default:
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || k.OverflowUint(n) {
			d.mismatch("number "+text, w.key(), offset+1)
			return nil
		}
		k.SetUint(n)
	}
	v.SetMapIndex(key.Elem(), elem)
	return nil
}

// member decodes one member of an object into the struct field with its name. A field
// whose name only differs in case is the second choice.
func (d *jsonDecoder) member(w view, v reflect.Value, name []byte) error {
	text, _ := unquote(name)
	var f *jsonField
	fields, _ := d.registry.jsonFields(w)
	for i := range fields {
		if fields[i].name == text {
			f = &fields[i]
			break
		}
		if f == nil && strings.EqualFold(fields[i].name, text) {
			f = &fields[i]
		}
	}
	if f == nil {
		if d.disallowUnknown {
			d.save(fmt.Errorf("json: unknown field %q", text))
		}
		d.take()
		return nil
	}
	fv, ok := d.field(w, v, f)
	d.structName, d.inStruct = w.name(), true
	d.path = append(d.path, f.name)
	switch {
	case !ok:
		d.take()
		return nil
	case !f.quoted:
		return d.value(f.typ, fv)
	}
	start := d.pos
	item := d.take()
	switch inner, isString := unquote(item); {
	case string(item) == "null":
		return d.literal(item, f.typ, fv, start, false)
	case isString:
		return d.literal([]byte(inner), f.typ, fv, start, true)
	}
	d.save(fmt.Errorf("json: invalid use of ,string struct tag, trying to unmarshal unquoted value into %v", f.typ))
	return nil
}

// field follows the path of field indices to f and allocates embedded structs behind
// nil pointers.
func (d *jsonDecoder) field(w view, v reflect.Value, f *jsonField) (reflect.Value, bool) {
	settable := true
	for i, index := range f.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				if !settable || !v.CanSet() {
					if jsonV2 {
						return v, false
					}
					d.save(fmt.Errorf("json: cannot set embedded pointer to unexported struct: %v", w.elem()))
					return v, false
				}
				v.Set(reflect.New(v.Type().Elem()))
			}
			w, v = w.elem(), v.Elem()
		}
		declared, typ := w.field(index)
		if i < len(f.index)-1 && !jsonV2 {
			d.path = append(d.path, declared.name)
		}
		settable = declared.exported
		w, v = typ, v.Field(index)
	}
	return v, true
}
