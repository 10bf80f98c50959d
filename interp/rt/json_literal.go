package rt

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// literal stores a string, number, true, false or null in v. start is its offset.
// quoted reports whether it was inside a string, because of the option "string" or
// because it is a key. Then it need not be valid JSON.
func (d *jsonDecoder) literal(item []byte, w view, v reflect.Value, start int, quoted bool) error {
	misuse := func(w view) error {
		return fmt.Errorf("json: invalid use of ,string struct tag, trying to unmarshal %q into %v", item, w)
	}
	if len(item) == 0 {
		d.save(misuse(w))
		return nil
	}
	end := start + len(item)
	if quoted {
		end = d.pos
	}
	t := d.find(w, v, item[0] == 'n')
	switch {
	case t.unmarshal != nil:
		return t.unmarshal(item)
	case t.text != nil:
		return d.storeText(item, w, t, end, quoted, misuse)
	}
	w, v = t.view, t.value
	switch c := item[0]; {
	case c == 'n':
		if quoted && string(item) != "null" {
			d.save(misuse(w))
			return nil
		}
		switch v.Kind() {
		case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice:
			v.SetZero()
		}
	case c == 't' || c == 'f':
		if quoted && string(item) != "true" && string(item) != "false" {
			d.save(misuse(w))
			return nil
		}
		switch {
		case v.Kind() == reflect.Bool:
			v.SetBool(c == 't')
		case v.Kind() == reflect.Interface && w.methods() == 0:
			v.Set(reflect.ValueOf(c == 't'))
		case quoted && v.Kind() != reflect.Interface:
			d.save(misuse(w))
		default:
			d.mismatch("bool", w, end)
		}
	case c == '"':
		s, ok := unquote(item)
		if !ok {
			return misuse(w)
		}
		return d.storeString(s, item, w, v, end)
	case c != '-' && (c < '0' || c > '9'):
		return misuse(w)
	default:
		return d.storeNumber(string(item), w, v, end, quoted, misuse)
	}
	return nil
}

// storeText passes a string to an UnmarshalText method.
func (d *jsonDecoder) storeText(item []byte, w view, t target, end int, quoted bool, misuse func(view) error) error {
	if item[0] == '"' {
		s, ok := unquote(item)
		if !ok {
			return misuse(w)
		}
		return t.text([]byte(s))
	}
	if quoted {
		d.save(misuse(w))
		return nil
	}
	what := "number"
	switch item[0] {
	case 'n':
		what = "null"
	case 't', 'f':
		what = "bool"
	}
	d.mismatch(what, w, end)
	return nil
}

func (d *jsonDecoder) storeString(s string, item []byte, w view, v reflect.Value, end int) error {
	switch {
	case v.Kind() == reflect.String:
		if v.Type() == numberType && w.d == nil && !validNumber(s) {
			return fmt.Errorf("json: invalid number literal, trying to unmarshal %q into Number", item)
		}
		v.SetString(s)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			d.save(err)
			return nil
		}
		v.SetBytes(b)
	case v.Kind() == reflect.Interface && w.methods() == 0:
		v.Set(reflect.ValueOf(s))
	default:
		d.mismatch("string", w, end)
	}
	return nil
}

// validNumber reports whether s is a JSON number.
func validNumber(s string) bool {
	return s != "" && (s[0] == '-' || '0' <= s[0] && s[0] <= '9') &&
		'0' <= s[len(s)-1] && s[len(s)-1] <= '9' && json.Valid([]byte(s))
}

func (d *jsonDecoder) storeNumber(s string, w view, v reflect.Value, end int, quoted bool, misuse func(view) error) error {
	fits := true
	switch {
	case v.CanInt():
		n, err := strconv.ParseInt(s, 10, 64)
		if fits = err == nil && !v.OverflowInt(n); fits {
			v.SetInt(n)
		}
	case v.CanUint():
		n, err := strconv.ParseUint(s, 10, 64)
		if fits = err == nil && !v.OverflowUint(n); fits {
			v.SetUint(n)
		}
	case v.CanFloat():
		n, err := strconv.ParseFloat(s, v.Type().Bits())
		if fits = err == nil && !v.OverflowFloat(n); fits {
			v.SetFloat(n)
		}
	case v.Kind() == reflect.Interface:
		return d.storeNumberAny(s, w, v, end)
	case v.Type() == numberType && w.d == nil:
		v.SetString(s)
	case quoted:
		return misuse(w)
	default:
		d.mismatch("number", w, end)
	}
	if !fits {
		d.mismatch("number "+s, w, end)
	}
	return nil
}

func (d *jsonDecoder) storeNumberAny(s string, w view, v reflect.Value, end int) error {
	var n any = json.Number(s)
	if !d.useNumber {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			d.mismatch("number "+s, view{nil, reflect.TypeFor[float64]()}, end+1)
			return nil
		}
		n = f
	}
	if w.methods() != 0 {
		d.mismatch("number", w, end)
		return nil
	}
	v.Set(reflect.ValueOf(n))
	return nil
}
