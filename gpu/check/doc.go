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
//	bench     training steps of (a) an MLP, (b) ResNet-9, (c) GPT-2 124M: their
//	          time, launches, copies, waits, allocations, power and energy
//	matmul    matrix multiplications at 512, 4096 and 8192, in float32, bfloat16 and FP8
//	profile   where a step spends its time, and the peak performance of the device
//	ranks     data-parallel training on one GPU and on all GPUs, whose losses must agree
//	gpus      the ops on each additional GPU
//	sanitizer the ops under the tools of compute-sanitizer, if it is installed
//	torch     the benchmarks and matrix multiplications in PyTorch on the same device: eager,
//	          with torch.compile and with a CUDA graph, if python3 can import torch
//
// It prints tables and writes gpu/results/DATE-DEVICE.json, which should be committed. The file
// also lists what failed or did not fit into the time budget of nine minutes. The exit code is
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
//	models.go    the benchmark models and their sizes, full and quick
//	bench.go     how a step is measured; torch.go and torch.py do the same in PyTorch
//	report.go    the tables and the result file
package main
