package rt

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

func (e *jsonEncoder) keyAllowed(key view) bool {
	switch key.kind() {
	case reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return key.has(marshalText) || key.d != nil && key.kind() == reflect.Interface && e.registry.interfaceHas(key.d, marshalText)
}

func (e *jsonEncoder) mapping(w view, v reflect.Value) error {
	type member struct {
		name  string
		value reflect.Value
	}
	members := make([]member, 0, v.Len())
	for i := v.MapRange(); i.Next(); {
		name, err := e.keyName(w.key(), i.Key())
		if err != nil {
			if jsonV2 {
				return err
			}
			return fmt.Errorf("json: encoding error for type %q: %q", w.String(), err.Error())
		}
		members = append(members, member{name, i.Value()})
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	elem := w.elem()
	e.out.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			e.out.WriteByte(',')
		}
		if err := e.text(m.name); err != nil {
			return err
		}
		e.out.WriteByte(':')
		if err := e.encodeAt(m.name, elem, m.value, false); err != nil {
			return err
		}
	}
	e.out.WriteByte('}')
	return nil
}

func (e *jsonEncoder) keyName(w view, k reflect.Value) (string, error) {
	if jsonV2 {
		return e.keyName2(w, k)
	}
	if k.Kind() == reflect.String {
		return k.String(), nil
	}
	if k.Kind() == reflect.Interface {
		if k.IsNil() {
			return "", nil
		}
		w, k = e.registry.viewOf(k.Elem())
	}
	if w.has(marshalText) {
		if k.Kind() == reflect.Pointer && k.IsNil() {
			return "", nil
		}
		var text []byte
		var err error
		if w.d == nil {
			text, err = k.Interface().(interface{ MarshalText() ([]byte, error) }).MarshalText()
		} else {
			text, err = call0x2[[]byte, error](Box{w.d, k.Interface()}, "MarshalText")
		}
		return string(text), err
	}
	if k.CanInt() {
		return strconv.FormatInt(k.Int(), 10), nil
	}
	return strconv.FormatUint(k.Uint(), 10), nil
}
