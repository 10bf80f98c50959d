// Package compile compiles Go source to a program. It checks types with go/types, against the declarations of package kernel and of
// the functions of package math that kernels may call, and inlines all calls.
//
//	compile.go    Compile; errors
//	imports.go    the packages that a kernel may import
//	lines.go      the text of the lines
//	prune.go      what of a file the kernel needs
//	types.go      Go types and their values in a program
//	emit.go       instructions and checks
//	stmt.go       statements; loop.go: loops, switches and jumps
//	assign.go     declarations and assignments
//	expr.go       expressions; operators.go: unary and binary ones
//	element.go    indices and slices; literal.go: composite literals
//	call.go       calls of functions of the kernel, which are inlined; generics
//	builtin.go    builtin functions, functions of package math and of package kernel
package compile
