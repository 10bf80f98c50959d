// Package prof says where the time and the memory of a training step go.
//
//	report, err := prof.Run(ctx, func() error {
//		it.Next()
//		b := it.Batch()
//		opt.ZeroGrad()
//		nn.CrossEntropy(model.Forward(b.X), b.Y).Backward()
//		opt.Step()
//		return it.Err()
//	}, prof.Warmup(3), prof.Active(5))
//	report
//
// The [Report] shows itself: a timeline of one step with its gaps named, the
// memory over that step, a table in the columns of PyTorch's key_averages, and
// [Report.Hints]. [Report.Table] sorts the table, [Report.Layers] adds up the
// layers, [Report.Roofline] sets what was reached against what the machine can
// do. [Report.Save] writes a trace that ui.perfetto.dev and chrome://tracing open,
// [Report.SavePprof] a profile for go tool pprof.
//
// Where Nsight Systems or Nsight Compute has started the program, accel.Fit tells it
// steps, phases, layers and operations as NVTX ranges; [NVTX] has other loops do so.
//
// # On a GPU
//
// A profiled step is one launch, as without a profile: a CUDA graph, with an event
// behind each kernel. Launched one by one, kernels would wait for the host, and the
// profile would be of something else. What an event costs the GPU is in the time of
// the kernel before it. The host goes on meanwhile, up to two
// steps ahead. So a step is measured on the device, from the end of the last op of
// the step before to the end of its own, and what the host does counts where the
// device has nothing to do: [Report.Gaps] names it. The clocks of both are compared at
// the beginning.
//
// # Several ranks
//
// In a loop of ranks (accel/parallel) [Report.Communication] says how long numbers are on
// their way, and how much of that is beside the computation. Breakdown, timeline and hints
// have what is left: the time in which a rank waits for the others. Each rank's report is
// of itself: where one waits longer than another, that one is slower.
//
// # What is measured
//
// The engine records operations and runs them later, as one list. What the table
// calls an op is a step of that list: a matrix product, or several elementwise
// operations in one loop. Layers are called as they are in the model: "2 Dense(64)"
// for the third of an nn.Sequential, "block.up" for a field of a struct, also of
// one that was written in a cell. For fields the names come from the optimiser, and
// from accel.Predict and the like; a step without any of them has those of
// nn.Sequential only.
//
// Times are those of the clock: what else the machine does in the meantime is in
// them. FLOPs and bytes are counted from the shapes: two for each multiplication
// and addition of a matrix product, one for each element of an elementwise
// operation; each operand read and each result written once.
//
// Without a profile none of this costs more than looking at a pointer. With one, a
// step of 90 operations takes about ten microseconds longer: 1 % of a step of
// two milliseconds, 8 % of one of a tenth of that (BenchmarkOverhead).
//
// # Errors
//
// Run gives the error of the step, of the context or of a wrong option, with the
// report of the steps before it. One profile is taken at a time; another is refused
// with [ErrBusy].
//
// # For who changes this package
//
// Package internal/trace has what the engine tells; work.go makes of it the pieces
// of work that all else counts and draws.
package prof
