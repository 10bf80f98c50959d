//go:build go1.27 && goexperiment.jsonv2

package rt

import (
	"encoding/json"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
	"reflect"
)

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
