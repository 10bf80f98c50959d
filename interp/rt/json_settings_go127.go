//go:build go1.27 && goexperiment.jsonv2

package rt

import (
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
	"reflect"
)

// jsonV2 reports whether encoding/json is an interface to encoding/json/v2.
const jsonV2 = true

// marshalMethods are the methods by which encoding/json encodes values, the first one that a type has.
var marshalMethods = []wellKnown{marshalJSONTo, marshalJSON, appendText, marshalText}

var (
	marshalJSONTo     = wellKnown{"MarshalJSONTo", "func(*encoding/json/jsontext.Encoder) error", reflect.TypeFor[jsonv2.MarshalerTo]()}
	unmarshalJSONFrom = wellKnown{"UnmarshalJSONFrom", "func(*encoding/json/jsontext.Decoder) error", reflect.TypeFor[jsonv2.UnmarshalerFrom]()}
)

// marshalTo returns what the method MarshalJSONTo of a box writes.
func (e *jsonEncoder) marshalTo(b Box) ([]byte, error) {
	var out bytes.Buffer
	err := call1[error](b, marshalJSONTo.name, jsontext.NewEncoder(&out, json.DefaultOptionsV1(), jsontext.EscapeForHTML(e.escapeHTML)))
	return out.Bytes(), err
}

// unmarshalFrom returns the method UnmarshalJSONFrom of v as a function.
func (d *jsonDecoder) unmarshalFrom(w view, v reflect.Value) func([]byte) error {
	return func(data []byte) error {
		if w.d == nil {
			return json.Unmarshal(data, v.Interface())
		}
		decoder := jsontext.NewDecoder(bytes.NewReader(data), json.DefaultOptionsV1())
		return call1[error](Box{w.d, v.Interface()}, unmarshalJSONFrom.name, decoder)
	}
}

// setCause sets the reason why a JSON value does not fit a type.
func setCause(e *json.UnmarshalTypeError, cause error) { e.Err = cause }

// escapesHTML returns a setting of an encoder.
func escapesHTML(e *json.Encoder) bool {
	escapes, _ := jsonv2.GetOption(hiddenOptions(e), jsontext.EscapeForHTML)
	return escapes
}

// decoderSettings returns settings of a decoder, by what they do.
func decoderSettings(d *json.Decoder) (useNumber, disallowUnknown bool) {
	options := hiddenOptions(d)
	var number any
	if err := jsonv2.Unmarshal([]byte("1"), &number, options); err == nil {
		_, useNumber = number.(json.Number)
	}
	return useNumber, jsonv2.Unmarshal([]byte(`{"a": 1}`), &struct{}{}, options) != nil
}

// hiddenOptions returns the options of an encoder or a decoder, which are in an unexported field: since Go 1.27,
// encoding/json uses encoding/json/v2. A test fails if the standard library renames the field.
func hiddenOptions(coder any) jsonv2.Options {
	return *(*jsonv2.Options)(reflect.ValueOf(coder).Elem().FieldByName("opts").Addr().UnsafePointer())
}
