package main

import (
	"fmt"
	"go/types"
	"maps"
	"reflect"

	"github.com/traefik/yaegi/stdlib"
	"github.com/traefik/yaegi/stdlib/syscall"
	"github.com/traefik/yaegi/stdlib/unrestricted"
	"github.com/traefik/yaegi/stdlib/unsafe"
)

// yaegiTables merges the tables that come with yaegi.
func yaegiTables() map[string]map[string]reflect.Value {
	merged := make(map[string]map[string]reflect.Value)
	for _, tables := range []map[string]map[string]reflect.Value{stdlib.Symbols, syscall.Symbols, unsafe.Symbols, unrestricted.Symbols} {
		for key, table := range tables {
			if merged[key] == nil {
				merged[key] = make(map[string]reflect.Value)
			}
			maps.Copy(merged[key], table)
		}
	}
	return merged
}

// supplement makes the tables of what yaegi's tables lack of the packages: new packages, new names, and wrappers of
// interfaces that have grown since.
func supplement(packages []*types.Package) []*table {
	have := yaegiTables()
	var tables []*table
	for _, pkg := range packages {
		if pkg == types.Unsafe || pkg.Path() == "syscall" { // both complete; syscall is another on each platform
			continue
		}
		t := newTable(pkg, func(key, name string) bool {
			value, ok := have[key][name]
			return !ok || name[0] == '_' && !implements(value, have[key][name[1:]])
		})
		if !t.empty() {
			fmt.Printf("%s: %d names\n", pkg.Path(), len(t.values)+len(t.types)+len(t.wrappers))
			tables = append(tables, t)
		}
	}
	return tables
}

// implements says whether a wrapper of the table still has all the methods of its interface.
func implements(wrapper, iface reflect.Value) bool {
	return iface.IsValid() && wrapper.Type().Elem().Implements(iface.Type().Elem())
}
