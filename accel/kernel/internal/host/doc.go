// Package host runs a program on the CPU. It is the reference for what a kernel computes, and fast enough to be used instead of a GPU: each
// instruction runs for all threads of a group of blocks, as a loop over them, before the next one. Groups run in parallel on the CPU's
// cores, unless the program uses the results of atomic instructions on tensors, which would then change from run to run.
//
//	run.go       Runner: the grid, its groups
//	machine.go   a group: variables, memories, faults
//	threads.go   sets of threads; stmt.go: statements, which divide the threads and bring them together
//	column.go    the values of a variable: one for all threads, a form, or one for each
//	form.go      functions of the position of a thread, as indices mostly are
//	loops.go     ops as loops over threads; instr.go, convert.go, check.go: instructions that use them
//	memory.go    loads, stores and atomic instructions; deferred.go: those that wait for the groups before
//	warp.go      barriers, shuffles and votes
//
// Most instructions of a kernel need no loop: an instruction on values that are the same for all threads runs once, and one on forms
// computes the coefficients. Checks of indices that are forms compare the limits, loads and stores of neighboring elements copy.
//
// The fault of a group is that which would come first if the threads ran one after the other from one barrier to the next: when a
// thread has a fault, only the threads before it go on.
package host
