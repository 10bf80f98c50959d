package rt

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// unsupportedStruct returns the error of encoding a struct that is invalid because of err.
func unsupportedStruct(err error) error {
	if format, ok := errors.AsType[unsupportedFormat](err); ok {
		return &json.UnsupportedValueError{Str: format.Error()}
	}
	return err
}

// keyName2 is keyName by the rules of encoding/json/v2: a key is any value that is encoded as a string or a number,
// but a string does not call its methods, and only methods of the value, not of its address, are called.
func (e *jsonEncoder) keyName2(w view, k reflect.Value) (string, error) {
	switch k.Kind() {
	case reflect.String:
		return k.String(), nil
	case reflect.Interface:
		if k.IsNil() {
			return "", e.notAName()
		}
		inner, raw := e.registry.viewOf(k.Elem())
		return e.keyName2(inner, raw)
	case reflect.Pointer:
		if !k.IsNil() {
			k = k.Elem()
			w = w.elem()
			if text, ok, err := e.keyText(w.pointer(), k.Addr()); ok {
				return text, err
			}
			return e.keyName2(w, k)
		}
		if w.has(marshalText) || w.has(appendText) {
			return "", nil
		}
		return "", e.notAName()
	}
	if text, ok, err := e.keyText(w, k); ok {
		return text, err
	}
	switch {
	case k.CanInt():
		return strconv.FormatInt(k.Int(), 10), nil
	case k.CanUint():
		return strconv.FormatUint(k.Uint(), 10), nil
	case k.CanFloat():
		number := jsonEncoder{registry: e.registry}
		err := number.basic(k, false)
		return number.out.String(), err
	case k.Kind() == reflect.Complex64, k.Kind() == reflect.Complex128, k.Kind() == reflect.Chan, k.Kind() == reflect.UnsafePointer:
		return "", &json.UnsupportedTypeError{Type: e.registry.reflectType(w)}
	}
	return "", e.notAName()
}

// encodeAt encodes a member of an object or an element of an array: v, at name.
func (e *jsonEncoder) encodeAt(name string, w view, v reflect.Value, quoted bool) error {
	if !jsonV2 {
		return e.encode(w, v, quoted)
	}
	e.path = append(e.path, pointerEscaper.Replace(name))
	err := e.encode(w, v, quoted)
	e.path = e.path[:len(e.path)-1]
	return err
}

// keyText returns the text of a key whose type has a method for it.
func (e *jsonEncoder) keyText(w view, k reflect.Value) (text string, ok bool, err error) {
	for _, m := range []wellKnown{appendText, marshalText} {
		if k.Kind() == reflect.Pointer && w.elem().kind() == reflect.String || !w.has(m) {
			continue
		}
		var b []byte
		switch x := k.Interface(); {
		case w.d != nil:
			b, err = e.callMarshaler(Box{w.d, x}, m)
		case m.name == appendText.name:
			b, err = x.(interface{ AppendText([]byte) ([]byte, error) }).AppendText(nil)
		default:
			b, err = x.(interface{ MarshalText() ([]byte, error) }).MarshalText()
		}
		if err != nil {
			err = e.registry.marshalerError(w, err, m.name)
		}
		return strings.ToValidUTF8(string(b), "\ufffd"), true, err
	}
	return "", false, nil
}

// notAName returns the error of encoding/json for a map with a key that is neither a string nor a number.
func (e *jsonEncoder) notAName() error {
	within := ""
	if len(e.path) > 0 {
		within = fmt.Sprintf(" within %q", "/"+strings.Join(e.path, "/"))
	}
	return &json.UnsupportedValueError{Str: fmt.Sprintf("jsontext: object member name must be a string%s after offset %d", within, e.out.Len()+len("{")+1)}
}
