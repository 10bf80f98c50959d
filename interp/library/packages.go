package library

import (
	"fmt"
	"maps"
	"reflect"
)

// Packages are functions and variables by package, such as "fmt/fmt", and name.
type Packages = map[string]map[string]reflect.Value

// Replace replaces functions in the tables of packages.
func Replace(packages, by Packages) {
	for path, functions := range by {
		maps.Copy(packages[path], functions)
	}
}

// functionsOf returns the values of functions.
func functionsOf(functions map[string]any) map[string]reflect.Value {
	values := map[string]reflect.Value{}
	for name, f := range functions {
		if reflect.TypeOf(f).Kind() != reflect.Func {
			panic(fmt.Sprintf("%s is not a function", name))
		}
		values[name] = reflect.ValueOf(f)
	}
	return values
}
