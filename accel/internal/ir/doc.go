// Package ir is the engine between tensors and devices: the table of ops, the
// list that records them, and the planner that turns a list into a program.
//
// The way of a computation, file by file:
//
//	op.go, op_<name>.go  what an op is; each op with its shape rule and gradient
//	value.go             a value: pending in the list, computed, or gone
//	recorder.go          Record and Assign append to the list, and to its key
//	backward.go          gradients, as further ops of the same list
//	join.go              gradients of slices, put together
//	flush.go             key and roles → plan → run; what a failure leaves behind
//	cache.go             plans by structure
//	plan.go              views resolved, dead ops left out
//	float16.go, fp8.go   matrix multiplication of 16-bit floats and of FP8
//	fuse.go              elementwise ops → loops
//	emit.go              groups → steps over slots
//	place.go             in-place updates, temporaries in the arena
//	verify.go            what a program must fulfil, checked after planning
//	program.go, dump.go  what a device gets
//	device.go            what a device is
//	op_checkpoint.go     parts that Backward runs again
//	tracer.go            what others are told of the list
//	limit.go             how much memory it may take
//	finite.go            which op made the first NaN
//
// To add an op: op_<name>.go with the struct, its Infer and Gradient (written
// in other ops), and a row in the tables of each device; package tensor gets
// the method, and a row in its table of references.
//
// # Invariants
//
// A value never changes. An in-place update makes a new value, which may get
// the old one's storage only if no holder, no tape and no view can reach it.
// Everything that changes the program is in the key: op names, static
// parameters, shapes, element types, layouts of externals, which values
// outlive the list, and which may be overwritten. What is not in the key (see
// Dynamic) must not change the program.
//
// A Recorder is for one goroutine at a time. Errors of the caller are panics
// with the types of package accel/internal/tensor.
package ir
