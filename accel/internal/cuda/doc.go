// Package cuda runs programs on an NVIDIA GPU.
//
// A [Device] runs all work on one stream, in the order of the calls. The host waits
// only for the elements that it reads: a second stream copies them, after an event of
// the run that computed them, while the first stream continues.
//
// The first run of a program launches it kernel by kernel. Later runs launch a CUDA
// graph. A graph contains addresses, so there is one for each set of buffers that the
// program is run with, up to a few; then the least recently used graph is updated to
// the new addresses. A training loop frees and allocates the same buffers in every
// step, and so gets the same addresses.
//
// With the variant pdl=on (programmatic dependent launch) a kernel of a graph begins when all blocks of the kernel before
// have begun, and waits for its end first; see ptx.Waiting.
//
// Package kernels has our own kernels and plans a step that is one op; package ptx writes
// fused kernels. cuBLASLt and cuDNN may compute matrix multiplications and convolutions, see
// [Libraries]. Such a step has several candidates, one of which is selected when the
// program is compiled. The calls of a library are captured into the program's graph.
//
// A kernel that finds its data to be wrong, an index out of range for instance, writes
// a fault to device memory. The host looks at faults when it waits anyway, or when they
// have arrived, so the error comes from a later call. Until then fused kernels after the
// fault do not overwrite what existed before the program ran.
//
// # Files
//
// A file uses only those of its own line and of the lines above it.
//
//	memory.go, staging.go, timeline.go, faults.go, code.go   memory, copies from the host, events, faults, loaded kernels
//	context_profiled.go, profile.go, queue.go                profiles; the stream of all work with its memory
//	launch.go, graph.go, reclaim.go                          launches and CUDA graphs
//	variants.go, libraries.go, autotune_cache.go, device.go  settings for measurements, the libraries in use, and the device
//	capability.go, program.go, run.go                        what the GPU can multiply; a program and its runs
//	fused.go, autotune.go                                    fused elementwise kernels; several candidates for a step
//	library_step.go, conv_cudnn.go, matmul_cublaslt.go       candidates of libraries
//	nan_check.go, compile.go, ranks.go                       verified results; compilation; exchanges between GPUs by NCCL
package cuda
