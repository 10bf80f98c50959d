// Package tensor is the tensor that users of accel work with: written eagerly,
// run from plans.
//
// An op checks shapes where it is called, panics there with a *ShapeError if
// they do not fit, and is then recorded. Item, Data and an optimiser's step
// run the recorded list. A list whose structure was seen before replays its
// plan; otherwise elementwise ops are fused, memory is planned, and the plan
// is kept. Forward pass, gradient and update are one list, so they are planned
// together.
//
// What changes from step to step must not change the structure. The scalars of
// AddScalar, MulScalar and PowScalar, random masks, and the contents of tensors
// are no part of it: a learning rate may be passed as MulScalar(rate), or kept
// in a tensor that SetData changes.
//
// Ops compute in float32, or in float64 where they are given it and can; those
// of 16-bit floats compute in float32 and round (see the list of types). A step
// that is too large for the memory can be cut with Recompute.
//
// Tensors are reclaimed by the garbage collector; nothing is freed by hand.
// All functions may be called from several goroutines. Two runs with one seed
// give equal bits, whatever the number of threads.
//
// To add an op: its rules and gradient are accel/internal/ir/op_<name>.go, its
// code is a row of the tables in accel/internal/cpu, and its method is here.
package tensor
