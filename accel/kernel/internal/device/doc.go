// Package device writes the PTX of a program.
//
//	module.go      Write: the module, its parameters and declarations; registers
//	stmt.go        statements, and positions in the source (.loc)
//	instr.go       arithmetic; convert.go: conversions
//	memory.go      loads, stores and atomic instructions; barriers, shuffles and votes
//	fault.go       checks and the record of the first fault
//
// A variable is a register: integers of at most 32 bits and bools are extended to 32 bits, by their sign or by zeros.
package device
