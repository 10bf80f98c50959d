// Package vm runs functions of cells fast: it compiles them from checked
// syntax to instructions of a register machine.
//
// yaegi of package interp is a tree of closures over reflect.Value, in which
// a step of a loop takes 50 ns and a call a microsecond. Here they take 5 and 25.
// A function is run by the VM when everything in it is among what this
// package does exactly as Go does; every other one stays with yaegi, which
// calls it, and is called by it, like a compiled function.
//
//	unit := m.Begin(source)   what the functions refer to
//	unit.Compile(list)        compiles those that it can
//	unit.Link(value)          gives yaegi's variables for them their values
//	unit.Commit()             makes them known to later units
//
// # What it has
//
// Numbers, strings, bools; slices, arrays, maps, structs and pointers to all of it;
// closures, function values and methods as values; channels; every statement but a
// defer in the body of a range over a function; calls of functions, of methods, through
// interfaces of cells too, of instances of generic ones, and of compiled functions of
// plainPackages; conversions to any, error and interfaces of cells, and assertions.
// What makes compiling a function end is a panic with the type
// unsupported: look for fail.
//
// # How values lie
//
// A function has registers in two files: scalars, eight bytes each, sign or zero
// extended, and slots, which hold a pointer, string, slice or interface as Go lays
// it out and which the collector sees as such; a complex number is in the words of a
// slot that hold no pointer. The value of a struct or an array is
// in memory, of its true reflect type, and its address in a slot; so is that of a
// variable that a function literal captures or a pointer points to. Values thus
// pass between the VM, yaegi and compiled code unchanged. The frame of a
// called function begins at its arguments, which are above all registers that the
// caller has in use; results come back in the same place.
//
// # Where what is
//
// Compiling: unit.go, compiler.go and facts.go; expr.go, binary.go, complex.go, convert.go,
// composite.go; interfaces.go, assertion.go and dynamic.go; place.go and assign.go for what can be assigned
// to; stmt.go, loop.go, ranging.go, rangefunc.go, switch.go, selecting.go and deferring.go; call.go, methodvalue.go, instance.go, builtin.go, maps.go, adapter.go, ordered.go,
// compiled.go, erring.go and sorting.go. Running: memory.go and allocate.go make variables,
// thread.go has the stack, unwind.go the deferred calls, run_gen.go the loop, which
// internal/generate writes from its list of operations. What is rare is no
// operation of its own but a native function, made by the compiler for the
// registers in question.
//
// # Errors
//
// Panics are those of Go, with its texts, and pass through yaegi; Active tells
// where the VM was. Recursion without end panics with a *StackOverflow. A check
// for interrupts is at each jump back and each call.
//
// # Concurrency
//
// Compiling and linking happen on one goroutine at a time. Compiled functions may
// be called from any number of them; each call from outside has a thread of its own.
//
// # For whoever changes it
//
// An instruction writes its result as the last thing that it does, and an
// expression writes to the register that it is given by its last instruction: that
// may be a variable that the expression reads. Registers are a stack: what is
// reserved later is released earlier, and nothing that is needed after a call may
// lie above its arguments. FuzzPrograms compares random programs with yaegi.
package vm
