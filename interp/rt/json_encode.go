package rt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
)

// jsonEncoder writes JSON as encoding/json does, but uses descriptors where
// encoding/json uses reflect.
type jsonEncoder struct {
	registry   *Registry
	out        bytes.Buffer
	escapeHTML bool
	level      int // nesting depth of pointers, maps and slices
	seen       map[any]bool
	path       []string // names and indices that lead to the current value, for errors since Go 1.27
}

// startDetectCyclesAfter is the depth from which on the encoder records addresses to
// detect cycles. That is slow, and values without cycles are hardly ever so deep.
const startDetectCyclesAfter = 1000

func (e *jsonEncoder) encodeAny(x any) error {
	if x == nil {
		e.out.WriteString("null")
		return nil
	}
	w, v := e.registry.viewOf(reflect.ValueOf(x))
	return e.encode(w, v, false)
}

// encode writes v, of type w. If quoted, it writes a basic value as a string.
func (e *jsonEncoder) encode(w view, v reflect.Value, quoted bool) error {
	if k := v.Kind(); w.d == nil && (k == reflect.String || k == reflect.Bool || v.CanInt()) && v.Type().PkgPath() == "" {
		return e.basic(v, quoted)
	}
	if w.d == nil && v.Kind() != reflect.Interface &&
		(hasMarshaler(v) || !quoted && e.registry.jsonHoldsNoBox(v.Type())) {
		return e.compiled(v)
	}
	if handled, err := e.byMethod(w, v); handled {
		return err
	}
	switch v.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return e.basic(v, quoted)
	case reflect.Interface:
		if v.IsNil() {
			e.out.WriteString("null")
			return nil
		}
		w, v := e.registry.viewOf(v.Elem())
		return e.encode(w, v, quoted)
	case reflect.Struct:
		return e.object(w, v)
	case reflect.Array:
		return e.array(w, v)
	case reflect.Map, reflect.Slice, reflect.Pointer:
		return e.reference(w, v, quoted)
	}
	return &json.UnsupportedTypeError{Type: e.registry.reflectType(w)}
}

// hasMarshaler reports whether encoding/json encodes the compiled value v by one of its
// methods.
func hasMarshaler(v reflect.Value) bool {
	t := v.Type()
	if v.CanAddr() {
		t = reflect.PointerTo(t)
	}
	for _, m := range marshalMethods {
		if t.Implements(m.iface) {
			return true
		}
	}
	return false
}

// compiled encodes v by encoding/json: through its address if it has one, because the
// pointer type may have marshaling methods.
func (e *jsonEncoder) compiled(v reflect.Value) error {
	x := v.Interface()
	if v.CanAddr() {
		x = v.Addr().Interface()
	}
	return e.standard(x)
}

func (e *jsonEncoder) standard(x any) error {
	encoder := json.NewEncoder(&e.out)
	encoder.SetEscapeHTML(e.escapeHTML)
	if err := encoder.Encode(x); err != nil {
		return err
	}
	e.out.Truncate(e.out.Len() - len("\n"))
	return nil
}

// text writes a JSON string. Only strings that need escapes go through encoding/json.
func (e *jsonEncoder) text(s string) error {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return e.standard(s)
		}
	}
	e.out.WriteByte('"')
	e.out.WriteString(s)
	e.out.WriteByte('"')
	return nil
}

// byMethod encodes v by a marshaling method of its interpreted type, or of the pointer
// type if v is addressable.
func (e *jsonEncoder) byMethod(w view, v reflect.Value) (handled bool, err error) {
	if w.d == nil || v.Kind() == reflect.Interface {
		return false, nil
	}
	for _, m := range marshalMethods {
		owner, receiver := w, v
		if v.Kind() != reflect.Pointer && v.CanAddr() && w.pointer().has(m) {
			owner, receiver = w.pointer(), v.Addr()
		} else if !w.has(m) {
			continue
		}
		if receiver.Kind() == reflect.Pointer && receiver.IsNil() {
			e.out.WriteString("null")
			return true, nil
		}
		text, err := e.callMarshaler(Box{owner.d, receiver.Interface()}, m)
		switch {
		case err != nil:
		case m.name == marshalText.name, m.name == appendText.name:
			return true, e.text(string(text))
		default:
			err = e.compact(text)
		}
		if err != nil {
			err = e.registry.marshalerError(w, err, m.name)
		}
		return true, err
	}
	return false, nil
}

// callMarshaler returns what the marshaling method m of a box returns.
func (e *jsonEncoder) callMarshaler(b Box, m wellKnown) ([]byte, error) {
	switch m.name {
	case appendText.name:
		return call1x2[[]byte, error, []byte](b, m.name, nil)
	case marshalJSONTo.name:
		return e.marshalTo(b)
	}
	return call0x2[[]byte, error](b, m.name)
}

// compact writes the JSON text that a method returned.
func (e *jsonEncoder) compact(text []byte) error {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return err
	}
	if e.escapeHTML {
		json.HTMLEscape(&e.out, b.Bytes())
	} else {
		e.out.Write(b.Bytes())
	}
	return nil
}

func (e *jsonEncoder) basic(v reflect.Value, quoted bool) error {
	start := e.out.Len()
	var err error
	switch {
	case v.Type() == numberType:
		err = e.standard(json.Number(v.String()))
	case v.Kind() == reflect.Bool:
		e.out.WriteString(strconv.FormatBool(v.Bool()))
	case v.Kind() == reflect.String:
		err = e.text(v.String())
	case v.Kind() == reflect.Float32:
		err = e.standard(float32(v.Float()))
	case v.Kind() == reflect.Float64:
		err = e.standard(v.Float())
	case v.CanInt():
		e.out.WriteString(strconv.FormatInt(v.Int(), 10))
	default:
		e.out.WriteString(strconv.FormatUint(v.Uint(), 10))
	}
	if err != nil || !quoted {
		return err
	}
	text := string(e.out.Bytes()[start:])
	e.out.Truncate(start)
	if v.Kind() == reflect.String && v.Type() != numberType {
		plain := jsonEncoder{registry: e.registry}
		err := plain.text(text)
		e.out.Write(plain.out.Bytes())
		return err
	}
	e.out.WriteString(`"` + text + `"`)
	return nil
}

var numberType = reflect.TypeFor[json.Number]()

func (e *jsonEncoder) object(w view, v reflect.Value) error {
	separator := byte('{')
	fields, err := e.registry.jsonFields(w)
	if err != nil {
		return unsupportedStruct(err)
	}
	for _, f := range fields {
		fv, ok := fieldByIndex(v, f.index)
		if !ok || f.omitEmpty && isEmpty(fv) || f.omitZero && e.registry.isZero(f.typ, fv) {
			continue
		}
		e.out.WriteByte(separator)
		separator = ','
		if err := e.text(f.name); err != nil {
			return err
		}
		e.out.WriteByte(':')
		if err := e.encodeAt(f.name, f.typ, fv, f.quoted); err != nil {
			return err
		}
	}
	if separator == '{' {
		e.out.WriteByte('{')
	}
	e.out.WriteByte('}')
	return nil
}

// fieldByIndex follows a path of field indices. It returns false if it meets a nil pointer.
func fieldByIndex(v reflect.Value, index []int) (reflect.Value, bool) {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

func (e *jsonEncoder) array(w view, v reflect.Value) error {
	elem := w.elem()
	e.out.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			e.out.WriteByte(',')
		}
		if err := e.encodeAt(strconv.Itoa(i), elem, v.Index(i), false); err != nil {
			return err
		}
	}
	e.out.WriteByte(']')
	return nil
}

// reference encodes a map, slice or pointer, which can be nil and part of a cycle.
func (e *jsonEncoder) reference(w view, v reflect.Value, quoted bool) error {
	if w.kind() == reflect.Map && !jsonV2 && !e.keyAllowed(w.key()) {
		return &json.UnsupportedTypeError{Type: e.registry.reflectType(w)}
	}
	if v.IsNil() {
		e.out.WriteString("null")
		return nil
	}
	if w.kind() == reflect.Slice && isBytes(w) {
		e.out.WriteString(`"` + base64.StdEncoding.EncodeToString(v.Bytes()) + `"`)
		return nil
	}
	e.level++
	defer func() { e.level-- }()
	if e.level > startDetectCyclesAfter {
		length := 0
		if v.Kind() == reflect.Slice {
			length = v.Len()
		}
		key := [3]any{v.Kind(), v.UnsafePointer(), length}
		if e.seen[key] {
			return &json.UnsupportedValueError{Value: v, Str: "encountered a cycle via " + w.String()}
		}
		if e.seen == nil {
			e.seen = map[any]bool{}
		}
		e.seen[key] = true
		defer delete(e.seen, key)
	}
	switch w.kind() {
	case reflect.Map:
		return e.mapping(w, v)
	case reflect.Slice:
		return e.array(w, v)
	}
	return e.encode(w.elem(), v.Elem(), quoted)
}

// isBytes reports whether a slice is encoded as a base64 string: whether its elements
// are bytes without marshaling methods.
func isBytes(w view) bool {
	if w.t.Elem().Kind() != reflect.Uint8 {
		return false
	}
	p := w.elem().pointer()
	return !slices.ContainsFunc(marshalMethods, p.has)
}
