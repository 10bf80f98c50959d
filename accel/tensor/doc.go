// Package tensor implements the tensors of accel. Programs call ops eagerly; the package records
// them and runs them as optimized plans.
//
// An op checks its shapes when it is called, panics there with a *ShapeError if they do not fit,
// and is recorded. Item, Data and an optimizer's step run the recorded list. If a list of the same
// structure ran before, its plan is replayed; otherwise elementwise ops are fused, memory is
// planned, and the plan is cached. Forward pass, gradient and update are one list, so they are
// planned together.
//
// Keep what changes from step to step out of the structure. The scalars of AddScalar, MulScalar and
// PowScalar, random masks, and the contents of tensors are not part of it: pass a learning rate as
// MulScalar(rate), or keep it in a tensor and call SetData.
//
// Ops compute in float32, or in float64 if an input is float64 and the op supports it. Ops of
// 16-bit floats compute in float32 and round. [Recompute] lets a step run that would need too much
// memory.
//
// The garbage collector frees tensors; there is no need to free them. All functions may be called
// from several goroutines. Two runs with the same seed give the same bits, whatever the number of
// threads.
//
// What other packages of accel need of tensors and programs do not is in accel/internal/engine/tensors.
//
// The files, of which the first ones are the basis of the others:
//
//	tensor.go     Tensor and its elements; create.go, generator.go: new tensors, also random ones
//	engine.go     the recorder that all tensors share, and the scopes of goroutines; device.go: where it computes
//	autograd.go   gradients, recomputation, values that are not finite; autocast.go: 16-bit and 8-bit floats, TF32
//	elementwise.go, reduce.go, index.go, integers.go, shape.go, matmul.go, conv.go, normalization.go, attention.go,
//	recurrence.go, loss.go   the ops
//
// To add an op, write its shape rules and gradient in accel/internal/engine/ir/op_<name>.go, its code as a
// row of the tables in accel/internal/cpu, and its method here.
package tensor
