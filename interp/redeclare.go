package interp

import (
	"reflect"
	"sync/atomic"
)

// A group is a function of cells with all its earlier declarations: closures and goroutines
// that used an earlier one call the current one.
type group struct {
	current atomic.Pointer[reflect.Value]
	value   reflect.Value // calls current
}

func newGroup(t reflect.Type) *group {
	g := &group{}
	g.value = reflect.MakeFunc(t, func(arguments []reflect.Value) []reflect.Value { return g.current.Load().Call(arguments) })
	return g
}
