// Package vm is a register machine for the code of cells, our VM: values in registers and in memory, functions and their instructions,
// threads that run them, and function values. An iteration of a loop takes 5 ns and a call 25 ns. Package compile compiles checked syntax
// to functions; this package knows neither syntax nor checked types.
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
// Each file refers only to files before it:
//
//   - register.go: registers, shapes; memory.go: variables; abi.go: how Go passes arguments
//   - op_gen.go: the operations; vm.go: the types of functions, threads and of the VM
//   - adapter.go, adapter_gen.go: calls of compiled functions
//   - thread.go: register files and the call stack; deferred.go: deferred calls; interface.go: interface values and their methods
//   - slices.go, maps.go, channel.go: native functions, the operations without an opcode of their own
//   - run_gen.go: the instruction loop, which internal/generate writes from its list of operations
//   - unwind.go: calls from outside, and panics; value.go: functions as Go values; entry.go: methods that compiled code calls;
//     functions.go: the functions of a session; sort.go: callbacks of packages sort and container/heap
//   - disassemble.go: listings of functions
//
// A [Native] that only one construct of the language needs is in package compile.
//
// # Errors
//
// Panics are Go's, with Go's texts; Active returns the call stack of the VM. Infinite
// recursion panics with a *StackOverflow. Each backward jump and each call checks for an interrupt.
//
// # Concurrency
//
// Functions are compiled, linked and defined on one goroutine at a time. They may be called from any number of
// goroutines; each call from outside has a thread of its own.
package vm
