package rt

import (
	"hash/maphash"
	"reflect"
)

// Overrides returns replacements for compiled symbols, keyed like yaegi's symbol table.
// With them, calls and function values alike print, encode and reflect on the types of
// cells as Go does.
func (r *Registry) Overrides() map[string]map[string]reflect.Value {
	return map[string]map[string]reflect.Value{
		"reflect/reflect": r.reflection(),
		"encoding/gob/gob": {
			"Register": reflect.ValueOf(func(x any) { r.registerGob("", x) }),
			"RegisterName": reflect.ValueOf(func(name string, x any) {
				if name == "" {
					panic("attempt to register empty name")
				}
				r.registerGob(name, x)
			}),
		},
		"fmt/fmt": {
			"Append":   reflect.ValueOf(r.Append),
			"Appendf":  reflect.ValueOf(r.Appendf),
			"Appendln": reflect.ValueOf(r.Appendln),
			"Errorf":   reflect.ValueOf(r.Errorf),
			"Fprint":   reflect.ValueOf(r.Fprint),
			"Fprintf":  reflect.ValueOf(r.Fprintf),
			"Fprintln": reflect.ValueOf(r.Fprintln),
			"Print":    reflect.ValueOf(r.Print),
			"Printf":   reflect.ValueOf(r.Printf),
			"Println":  reflect.ValueOf(r.Println),
			"Sprint":   reflect.ValueOf(r.Sprint),
			"Sprintf":  reflect.ValueOf(r.Sprintf),
			"Sprintln": reflect.ValueOf(r.Sprintln),
			"Sscan":    reflect.ValueOf(r.Sscan),
			"Sscanf":   reflect.ValueOf(r.Sscanf),
			"Sscanln":  reflect.ValueOf(r.Sscanln),
			"Fscan":    reflect.ValueOf(r.Fscan),
			"Fscanf":   reflect.ValueOf(r.Fscanf),
			"Fscanln":  reflect.ValueOf(r.Fscanln),
		},
		"encoding/json/json": {"Unmarshal": reflect.ValueOf(r.JSONUnmarshal)},
		"errors/errors":      {"Is": reflect.ValueOf(r.ErrorsIs)},
		"strings/strings":    {"Repeat": reflect.ValueOf(repeatString)},
		"bytes/bytes":        {"Repeat": reflect.ValueOf(repeatBytes)},
		"github.com/quernlab/quern/interp/generic/compiled/compiled": {
			"Hash": reflect.ValueOf(func(seed maphash.Seed, x any) uint64 {
				r.Hashable(x)
				return maphash.Comparable(seed, x)
			}),
			"WriteHash": reflect.ValueOf(func(h *maphash.Hash, x any) {
				r.Hashable(x)
				maphash.WriteComparable(h, x)
			}),
		},
		"testing/quick/quick": r.quickFunctions(),
	}
}
