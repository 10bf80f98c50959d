package vm

import "reflect"

// A FunctionID identifies the code of a function value. Closures of one function literal have the same code.
type FunctionID struct {
	Name        string // in lowered code, of a literal with the suffix ".func"
	Literal     int    // index of the source position of a function literal; 0 for other functions
	MethodValue bool   // a method value of the method with that name
}

// Identify returns the function behind a function value. The second result is false if the VM does not run it.
func Identify(v reflect.Value) (FunctionID, bool) {
	p := functionPointer(v)
	if p == nil {
		return FunctionID{}, false
	}
	c := closureOf(p)
	switch {
	case c == nil:
		return FunctionID{}, false
	case c.function.method != nil:
		return FunctionID{Name: c.function.method.name, MethodValue: true}, true
	case c.function.name == "":
		return FunctionID{}, false
	}
	return FunctionID{Name: c.function.name, Literal: c.function.literal}, true
}
