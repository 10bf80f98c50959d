package rt

import "reflect"

// Overrides returns replacements for compiled symbols, keyed like the symbol table.
// With them, calls and function values alike decode into the types of cells as Go does.
func (r *Registry) Overrides() map[string]map[string]reflect.Value {
	return map[string]map[string]reflect.Value{
		"reflect/reflect": {
			"Append": reflect.ValueOf(r.ReflectAppend),
		},
		"encoding/gob/gob": {
			"Register": reflect.ValueOf(func(x any) { r.registerGob("", x) }),
			"RegisterName": reflect.ValueOf(func(name string, x any) {
				if name == "" {
					panic("attempt to register empty name")
				}
				r.registerGob(name, x)
			}),
		},
		"encoding/json/json": {"Unmarshal": reflect.ValueOf(r.JSONUnmarshal)},
		"errors/errors":      {"As": reflect.ValueOf(r.ErrorsAs)},
		"strings/strings":    {"Repeat": reflect.ValueOf(repeatString)},
		"bytes/bytes":        {"Repeat": reflect.ValueOf(repeatBytes)},
	}
}
