// Package host runs a program on the CPU. It is the reference for what a kernel computes: each instruction runs for all threads of
// a block, in the order of their numbers, before the next one. Blocks run in parallel on the CPU's cores, unless the program has
// atomic instructions, whose order would then change sums of floats from run to run.
//
//	run.go       Run: the grid
//	machine.go   a block: variables, memories, statements
//	instr.go     instructions as closures on lists of threads
//	arithmetic.go, convert.go  the values of ops
//	memory.go    loads, stores and atomic instructions
//	warp.go      barriers, shuffles and votes
//
// A value is 64 bits: the bits of a float, or an integer extended by its sign or by zeros.
package host
