package symbols

import (
	"maps"
	"path"
	"reflect"
	"strings"
	_ "time/tzdata" // cells can import it, and time.LoadLocation works without a system time zone database

	"github.com/traefik/yaegi/stdlib"
	"github.com/traefik/yaegi/stdlib/syscall"
	"github.com/traefik/yaegi/stdlib/unrestricted"
	"github.com/traefik/yaegi/stdlib/unsafe"

	"github.com/quernlab/quern/interp/symbols/internal/extra"
	"github.com/quernlab/quern/interp/symbols/internal/own"
	"github.com/quernlab/quern/interp/symbols/internal/supplement"
)

// Packages returns the symbols of all packages of [Paths]. The keys are import path and package name
// ("math/rand/v2/rand"), then the name of the symbol.
//
// The tables are yaegi's, supplemented by the symbols of this Go release and of our packages. Of packages
// with two tables the unrestricted one is used: os.Exit ends the process, which is the worker. A package
// with only generics has an empty table. The key "." is yaegi's table of functions that inspect interfaces.
// The caller owns the result.
func Packages() map[string]map[string]reflect.Value {
	merged := make(map[string]map[string]reflect.Value)
	for _, tables := range []map[string]map[string]reflect.Value{
		stdlib.Symbols, syscall.Symbols, unsafe.Symbols, unrestricted.Symbols, supplement.Symbols(), own.Symbols(), extraSymbols(),
	} {
		for key, table := range tables {
			if merged[key] == nil {
				merged[key] = make(map[string]reflect.Value, len(table))
			}
			maps.Copy(merged[key], table)
		}
	}
	maps.DeleteFunc(merged, func(key string, _ map[string]reflect.Value) bool { // cells must not import yaegi
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

// extraSymbols returns the symbols of the packages that the user has compiled in.
func extraSymbols() map[string]map[string]reflect.Value {
	symbols := make(map[string]map[string]reflect.Value, len(extra.Tables))
	for key, table := range extra.Tables {
		symbols[key] = table()
	}
	return symbols
}

// Added returns the modules and packages that the user has compiled into this program, as path@version.
func Added() []string { return extra.Requests }
