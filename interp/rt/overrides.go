package rt

import "reflect"

// Overrides returns replacements for compiled symbols, keyed like the symbol table.
func (r *Registry) Overrides() map[string]map[string]reflect.Value {
	return map[string]map[string]reflect.Value{
		"encoding/gob/gob": {
			"Register": reflect.ValueOf(func(x any) { r.registerGob("", x) }),
			"RegisterName": reflect.ValueOf(func(name string, x any) {
				if name == "" {
					panic("attempt to register empty name")
				}
				r.registerGob(name, x)
			}),
		},
		"strings/strings": {"Repeat": reflect.ValueOf(repeatString)},
		"bytes/bytes":     {"Repeat": reflect.ValueOf(repeatBytes)},
	}
}

// NamedFunction is a function with the names of its parameters. An unnamed parameter
// has the name "".
type NamedFunction struct {
	function any
	names    []string
}

// Named attaches parameter names to a function; package widgets uses them.
func Named(function any, names ...string) any { return NamedFunction{function, names} }

// Function returns the function.
func (n NamedFunction) Function() any { return n.function }

// ParameterNames returns the names of the parameters in order.
func (n NamedFunction) ParameterNames() []string { return n.names }
