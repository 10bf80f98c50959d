package rt

import (
	"flag"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/lower/layout"
)

// Package flag creates the zero value of the type of a flag.Value to find out whether
// the flag has a default. So each such type of a cell needs a compiled type of its own:
// a struct that holds the value, with methods of stubs.go.

// holder is the underlying type of these types.
type holder struct{ Value any }

// FlagVar is f.Var(value, name, usage).
func (r *Registry) FlagVar(f *flag.FlagSet, value flag.Value, name, usage string) {
	if b, ok := r.unbox(value); ok {
		held := reflect.New(r.holderType(b.T, reflect.TypeOf(b.V)))
		held.Elem().Field(0).Set(reflect.ValueOf(b.T.box(b.V)))
		value = held.Interface().(flag.Value)
	}
	f.Var(value, name, usage)
}

// holderType returns the compiled type for t, whose values have the type raw.
func (r *Registry) holderType(t *Type, raw reflect.Type) reflect.Type {
	if made, ok := r.flagTypes.Load(t); ok {
		return made.(reflect.Type)
	}
	taken := stubs().take(1)
	if taken == nil {
		panic(noSlot("flag", t))
	}
	taken[0].receiver = func(word unsafe.Pointer) Box {
		if v := (*holder)(word).Value; v != nil {
			return v.(boxed).box()
		}
		if raw.Kind() == reflect.Pointer {
			return Box{t, reflect.New(raw.Elem()).Interface()}
		}
		return Box{t, reflect.Zero(raw).Interface()}
	}
	made := layout.Named(reflect.TypeFor[holder](), t.name, nil, taken[0].methods(t.stubMethods()))
	r.yaegiWrappers.Store(reflect.PointerTo(made), struct{}{}) // unbox finds the value
	r.flagTypes.Store(t, made)
	return made
}
