// Package compile compiles the functions, and the statements of a cell, from checked syntax to code of package vm.
//
//	unit := compile.Begin(machine, config, source)   the checked cell
//	unit.Compile(list)                               compiles the functions
//	unit.Link(address)                               gives them the addresses of the variables of the session
//	unit.LinkMethods()                               registers the methods for calls through interfaces
//	unit.Commit()                                    makes them available to later units
//
// It compiles all of Go, in one pass over the syntax with the facts of package facts. Where it meets something else, compiler.fail panics
// with an [*UnsupportedError]: the cell is rejected.
//
// # Files
//
// unit.go has units, function.go the bodies of functions, compiler.go registers and instructions. Expressions are in expr.go, binary.go,
// condition.go, convert.go and composite.go; interfaces in interface.go and assertion.go; what can be assigned to in location.go,
// declare.go and assign.go; statements in stmt.go, loop.go, range.go, rangefunc.go, channel.go and defer.go; calls in call.go, method.go,
// callcompiled.go, builtin.go and sort.go.
//
// An operation without an opcode of its own is a [vm.Native] that the compiler makes for the registers in question.
//
// # Invariants
//
// The last thing that an instruction does is to write its result, and the last instruction of an expression
// writes to the register want: want may be a variable that the expression reads. Registers are allocated as a
// stack: what is reserved later is released earlier. Nothing that is needed after a call may be above the
// arguments of the call. TestCompiledPrograms compares random programs with compiled Go.
package compile
