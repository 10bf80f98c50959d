// Package vm runs the code of cells: it compiles functions, and the statements of a cell, from checked syntax to instructions of a
// register machine, our VM. An iteration of a loop takes 5 ns and a call 25 ns.
//
//	unit := m.Begin(source)       the checked cell
//	unit.Compile(list)            compiles the functions
//	unit.Link(address)            gives them the addresses of the variables of the session
//	unit.LinkMethods()            registers the methods for calls through interfaces
//	unit.Commit()                 makes them available to later units
//
// It compiles all of Go. Where the compiler meets something else, compiler.fail panics with an [*UnsupportedError]: the cell is
// rejected.
//
// # Representation of values
//
// A function has registers in two files. A scalar register has eight bytes, sign- or zero-extended. A slot holds a
// pointer, string, slice or interface with Go's memory layout, so that the garbage collector sees the pointers; a
// complex number is in the words of a slot that are not pointers. The value of a struct or an array is in memory,
// with its true reflect.Type, and a slot holds its address. The same is true for a variable that escapes: a
// function literal captures it or its address is taken. So values pass between the VM and compiled code
// without conversion. The frame of a called function begins at its arguments, above all registers that the caller
// uses; the results replace the arguments.
//
// # Files
//
// Compiler: unit.go and compiler.go, with the facts of package facts; expressions in expr.go, binary.go, condition.go, complex.go,
// convert.go and composite.go; interfaces in interfaces.go, assertion.go and dynamic.go; what can be assigned to
// in location.go, define.go and assign.go; statements in stmt.go, declare.go, return.go, loop.go, range.go,
// rangefunc.go, switch.go, select.go and defer.go; calls in call.go, arguments.go, callmethod.go, callcompiled.go,
// methodvalue.go, instance.go, builtin.go, maps.go, adapter.go, ordered.go, errors.go and sort.go; capacities of
// slices that do not escape in slicecap.go.
//
// Run time: memory.go and allocate.go allocate variables, thread.go has the register files and the call stack,
// unwind.go the deferred calls, and run_gen.go the instruction loop, which internal/generate writes from its list
// of operations. A rare operation has no opcode of its own: it is a native function that the compiler makes for
// the registers in question.
//
// # Errors
//
// Panics are Go's, with Go's texts; Active returns the call stack of the VM. Infinite
// recursion panics with a *StackOverflow. Each backward jump and each call checks for an interrupt.
//
// # Concurrency
//
// Compiling and linking happen on one goroutine at a time. Compiled functions may be called from any number of
// goroutines; each call from outside has a thread of its own.
//
// # Invariants
//
// The last thing that an instruction does is to write its result, and the last instruction of an expression
// writes to the register want: want may be a variable that the expression reads. Registers are allocated as a
// stack: what is reserved later is released earlier. Nothing that is needed after a call may be above the
// arguments of the call. TestCompiledPrograms compares random programs with compiled Go.
package vm
