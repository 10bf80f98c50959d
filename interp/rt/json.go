package rt

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"unsafe"
)

var (
	marshalJSON   = wellKnown{"MarshalJSON", "func() ([]uint8, error)", reflect.TypeFor[json.Marshaler]()}
	marshalText   = wellKnown{"MarshalText", "func() ([]uint8, error)", reflect.TypeFor[encoding.TextMarshaler]()}
	unmarshalJSON = wellKnown{"UnmarshalJSON", "func([]uint8) error", reflect.TypeFor[json.Unmarshaler]()}
	unmarshalText = wellKnown{"UnmarshalText", "func([]uint8) error", reflect.TypeFor[encoding.TextUnmarshaler]()}
	appendText    = wellKnown{"AppendText", "func([]uint8) ([]uint8, error)", reflect.TypeFor[encoding.TextAppender]()}
	isZeroMethod  = wellKnown{"IsZero", "func() bool", reflect.TypeFor[interface{ IsZero() bool }]()}
)

// JSONMarshal is json.Marshal.
func (r *Registry) JSONMarshal(v any) ([]byte, error) {
	e := jsonEncoder{registry: r, escapeHTML: true}
	if err := e.encodeAny(v); err != nil {
		return nil, err
	}
	return e.out.Bytes(), nil
}

// JSONMarshalIndent is json.MarshalIndent.
func (r *Registry) JSONMarshalIndent(v any, prefix, indent string) ([]byte, error) {
	text, err := r.JSONMarshal(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, prefix, indent); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// JSONEncode is e.Encode(v).
func (r *Registry) JSONEncode(e *json.Encoder, v any) error {
	own := jsonEncoder{registry: r, escapeHTML: escapesHTML(e)}
	if err := own.encodeAny(v); err != nil {
		return err
	}
	return e.Encode(json.RawMessage(own.out.Bytes()))
}

// marshalBox implements MarshalJSON of boxes, for compiled code that does not encode
// through this package.
func (r *Registry) marshalBox(b Box) ([]byte, error) {
	v := reflect.ValueOf(b.V)
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return []byte("null"), nil // encoding/json calls no method of a nil pointer either
	}
	if logged, value := inLog(); logged {
		return r.marshalLogged(b, v, value)
	}
	if b.T.set.Load().hasSignature(marshalJSON.name, marshalJSON.signature) {
		return call0x2[[]byte, error](b, "MarshalJSON")
	}
	e := jsonEncoder{registry: r, escapeHTML: true}
	if err := e.encode(view{b.T, v.Type()}, v, false); err != nil {
		return nil, err
	}
	return e.out.Bytes(), nil
}

// JSONUnmarshal is json.Unmarshal.
func (r *Registry) JSONUnmarshal(data []byte, v any) error {
	if _, ok := r.unbox(v); !ok && r.jsonHoldsNoBox(reflect.TypeOf(v)) {
		return json.Unmarshal(data, v)
	}
	if jsonV2 {
		if _, _, err := r.jsonPointer(v); err != nil {
			return err
		}
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return err
	}
	d := jsonDecoder{registry: r, data: data}
	return d.decodeInto(v)
}

// JSONDecode is d.Decode(v).
func (r *Registry) JSONDecode(d *json.Decoder, v any) error {
	if _, ok := r.unbox(v); !ok && r.jsonHoldsNoBox(reflect.TypeOf(v)) {
		return d.Decode(v)
	}
	var whole json.RawMessage
	if err := d.Decode(&whole); err != nil {
		return err
	}
	own := jsonDecoder{registry: r, data: whole}
	own.useNumber, own.disallowUnknown = decoderSettings(d)
	return own.decodeInto(v)
}

// marshalerError returns the error of encoding/json for a failed marshaling method. The
// method's name is in an unexported field, which only encoding/json can set without
// package unsafe.
func (r *representations) marshalerError(w view, err error, method string) error {
	if jsonV2 && w.kind() != reflect.Pointer {
		w = w.pointer()
	}
	e := &json.MarshalerError{Type: r.reflectType(w), Err: err}
	if f := reflect.ValueOf(e).Elem().FieldByName("sourceFunc"); f.IsValid() && f.Kind() == reflect.String {
		*(*string)(unsafe.Pointer(f.UnsafeAddr())) = method
	}
	return e
}

// jsonHoldsNoBox reports whether values of the compiled type t contain no box that
// encoding/json would encode.
func (r *representations) jsonHoldsNoBox(t reflect.Type) bool {
	if t == nil {
		return true
	}
	if known, ok := r.jsonBoxFree.Load(t); ok {
		return known.(bool)
	}
	boxFree := jsonWithoutInterface(t, map[reflect.Type]bool{})
	r.jsonBoxFree.Store(t, boxFree)
	return boxFree
}

func jsonWithoutInterface(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	if t.Implements(boxedType) {
		return false
	}
	if t.Kind() != reflect.Interface {
		p := reflect.PointerTo(t)
		if p.Implements(marshalJSON.iface) && p.Implements(unmarshalJSON.iface) {
			return true
		}
	}
	switch t.Kind() {
	case reflect.Interface:
		return false
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return jsonWithoutInterface(t.Elem(), seen)
	case reflect.Map:
		return jsonWithoutInterface(t.Key(), seen) && jsonWithoutInterface(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if !jsonWithoutInterface(t.Field(i).Type, seen) {
				return false
			}
		}
	}
	return true
}
