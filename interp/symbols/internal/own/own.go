// Package own contains the symbols of our public packages. The files generated_* are generated; see
// interp/symbols.
package own

import "reflect"

// Symbols returns the tables by yaegi's key, import path and package name.
func Symbols() map[string]map[string]reflect.Value {
	symbols := make(map[string]map[string]reflect.Value, len(Tables))
	for key, table := range Tables {
		symbols[key] = table()
	}
	return symbols
}
