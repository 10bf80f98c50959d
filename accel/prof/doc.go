// Package prof profiles the time and the memory of training steps.
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
// The [Report] displays itself: a timeline of one step with the reasons of its gaps, the memory
// during that step, a table with the columns of PyTorch's key_averages, and [Report.Hints].
// [Report.Table] sorts the table, [Report.Layers] sums the time by layer, and [Report.Roofline]
// compares the speed of ops with the peak of the device. [Report.MemoryUse] returns the memory that
// is allocated and reserved, and the peak of a step and of its phases. [Report.Alignment] lists the
// sizes of layers that are slow on tensor cores. [Report.Save] writes a trace for ui.perfetto.dev
// and chrome://tracing, [Report.SavePprof] a profile for go tool pprof.
//
// If Nsight Systems or Nsight Compute has started the program, accel.Fit emits steps, phases,
// layers and operations as NVTX ranges; [NVTX] does the same for other loops.
//
// [Serving] measures a trained model instead: the latency and the throughput of requests of several sizes.
//
// # On a GPU
//
// A profiled step is launched like any other, as one CUDA graph, with an event after each
// kernel. If kernels were launched one by one, they would wait for the host, and the profile
// would measure something else. The time that an event costs the GPU is part of the kernel
// before it. The host continues meanwhile, up to two steps ahead. A step is therefore measured
// on the device, from the end of the last op of the previous step to the end of its own last
// op, and host work only counts where the device is idle: [Report.Gaps] names it. The clocks of
// host and device are synchronized at the beginning.
//
// # Several ranks
//
// In a training loop with ranks (accel/parallel), [Report.Communication] returns how long
// transfers take and how much of that overlaps with computation. Breakdown, timeline and hints
// show the remaining time, in which a rank waits for others. The report of each rank covers
// only that rank: if one rank waits longer than another, the other one is slower.
//
// # What is measured
//
// Tensors record operations and run them later as one list. An op in the table is a step of
// that list: a matrix multiplication, or several elementwise operations in one fused kernel.
// Layers have their names in the model: "2 Dense(64)" for the third layer of an nn.Sequential,
// "block.up" for a field of a struct, including structs declared in a cell. Field names are
// known from the optimizer, accel.Predict and similar functions; a step without any of these
// only has the names of nn.Sequential.
//
// Times are wall-clock times, so they include interference by other processes. FLOPs and bytes
// are computed from the shapes: two FLOPs for each multiply-add of a matrix multiplication, one
// for each element of an elementwise operation; each operand is read once and each result
// written once.
//
// Without a profile the cost is one pointer check. With a profile, a step of 90 operations
// takes about ten microseconds longer: 1 % of a step of 2 ms, 8 % of a step of 0.2 ms
// (BenchmarkOverhead).
//
// # Errors
//
// Run returns the error of the step, of the context or of an invalid option, with the report of
// the steps before it. Only one profile can be taken at a time; a second one fails with
// [ErrBusy].
//
// # How the package works
//
// Package internal/trace collects the events of the tensor code; work.go converts them to the
// ops and host events from which everything else is computed and drawn.
package prof
