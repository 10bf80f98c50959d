package rt

import (
	"flag"
	"reflect"
)

// Package flag creates the zero value of the type of a flag.Value to find out whether
// the flag has a default. So each such type of a cell needs a compiled type of its own:
// a struct that holds the value, with its methods; see holderType.

// FlagVar is f.Var(value, name, usage).
func (r *Registry) FlagVar(f *flag.FlagSet, value flag.Value, name, usage string) {
	if b, ok := r.unbox(value); ok {
		held := reflect.New(r.holderType(b.T, reflect.TypeOf(b.V)))
		held.Elem().Field(0).Set(reflect.ValueOf(b.T.box(b.V)))
		value = held.Interface().(flag.Value)
	}
	f.Var(value, name, usage)
}
