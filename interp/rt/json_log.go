package rt

import (
	"bytes"
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
)

// marshalLogged is marshalBox for package slog. Its JSON handler has its own format for a
// value that is an error but not a json.Marshaler, which a box always is. It also does
// not escape HTML, and writes the error in place of a value that cannot be encoded.
// value reports whether the box is the logged value itself.
func (r *Registry) marshalLogged(b Box, v reflect.Value, value bool) ([]byte, error) {
	own := b.T.set.Load().hasSignature(marshalJSON.name, marshalJSON.signature)
	if value && !own && int(b.T.class.Load())&classError != 0 {
		return unescaped(b.errorText())
	}
	e := jsonEncoder{registry: r}
	err := e.encode(view{b.T, v.Type()}, v, false)
	if err != nil && value {
		return unescaped("!ERROR:" + err.Error())
	}
	return e.out.Bytes(), err
}

// unescaped returns the JSON text of a string without escaping HTML.
func unescaped(s string) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// inLog reports whether package slog is encoding a value, and whether that is the value
// itself whose method was called, and not a part of it.
func inLog() (logged, value bool) {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	value = true
	for {
		frame, more := frames.Next()
		switch name := frame.Function; {
		case name == "log/slog.appendJSONMarshal":
			return true, value
		case name == "encoding/json.condAddrEncoder.encode": // of a value with methods
		case strings.HasPrefix(name, "encoding/json.") && (strings.HasSuffix(name, ".encode") || strings.HasSuffix(name, "interfaceEncoder")):
			value = false
		case strings.HasPrefix(name, "encoding/json/v2.makeMethodArshaler"): // of a value with methods
		case strings.HasPrefix(name, "encoding/json/v2.make"), name == "encoding/json/v2.marshalValueAny":
			value = false
		case strings.HasPrefix(name, "encoding/json"), strings.HasPrefix(name, ownPackage):
		default:
			return false, false
		}
		if !more {
			return false, false
		}
	}
}

// ownPackage is the prefix of the names of this package's functions.
var ownPackage = reflect.TypeFor[Box]().PkgPath() + "."
