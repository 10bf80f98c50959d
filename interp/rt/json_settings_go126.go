//go:build !(go1.27 && goexperiment.jsonv2)

package rt

import (
	"encoding/json"
	"reflect"
)

// escapesHTML returns an unexported setting of an encoder. A test fails if the standard library renames it.
func escapesHTML(e *json.Encoder) bool {
	return reflect.ValueOf(e).Elem().FieldByName("escapeHTML").Bool()
}

// decoderSettings returns the unexported settings of a decoder. A test fails if the standard library renames them.
func decoderSettings(d *json.Decoder) (useNumber, disallowUnknown bool) {
	settings := reflect.ValueOf(d).Elem().FieldByName("d")
	return settings.FieldByName("useNumber").Bool(), settings.FieldByName("disallowUnknownFields").Bool()
}
