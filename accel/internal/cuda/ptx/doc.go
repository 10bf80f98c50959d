// Package ptx generates PTX: one kernel for each fused group of elementwise ops, the
// counterpart of package cpu's fused loops.
//
// A kernel depends on the ops, on the element types and on how each input is accessed
// (contiguous, one element for all, or strided). Sizes and addresses are its parameters,
// so programs that update many tensors in the same way share one kernel. A batch is one launch of
// such a kernel for many tensors, see batch.go. Waiting changes any module so that its kernels may
// begin before those before them have ended.
//
// The transcendental functions are evaluated in registers, with an error of at most a few
// units in the last place (ULP). They handle infinities, NaN and denormal numbers. The
// comment of each function gives its formula.
package ptx
