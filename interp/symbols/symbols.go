package symbols

import (
	"maps"
	"path"
	"reflect"
	"strings"
	_ "time/tzdata" // importable, and time.LoadLocation works where the system has no time zones

	"github.com/traefik/yaegi/stdlib"
	"github.com/traefik/yaegi/stdlib/syscall"
	"github.com/traefik/yaegi/stdlib/unrestricted"
	"github.com/traefik/yaegi/stdlib/unsafe"

	"github.com/quernlab/quern/interp/symbols/internal/own"
	"github.com/quernlab/quern/interp/symbols/internal/supplement"
)

// Packages returns the symbols of all packages of [Paths], by import path and package name ("math/rand/v2/rand") and then
// by the symbol's name. An interface's wrapper is at the name with "_" before it: a struct with a function a method.
//
// The tables are yaegi's, the unrestricted ones where it has two (os.Exit ends the process: it is the worker's), with
// what they lack of this Go release, and ours. A package with nothing but generics has an empty table. The key "." is
// yaegi's own table of functions that look at interfaces. The caller owns the result.
func Packages() map[string]map[string]reflect.Value {
	merged := make(map[string]map[string]reflect.Value)
	for _, tables := range []map[string]map[string]reflect.Value{
		stdlib.Symbols, syscall.Symbols, unsafe.Symbols, unrestricted.Symbols, supplement.Symbols(), own.Symbols(),
	} {
		for key, table := range tables {
			if merged[key] == nil {
				merged[key] = make(map[string]reflect.Value, len(table))
			}
			maps.Copy(merged[key], table)
		}
	}
	maps.DeleteFunc(merged, func(key string, _ map[string]reflect.Value) bool { // yaegi itself is no business of a cell
		return strings.HasPrefix(key, "github.com/traefik/yaegi/")
	})
	if a, err := open(); err == nil {
		for importPath, name := range a.names {
			if key := path.Join(importPath, name); merged[key] == nil {
				merged[key] = map[string]reflect.Value{}
			}
		}
	}
	return merged
}
