package rt

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// value2 is value by the rules of encoding/json/v2: no error ends the decoding, and errors have the path of names and
// indices in the JSON text that leads to the value. quoted reports whether the option "string" applies to v.
func (d *jsonDecoder) value2(w view, v reflect.Value, quoted bool) {
	null := d.data[d.pos] == 'n'
	t := d.find(w, v, null)
	switch {
	case t.unmarshal != nil:
		d.saveVerbatim(t.unmarshal(d.take()))
		return
	case t.text != nil:
		d.text2(t)
		return
	}
	w, v = t.view, t.value
	if v.Kind() == reflect.Interface {
		if !null {
			v.SetZero()
			d.interface2(w, v)
			return
		}
	}
	if null && !quoted {
		switch v.Kind() {
		case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice:
			v.SetZero()
		}
		d.take()
		return
	}
	switch c := d.data[d.pos]; {
	case w.d == nil && !quoted && v.CanAddr() && d.registry.jsonHoldsNoBox(v.Type()):
		d.standard2(w, v, quoted)
	case c == '{' && v.Kind() == reflect.Map:
		d.map2(w, v)
	case c == '{' && v.Kind() == reflect.Struct:
		d.struct2(w, v)
	case c == '[' && (v.Kind() == reflect.Slice || v.Kind() == reflect.Array):
		d.array2(w, v)
	case v.Kind() == reflect.Map, v.Kind() == reflect.Struct, v.Kind() == reflect.Array, v.Kind() == reflect.Slice && !isBytes2(v):
		d.mismatch2(w, nil)
	default:
		d.standard2(w, v, quoted)
	}
}

// isBytes2 reports whether a string is decoded into v as bytes.
func isBytes2(v reflect.Value) bool { return v.Type().Elem().Kind() == reflect.Uint8 }

// saveVerbatim records an error that a method returned.
func (d *jsonDecoder) saveVerbatim(err error) {
	if d.saved == nil {
		d.saved = err
	}
}

// mismatch2 skips the next value, and records that it does not fit the type w.
func (d *jsonDecoder) mismatch2(w view, cause error) {
	start := d.pos
	item := d.take()
	end := d.pos
	if item[0] == '{' || item[0] == '[' {
		end = start + 1
	}
	d.saveMismatch(jsonKind(item[0]), w, end, cause)
}

func (d *jsonDecoder) saveMismatch(what string, w view, offset int, cause error) {
	e := &json.UnmarshalTypeError{Value: what, Type: d.registry.reflectType(w), Offset: int64(offset)}
	setCause(e, cause)
	d.save(e)
}

// jsonKind returns what encoding/json calls a value that begins with c.
func jsonKind(c byte) string {
	switch c {
	case 'n':
		return "null"
	case 't', 'f':
		return "bool"
	case '"':
		return "string"
	case '[':
		return "array"
	case '{':
		return "object"
	}
	return "number"
}

var errNoString = errors.New("JSON value must be string type")

// text2 passes the next value, which must be a string, to an UnmarshalText method.
func (d *jsonDecoder) text2(t target) {
	if d.data[d.pos] != '"' {
		d.mismatch2(t.view.elem(), errNoString)
		return
	}
	s, _ := unquote(d.take())
	d.saveVerbatim(t.text([]byte(s)))
}

func (d *jsonDecoder) interface2(w view, v reflect.Value) {
	if w.methods() != 0 {
		d.saveMismatch(jsonKind(d.data[d.pos]), w, d.pos, nil)
		d.take()
		return
	}
	d.standard2(w, v, false)
}

// standard2 decodes the next value by encoding/json into v, whose type encoding/json decodes like w.
func (d *jsonDecoder) standard2(w view, v reflect.Value, quoted bool) {
	start := d.pos
	item := string(d.take())
	into := reflect.New(v.Type())
	into.Elem().Set(v)
	prefix := ""
	if quoted {
		prefix = `{"Field":`
		field := reflect.StructField{Name: "Field", Type: v.Type(), Tag: `json:",string"`}
		into = reflect.New(reflect.StructOf([]reflect.StructField{field}))
		into.Elem().Field(0).Set(v)
		item = prefix + item + "}"
	}
	decoder := json.NewDecoder(strings.NewReader(item))
	if d.useNumber {
		decoder.UseNumber()
	}
	if d.disallowUnknown {
		decoder.DisallowUnknownFields()
	}
	err := decoder.Decode(into.Interface())
	if quoted {
		v.Set(into.Elem().Field(0))
	} else {
		v.Set(into.Elem())
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		mismatch.Offset += int64(start - len(prefix))
		if quoted {
			mismatch.Field = ""
		}
		if mismatch.Field == "" && (w.d != nil || mismatch.Type == v.Type()) {
			mismatch.Type = d.registry.reflectType(w)
		}
		err = mismatch
	}
	if err != nil {
		d.save(err)
	}
}

// enter adds a name or an index to the path, in which encoding/json escapes the characters of JSON pointers.
func (d *jsonDecoder) enter(name string) { d.path = append(d.path, pointerEscaper.Replace(name)) }

// pointerEscaper escapes names in JSON pointers (RFC 6901, section 3).
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

func (d *jsonDecoder) array2(w view, v reflect.Value) {
	elem, n, depth := w.elem(), 0, len(d.path)
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
			continue
		}
		d.enter(strconv.Itoa(n))
		d.value2(elem, v.Index(n), false)
		d.path = d.path[:depth]
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
}

// members calls member for each member of an object, with the text of its name, at its value.
func (d *jsonDecoder) members(member func(text []byte, name string, end int)) {
	depth := len(d.path)
	d.pos++
	for first := true; !d.expect('}'); first = false {
		if !first {
			d.expect(',')
		}
		text := d.take()
		end := d.pos
		d.expect(':')
		name, _ := unquote(text)
		d.enter(name)
		member(text, name, end)
		d.path = d.path[:depth]
	}
}

func (d *jsonDecoder) map2(w view, v reflect.Value) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	key, elem := w.key(), w.elem()
	d.members(func(text []byte, name string, end int) {
		k := reflect.New(v.Type().Key()).Elem()
		if !d.key2(key, k, text, name, end) {
			d.take()
			return
		}
		x := reflect.New(v.Type().Elem()).Elem()
		d.value2(elem, x, false)
		v.SetMapIndex(k, x)
	})
}

// key2 decodes the name of a member into the key k of a map. It reports whether that succeeds.
func (d *jsonDecoder) key2(w view, k reflect.Value, text []byte, name string, end int) bool {
	for k.Kind() == reflect.Pointer {
		k.Set(reflect.New(k.Type().Elem()))
		w, k = w.elem(), k.Elem()
	}
	var err error
	switch {
	case w.kind() != reflect.Interface && w.pointer().has(unmarshalText):
		if err = unmarshaler(w.pointer(), k.Addr(), unmarshalText)([]byte(name)); err != nil {
			d.saveVerbatim(err)
		}
	case k.Kind() == reflect.Interface && w.methods() == 0:
		k.Set(reflect.ValueOf(name))
	case k.Kind() == reflect.Interface:
		d.path = d.path[:len(d.path)-1]
		d.saveMismatch("string", w, end-len(text), nil)
		return false
	default:
		single := reflect.New(reflect.MapOf(k.Type(), reflect.TypeFor[int]()))
		if err = json.Unmarshal([]byte("{"+string(text)+":0}"), single.Interface()); err == nil {
			for i := single.Elem().MapRange(); i.Next(); {
				k.Set(i.Key())
			}
		} else if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			mismatch.Type, mismatch.Offset, mismatch.Field = d.registry.reflectType(w), int64(end), ""
			d.save(mismatch)
		} else {
			d.saveVerbatim(err)
		}
	}
	return err == nil
}

func (d *jsonDecoder) struct2(w view, v reflect.Value) {
	fields, invalid := d.registry.jsonFields(w)
	if invalid != nil {
		d.mismatch2(w, invalid)
		return
	}
	d.members(func(text []byte, name string, end int) {
		f := fieldNamed2(fields, name)
		if f == nil {
			if d.disallowUnknown {
				d.saveVerbatim(fmt.Errorf("json: unknown field %q", name))
			}
			d.take()
			return
		}
		fv, ok := d.field(w, v, f)
		if !ok {
			d.saveMismatch(jsonKind(d.data[d.pos]), w, d.pos, errNilEmbedded)
			d.take()
			return
		}
		d.value2(f.typ, fv, f.quoted)
	})
}

// fieldNamed2 returns the field with a name, or else the first one whose name differs only in case: an outer field
// before those of embedded structs.
func fieldNamed2(fields []jsonField, name string) *jsonField {
	var found *jsonField
	for i := range fields {
		f := &fields[i]
		if f.name == name {
			return f
		}
		if !f.strict && (found == nil || len(f.index) < len(found.index)) && strings.EqualFold(f.name, name) {
			found = f
		}
	}
	return found
}
