// Command check tests and measures Quern on a machine with a GPU. That machine needs no Go, no
// CUDA toolkit and no network, only the NVIDIA driver, and glibc 2.34 or later if the program
// was built with cgo:
//
//	make gpu-check            builds build/gpu-check, which contains the kernels
//	build/gpu-check           runs it on the machine with the GPU
//	gpu/check/run.sh          does both
//
// It prints the machine and the NVIDIA libraries in use, and then runs the parts below. Each
// part runs in its own process, so that none can stop another. If one piece of a part, such as
// an op, makes the GPU unusable for its process or does not terminate, a new process continues
// with the next piece:
//
//	first     the time to the first result, with the kernels loaded
//	ops       every op compared with the CPU, its result and its gradients, in float32,
//	          in bfloat16 as with autocast, and in FP8
//	kernels   the kernel tests, which elsewhere run in the simulator, on the GPU:
//	          build/gpu-check-kernels
//	profile   where a step spends its time, and the peak performance of the device
//	ranks     data-parallel training on one GPU and on all GPUs, whose losses must agree
//	gpus      the ops on each additional GPU
//	bench     the benchmarks of accel/bench on this device, beside PyTorch if python3 can import
//	          it: build/gpu-check-bench
//	sanitizer the ops under the tools of compute-sanitizer, if it is installed
//
// It prints tables and writes gpu/results/DATE-DEVICE.json, and the benchmarks a file beside it.
// Both should be committed. The first one also lists what failed or did not fit into the time budget of nine minutes. The exit code is
// 1 if an op or a kernel computes a wrong result.
//
//	-device simulated -quick  tests the program itself without a GPU
//	-only ops                 one part, in this process
//	-budget 20m               more time
//
// # How the program works
//
//	parts.go     the parts and their processes; resume.go how a part continues after
//	             its process has ended
//	ops.go       the ops and how they are compared
//	kernels.go   the tests of the kernels; bench.go the benchmarks
//	report.go    the output and the result file
package main
