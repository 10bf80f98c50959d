// Package yaegi runs lowered code with the interpreter traefik/yaegi v0.16.1, as
// that module is released. It is the only package that depends on the internals of yaegi:
// it reads some unexported fields through unsafe, and TestYaegiInternals fails if an update
// changes them.
//
// In the order of the data flow:
//
//	interpreter.go  evaluates code and calls functions
//	bounds.go       adds checks of indices and bounds of slice expressions
//	forget.go       frees what later code cannot reach
//	trace.go        records where a panic began
//	frames.go       finds the functions of lowered code in a stack trace
//	activation.go   reads one function from the arguments in a stack trace
//	frame.go        Frame: an active function
//	identify.go     finds the function of lowered code behind a function value
//	errors.go       errors of the interpreter and of evaluated code
package yaegi
