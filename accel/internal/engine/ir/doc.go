// Package ir connects tensors and devices. It contains the table of ops, the list in which
// they are recorded, and the planner that compiles a list to a program.
//
// The files, in the order of a computation:
//
//	op.go, op_<name>.go  what an op is, and the facts that it states: autocast, FLOPs, ONNX; each op with its shape rule and gradient
//	compose.go           how an op is computed from others: an elementwise one by its formula, another one where a device has no kernel
//	composite.go         one op that stands for several elementwise ones
//	value.go             a value: pending in the list, computed, or released
//	recorder.go          Record and Assign append to the list, and to its key; another device
//	backward.go          gradients, as further ops of the same list
//	trim.go              when a list runs that nothing reads; the memory limit
//	flush.go             key and roles → plan → run, in parts if the memory does not suffice; plans by structure; clean-up after a failure
//	plan.go              resolves views, removes dead ops
//	float16.go, fp8.go   16-bit floats from op to op; multiplication of 8-bit floats
//	fuse.go              elementwise ops → fused kernels; losses, activations and sums → the steps that compute them too
//	batch.go             fused kernels of many parameters → one step
//	norms.go             norms with the sums and roundings around them → one step
//	emit.go              groups → steps over slots
//	memory.go            in-place updates, temporaries in the arena
//	program.go           the program that a device gets, the interface of a device, and the invariants of a program
//	op_recompute.go      parts that Backward runs again
//	kernel.go            runs kernels that the program has written
//	kernelop.go          such a kernel as an op
//	measure.go           measures such kernels
//	tracer.go            records the ops for exporters
//	finite.go            finds the op that computed the first NaN
//
// To add an op: op_<name>.go with the struct, its Infer and Gradient (written in other
// ops), and the facts of op.go that are not the default. An elementwise op states its
// formula, another one its composition (compose.go), and devices need no code.
// Package tensor gets the method, and a row in its table of references. go test -update
// writes table.go.
//
// # Invariants
//
// A value never changes. An in-place update creates a new value, which may reuse the old
// one's storage only if no holder, no tape and no view can reach it. Everything that
// changes the program is in the key: op names, static parameters, shapes, element types,
// layouts of externals, which values outlive the list, and which may be overwritten. What
// is not in the key (see Dynamic) must not change the program.
//
// A Recorder must be used by one goroutine at a time. Errors of the caller are panics with
// the types of package accel/internal/engine/tensortype.
package ir
