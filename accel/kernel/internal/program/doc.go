// Package program is the typed intermediate form of a kernel, between the Go source and the code that runs: a tree of blocks,
// loops and branches, whose leaves are instructions on the variables of a thread.
//
//	compile  checked Go syntax  →  Program
//	host     Program            →  closures on the lanes of a block, on the CPU
//	device   Program            →  PTX
//
// All calls are inlined. A variable has a scalar type and belongs to one thread; arrays and the elements of slices are in a
// [Memory]. A slice is a memory with an offset and a length, which are variables, so that every access names the memory that
// it accesses. Conditions for which Go panics are instructions of their own (CheckIndex and others), so that both back ends
// report the same faults in the same order.
package program
