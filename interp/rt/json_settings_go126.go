//go:build !(go1.27 && goexperiment.jsonv2)

package rt

import (
	"encoding/json"
	"errors"
	"reflect"
)

// jsonV2 reports whether encoding/json is an interface to encoding/json/v2.
const jsonV2 = false

// marshalMethods are the methods by which encoding/json encodes values, the first one that a type has.
var marshalMethods = []wellKnown{marshalJSON, marshalText}

// encoding/json of this release does not call these methods.
var marshalJSONTo, unmarshalJSONFrom wellKnown

func (e *jsonEncoder) marshalTo(Box) ([]byte, error) { return nil, errors.ErrUnsupported }

func (d *jsonDecoder) unmarshalFrom(view, reflect.Value) func([]byte) error { return nil }

// setCause does nothing: this release has no such field.
func setCause(*json.UnmarshalTypeError, error) {}

// escapesHTML returns an unexported setting of an encoder. A test fails if the standard library renames it.
func escapesHTML(e *json.Encoder) bool {
	return reflect.ValueOf(e).Elem().FieldByName("escapeHTML").Bool()
}

// decoderSettings returns the unexported settings of a decoder. A test fails if the standard library renames them.
func decoderSettings(d *json.Decoder) (useNumber, disallowUnknown bool) {
	settings := reflect.ValueOf(d).Elem().FieldByName("d")
	return settings.FieldByName("useNumber").Bool(), settings.FieldByName("disallowUnknownFields").Bool()
}
