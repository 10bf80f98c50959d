package interp

import (
	"fmt"
	"reflect"
)

// An engine runs lowered code. Everything that is particular to one lies in the
// file named after it.
type engine interface {
	// Use adds compiled packages, keyed "path/name", or symbols to one.
	Use(packages map[string]map[string]reflect.Value) error
	// Eval evaluates declarations or one expression. A fault of the engine
	// itself is an *engineError, a panic of evaluated code a *panicError.
	Eval(src string) (reflect.Value, error)
	// Address is that of a declared variable. Unlike an evaluation of "&name" it adds
	// nothing to the engine.
	Address(variable string) (reflect.Value, error)
	// Run calls a function without parameters and results that an evaluation has
	// declared. Its errors are those of Eval.
	Run(function string) error
	// CallValue has calls of a declared function by its name go to its value.
	CallValue(function string) error
	// Redirect has calls of a declared function by its name go to v.
	Redirect(function string, v reflect.Value) error
	// Forget drops functions that nothing will call by name again, and whatever
	// else the engine keeps only in case it is asked.
	Forget(functions ...string)
	// Keep drops all functions, types and variables of lowered code whose names are not
	// known. The values of variables that are mentioned stay for the code that
	// mentions them. No evaluation may be running.
	Keep(known, mentioned map[string]bool)
	// Trace returns where the last panic of the calling goroutine began, innermost
	// first.
	Trace() []frame
	// Frames returns the active functions of the stack of a goroutine, as the
	// runtime prints it. The goroutine does not go on meanwhile.
	Frames(stack string) []frame
}

// A frame is an active function.
type frame struct {
	function string // as the engine or the compiler names it; "" stands for frames that are not known
	compiled bool
	at       int // the stored position where it is; 0 if it has stored none
}

// An engineError is a fault of the engine: it does not understand code that is
// right.
type engineError struct {
	reason string
}

func (e *engineError) Error() string {
	return "the engine does not understand lowered code: " + e.reason
}

// A panicError is a panic of evaluated code.
type panicError struct {
	value any
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }
