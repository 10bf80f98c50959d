// Command check is the one command for a machine with a GPU. It needs no Go, no
// CUDA toolkit and no network there, only the NVIDIA driver:
//
//	make gpu-check            builds build/gpu-check, with the kernels inside
//	build/gpu-check           on the machine with the GPU
//	gpu/check/run.sh          both, and compute-sanitizer where it is installed
//
// It says what machine it is, compares every op on the GPU with the processor,
// its result and its gradients, in float32 and as autocast has it in bfloat16,
// counts what the host waits for in a training step, and then measures training
// steps and matrix products: (a) an MLP, (b) ResNet-9, (c) GPT-2 124M. Where
// python3 has PyTorch, the same is measured with it on the same device in the
// same run, eager, with torch.compile and with a CUDA graph. It prints one table
// and writes gpu/results/DATE-DEVICE.json, which is to be checked in. The exit
// code is 1 if an op is wrong.
//
//	-device simulated -quick  tries the program itself where there is no GPU
//
// # For who changes this program
//
//	ops.go       the ops and how they are compared
//	models.go    the benches, their sizes, real and quick
//	bench.go     how a step is measured; torch.go and torch.py the same of PyTorch
//	report.go    the table and the file
package main
