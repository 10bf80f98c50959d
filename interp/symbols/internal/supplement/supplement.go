// Package supplement has the symbols of the standard library that yaegi's tables, which are of Go 1.22, do not have. The
// files that begin with generated_ are generated; see interp/symbols.
package supplement

import (
	"maps"
	"reflect"
)

// Symbols returns the tables by yaegi's key, import path and package name.
func Symbols() map[string]map[string]reflect.Value {
	symbols := make(map[string]map[string]reflect.Value, len(tables))
	for key, table := range tables {
		symbols[key] = table()
	}
	symbols["unsafe/unsafe"] = unsafeFunctions()
	maps.Copy(symbols, platform()) // neither of the two has a generated table
	return symbols
}
