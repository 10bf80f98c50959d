// Package yaegi evaluates the declarations of the variables of a session with the interpreter traefik/yaegi v0.16.1, as that
// module is released, and owns the variables. It is the only package that depends on the internals of yaegi: it reads some
// unexported fields through unsafe, and TestYaegiInternals fails if an update changes them.
//
//	interpreter.go  evaluates declarations, finds variables, and frees what later code cannot reach
//	trace.go        runs the body of a cell, and finds the functions of cells in a stack trace
package yaegi
