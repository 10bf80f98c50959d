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
// cuBLASLt and cuDNN may compute matrix multiplications and convolutions, see
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
//	device.go, memory.go, staging.go, timeline.go   the device, its memory pool, copies from the host, events
//	program.go, fused.go, op.go, op_*.go            a program: fused elementwise kernels and kernels of whole ops
//	matmul_own.go, conv_own.go, attention_own.go    our own kernels for the expensive ops
//	matmul_cublaslt.go, conv_cudnn.go, fp8.go       the same by libraries, and 8-bit floats
//	autotune.go, autotune_cache.go                  the selection of one of several candidates
//	launch.go, graph.go, faults.go, profile.go      launches, CUDA graphs, faults, profiles
//	ranks.go                                        sums over GPUs by NCCL
package cuda
