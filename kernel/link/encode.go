package link

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
)

// encode returns the JSON of a message. A message that is too large for a frame is
// rejected before its text is built, which would take a multiple of its size.
func encode(method string, message any) ([]byte, error) {
	if size := leastSize(reflect.ValueOf(message), 0); size > MaxFrame {
		return nil, &SizeError{Method: method, Size: size}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // escaping would make HTML larger, and no browser parses this text
	if err := e.Encode(message); err != nil {
		return nil, fmt.Errorf("link: encode %s: %w", method, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// maxDepth bounds how deep leastSize looks; encoding/json rejects cycles later.
const maxDepth = 100

// leastSize returns a lower bound of the length of the JSON of v: the length of its
// strings and bytes.
func leastSize(v reflect.Value, depth int) (size int) {
	if depth > maxDepth {
		return 0
	}
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			return leastSize(v.Elem(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		switch kind := v.Type().Elem().Kind(); {
		case v.Type() == reflect.TypeFor[json.RawMessage]():
			return v.Len()
		case kind == reflect.Uint8 && v.Kind() == reflect.Slice:
			return base64.StdEncoding.EncodedLen(v.Len())
		case kind <= reflect.Complex128:
			return 2 * v.Len()
		}
		for i := 0; i < v.Len() && size <= MaxFrame; i++ {
			size += leastSize(v.Index(i), depth+1)
		}
	case reflect.Map:
		for entries := v.MapRange(); size <= MaxFrame && entries.Next(); {
			size += leastSize(entries.Key(), depth+1) + leastSize(entries.Value(), depth+1)
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && size <= MaxFrame; i++ {
			if v.Type().Field(i).IsExported() {
				size += leastSize(v.Field(i), depth+1)
			}
		}
	}
	return size
}
