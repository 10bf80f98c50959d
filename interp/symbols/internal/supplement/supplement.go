// Package supplement contains symbols of the standard library that yaegi's tables, which are for Go 1.22,
// lack: the symbols of package release and some that are not generated.
package supplement

import (
	"maps"
	"reflect"

	"github.com/quernlab/quern/interp/symbols/internal/release"
)

// Symbols returns the tables by yaegi's key, import path and package name.
func Symbols() map[string]map[string]reflect.Value {
	symbols := release.Current().Symbols()
	symbols["unsafe/unsafe"] = unsafeFunctions()
	maps.Copy(symbols, platform()) // neither package has a generated table
	return symbols
}
