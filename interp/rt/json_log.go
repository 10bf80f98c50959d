package rt

import (
	"bytes"
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
)

// marshalLogged is marshalBox for package slog, whose handler for JSON treats a
// value that is an error and no json.Marshaler in its own way, does not escape
// HTML and tells what failed in place of the value. A box is a json.Marshaler
// always. value is set if the box is the logged value itself.
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

// unescaped returns the JSON of a string in which HTML is as it is.
func unescaped(s string) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// inLog reports whether package slog encodes a value, and whether the caller's
// method was called for the value itself and not for a part of it.
func inLog() (logged, value bool) {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	value = true
	for {
		frame, more := frames.Next()
		switch name := frame.Function; {
		case name == "log/slog.appendJSONMarshal":
			return true, value
		case name == "encoding/json.condAddrEncoder.encode": // for a value that has a method
		case strings.HasPrefix(name, "encoding/json.") && (strings.HasSuffix(name, ".encode") || strings.HasSuffix(name, "interfaceEncoder")):
			value = false
		case strings.HasPrefix(name, "encoding/json."), strings.HasPrefix(name, ownPackage):
		default:
			return false, false
		}
		if !more {
			return false, false
		}
	}
}

// ownPackage is the prefix of the names of methods of boxes.
var ownPackage = reflect.TypeFor[Box]().PkgPath() + "."
