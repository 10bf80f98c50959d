package rt

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
)

// jsonDecoder stores JSON text, which must be valid, in values as encoding/json does,
// but uses descriptors where encoding/json uses reflect.
type jsonDecoder struct {
	registry        *Registry
	data            []byte
	pos             int // of the next byte
	useNumber       bool
	disallowUnknown bool

	saved error // the first error that does not end the decoding

	structName string   // of the struct that is being decoded
	inStruct   bool     // whether there is one
	path       []string // names of the fields that lead to the current value
}

// decodeInto decodes the whole text into what the pointer x points to.
func (d *jsonDecoder) decodeInto(x any) error {
	w, v, err := d.registry.jsonPointer(x)
	if err != nil {
		return err
	}
	d.skipSpace()
	if jsonV2 {
		if root := w.elem(); root.name() != "" {
			d.structName = root.name()
		}
		d.value2(w, v, false)
		if d.saved == io.EOF { //nolint:errorlint // what a method returned, which package json does not unwrap
			return json.Unmarshal(nil, new(any))
		}
		return d.saved
	}
	if err := d.value(w, v); err != nil {
		return d.located(err)
	}
	return d.saved
}

// jsonPointer returns the pointer x, into whose target a text can be decoded.
func (r *Registry) jsonPointer(x any) (view, reflect.Value, error) {
	if x == nil {
		return view{}, reflect.Value{}, &json.InvalidUnmarshalError{}
	}
	w, v := r.viewOf(reflect.ValueOf(x))
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return w, v, &json.InvalidUnmarshalError{Type: r.reflectType(w)}
	}
	return w, v, nil
}

// save records the first error that does not end the decoding.
func (d *jsonDecoder) save(err error) {
	if d.saved == nil {
		d.saved = d.located(err)
	}
}

// located adds the struct and field names to the error of a mismatch.
func (d *jsonDecoder) located(err error) error {
	mismatch, ok := err.(*json.UnmarshalTypeError) //nolint:errorlint // encoding/json does not unwrap either
	if !ok || !d.inStruct && len(d.path) == 0 && mismatch.Field == "" {
		return err
	}
	mismatch.Struct = d.structName
	path := d.path
	if mismatch.Field != "" {
		path = append(path[:len(path):len(path)], mismatch.Field)
	}
	mismatch.Field = strings.Join(path, ".")
	return err
}

// mismatch records that a JSON value does not fit the type w.
func (d *jsonDecoder) mismatch(what string, w view, offset int) {
	d.save(&json.UnmarshalTypeError{Value: what, Type: d.registry.reflectType(w), Offset: int64(offset)})
}

func (d *jsonDecoder) skipSpace() {
	for d.pos < len(d.data) && strings.IndexByte(" \t\r\n", d.data[d.pos]) >= 0 {
		d.pos++
	}
}

// expect skips white space and, if c comes next, c and the white space after it. It
// reports whether c came next.
func (d *jsonDecoder) expect(c byte) bool {
	d.skipSpace()
	if d.data[d.pos] != c {
		return false
	}
	d.pos++
	d.skipSpace()
	return true
}

// take skips one JSON value and returns its text.
func (d *jsonDecoder) take() []byte {
	start, depth := d.pos, 0
	for {
		switch c := d.data[d.pos]; c {
		case '{', '[':
			depth++
			d.pos++
		case '}', ']':
			depth--
			d.pos++
		case '"':
			d.takeString()
		case ' ', '\t', '\r', '\n', ',', ':':
			d.pos++
			continue
		default:
			for d.pos < len(d.data) && strings.IndexByte(" \t\r\n,:]}", d.data[d.pos]) < 0 {
				d.pos++
			}
		}
		if depth == 0 {
			return d.data[start:d.pos]
		}
	}
}

func (d *jsonDecoder) takeString() {
	for d.pos++; d.data[d.pos] != '"'; d.pos++ {
		if d.data[d.pos] == '\\' {
			d.pos++
		}
	}
	d.pos++
}

// unquote returns the value of a JSON string.
func unquote(item []byte) (string, bool) {
	if len(item) < 2 || item[0] != '"' || item[len(item)-1] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(item, &s)
	return s, err == nil
}

// value decodes the next JSON value into v.
func (d *jsonDecoder) value(w view, v reflect.Value) error {
	switch d.data[d.pos] {
	case '[':
		return d.array(w, v)
	case '{':
		return d.object(w, v)
	}
	start := d.pos
	return d.literal(d.take(), w, v, start, false)
}

// target is the destination of a JSON value: value, or an unmarshaling method.
type target struct {
	view
	value     reflect.Value
	unmarshal func(data []byte) error // UnmarshalJSON or UnmarshalJSONFrom
	text      func(data []byte) error
}

// find follows pointers and interfaces from v and allocates the targets of nil pointers.
// It stops at the first value that is not a pointer or whose type has an unmarshaling
// method. For null it stops at the first pointer that can be set to nil.
func (d *jsonDecoder) find(w view, v reflect.Value, null bool) target {
	w0, v0, addressed := w, v, false
	if v.Kind() != reflect.Pointer && w.named() && v.CanAddr() {
		w, v, addressed = w.pointer(), v.Addr(), true
	}
	for {
		if v.Kind() == reflect.Interface && !v.IsNil() {
			inner, raw := d.registry.viewOf(v.Elem())
			if raw.Kind() == reflect.Pointer && !raw.IsNil() && (!null || raw.Elem().Kind() == reflect.Pointer) {
				w, v, addressed = inner, raw, false
				continue
			}
		}
		if v.Kind() != reflect.Pointer || null && v.CanSet() {
			break
		}
		if v.Elem().Kind() == reflect.Interface && v.Elem().Elem().Equal(v) {
			w, v = w.elem(), v.Elem()
			break
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if v.CanInterface() {
			if jsonV2 && w.has(unmarshalJSONFrom) {
				return target{view: w, unmarshal: d.unmarshalFrom(w, v)}
			}
			if w.has(unmarshalJSON) {
				return target{view: w, unmarshal: unmarshaler(w, v, unmarshalJSON)}
			}
			if !null && w.has(unmarshalText) {
				return target{view: w, text: unmarshaler(w, v, unmarshalText)}
			}
		}
		if addressed {
			w, v, addressed = w0, v0, false
		} else {
			w, v = w.elem(), v.Elem()
		}
	}
	return target{view: w, value: v}
}

// unmarshaler returns the method m of v as a function.
func unmarshaler(w view, v reflect.Value, m wellKnown) func([]byte) error {
	if w.d != nil {
		return func(data []byte) error { return call1[error](Box{w.d, v.Interface()}, m.name, data) }
	}
	switch x := v.Interface().(type) {
	case json.Unmarshaler:
		if m.name == unmarshalJSON.name {
			return x.UnmarshalJSON
		}
	}
	return v.Interface().(interface{ UnmarshalText([]byte) error }).UnmarshalText
}

func (d *jsonDecoder) array(w view, v reflect.Value) error {
	t := d.find(w, v, false)
	switch {
	case t.unmarshal != nil:
		return t.unmarshal(d.take())
	case t.text != nil:
		d.mismatch("array", w, d.pos+1)
		d.take()
		return nil
	}
	switch w, v = t.view, t.value; {
	case v.Kind() == reflect.Interface && w.methods() == 0:
		return d.generic(v)
	case v.Kind() != reflect.Array && v.Kind() != reflect.Slice:
		d.mismatch("array", w, d.pos+1)
		d.take()
		return nil
	}
	elem, n := w.elem(), 0
	for d.pos++; !d.expect(']'); n++ {
		if n > 0 {
			d.expect(',')
		}
		if v.Kind() == reflect.Slice {
			if n >= v.Cap() {
				v.Grow(1)
			}
			if n >= v.Len() {
				v.SetLen(n + 1)
			}
		}
		if n >= v.Len() {
			d.take()
		} else if err := d.value(elem, v.Index(n)); err != nil {
			return err
		}
	}
	switch {
	case v.Kind() == reflect.Array:
		for ; n < v.Len(); n++ {
			v.Index(n).SetZero()
		}
	case n == 0:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	default:
		v.SetLen(n)
	}
	return nil
}

// generic decodes into an empty interface.
func (d *jsonDecoder) generic(v reflect.Value) error {
	start := d.pos
	decoder := json.NewDecoder(bytes.NewReader(d.take()))
	if d.useNumber {
		decoder.UseNumber()
	}
	var x any
	err := decoder.Decode(&x)
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		mismatch.Offset += int64(start)
		d.save(mismatch)
	} else if err != nil {
		return err
	}
	v.Set(reflect.ValueOf(x))
	return nil
}
