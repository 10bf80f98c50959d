// Package ptx writes PTX: one kernel for each fused loop of elementwise ops, the
// counterpart of package cpu's loops.
//
// A kernel depends on the ops, the element types and the ways in which the inputs
// are walked, and not on sizes and addresses, which are its parameters: programs
// that update many tensors alike share one.
//
// The transcendental functions are evaluated in registers, with at most a few
// units in the last place of error, and know infinities, NaN and denormal numbers.
// Each formula is where it is written.
package ptx
