// Package own has the symbols of our public packages. The files that begin with generated_ are generated; see interp/symbols.
package own

import (
	"reflect"

	_ "github.com/quernlab/quern/accel/simulated" // cells need no import for accel.Use("simulated"); its table has constants only
)

// Symbols returns the tables by yaegi's key, import path and package name.
func Symbols() map[string]map[string]reflect.Value {
	symbols := make(map[string]map[string]reflect.Value, len(Tables))
	for key, table := range Tables {
		symbols[key] = table()
	}
	return symbols
}
