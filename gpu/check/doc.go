// Command check is the one command for a machine with a GPU. It needs no Go, no
// CUDA toolkit and no network there, only the NVIDIA driver, and glibc of 2.34 or later
// where it was built with one:
//
//	make gpu-check            builds build/gpu-check, with the kernels inside
//	build/gpu-check           on the machine with the GPU
//	gpu/check/run.sh          both
//
// It says what machine it is and which of NVIDIA's libraries it uses, and then does
// this, each part in a process of its own, so that none can stop another. Where a piece
// of a part, an op for instance, takes the GPU from its process or does not come to an
// end, a new process goes on with the next:
//
//	first     the time until the first result, kernels loaded
//	ops       every op against the processor, its result and its gradients, in
//	          float32, as autocast has it in bfloat16, and in 8-bit floats
//	kernels   the tests of the kernels, which pass in the simulator everywhere
//	          else, on the GPU: build/gpu-check-kernels
//	bench     training steps of (a) an MLP, (b) ResNet-9, (c) GPT-2 124M: their
//	          time, launches, copies, waits, allocations, power and energy
//	products  matrix products at 512, 4096 and 8192, in 32, 16 and 8 bits
//	profile   where a step goes, and what the device can do at most
//	ranks     data-parallel training on one GPU, and on all, whose losses are those
//	          of one
//	gpus      the ops on each further GPU
//	sanitizer the ops under the tools of compute-sanitizer, where that is installed
//	torch     the benches and products with PyTorch on the same device, eager, with
//	          torch.compile and with a CUDA graph, where python3 has it
//
// It prints tables and writes gpu/results/DATE-DEVICE.json, which is to be checked
// in. What fails, or does not fit into the budget of nine minutes, is noted there. The
// exit code is 1 if an op or a kernel is wrong.
//
//	-device simulated -quick  tries the program itself where there is no GPU
//	-only ops                 one part, in this process
//	-budget 20m               more time
//
// # For who changes this program
//
//	parts.go     the parts, and how each gets its process; resume.go how one goes on
//	             behind what ended its process
//	ops.go       the ops and how they are compared
//	models.go    the benches, their sizes, real and quick
//	bench.go     how a step is measured; torch.go and torch.py the same of PyTorch
//	report.go    the tables and the file
package main
