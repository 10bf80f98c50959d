package vm

import (
	"reflect"
	"testing"
)

// TestClosures checks that the VM recognizes its own function values. It would call them by reflection
// otherwise.
func TestClosures(t *testing.T) {
	c := &closure{function: &Function{}}
	m := &VM{}
	if closureOf(FunctionPointer(m.makeValue(c, reflect.TypeFor[func(int) string]()))) != c {
		t.Error("the VM does not recognize its own function value")
	}
	other := func() {}
	if closureOf(FunctionPointer(reflect.ValueOf(other))) != nil {
		t.Error("the VM takes a compiled function for its own")
	}
	made := reflect.MakeFunc(reflect.TypeFor[func()](), func([]reflect.Value) []reflect.Value { return nil })
	if closureOf(FunctionPointer(made)) != nil {
		t.Error("the VM takes another function made by package reflect for its own")
	}
}
