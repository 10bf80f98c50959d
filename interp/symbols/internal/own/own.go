// Package own contains the symbols of our public packages. The files generated_* are generated; see
// interp/symbols.
package own

import (
	"reflect"

	_ "github.com/quernlab/quern/accel/simulated" // cells can call accel.SetDevice("simulated") without an import; its own table has only constants
)

// Symbols returns the tables by yaegi's key, import path and package name.
func Symbols() map[string]map[string]reflect.Value {
	symbols := make(map[string]map[string]reflect.Value, len(Tables))
	for key, table := range Tables {
		symbols[key] = table()
	}
	return symbols
}
