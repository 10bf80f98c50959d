// Command bench compares the speed of Quern, PyTorch and JAX in one run, on the CPU or a GPU:
//
//	go run ./accel/bench -python .venv/bin/python        everything (some minutes)
//	go run ./accel/bench -python … -bench mlp,cnn        some benchmarks
//	go run ./accel/bench -check                          Quern alone, compared with the last committed run
//	go run ./accel/bench -python … -save                 and store the result in accel/bench/results
//	go run ./accel/bench -python … -cold                 with the caches emptied before each step
//	go run ./accel/bench -kinds                          the committed results of all kinds of CPUs
//	GODEBUG=cpu.avx512f=off go run ./accel/bench …       a CPU with AVX-512 as one that has AVX2 only
//	go run ./accel/bench -python … -device cuda          on a GPU
//	go run ./accel/bench -device simulated -quick        a test of the cases for GPUs
//	go run ./accel/bench -device cuda -bench mlp -profile mlp.json    the kernels of a step
//
// The interpreter should have torch or jax; a framework that it cannot import is reported and not
// measured, and without -python only Quern is measured. On the CPU, JAX has one setting. PyTorch
// runs with one or two threads, eager and compiled (torch.compile, which needs
// a C++ compiler), and for images in channels-last format; its Adam is the fused one. On a GPU,
// PyTorch runs eager, compiled, and as a CUDA graph, and JAX has no cases. Quern is
// compared with the fastest of them. Whether a device computes right values is tested by accel/gpucheck,
// which also runs this program.
//
// # How the time is measured
//
// Every framework, with each number of threads, is a process of its own (see process.go),
// which sleeps while another one is measured. All processes receive the same inputs and must
// compute the same losses, the first one to 0.1 % (1 % with bfloat16) and the next four to 10 %, because rounding
// errors grow with each update. What disagrees, fails or does not reply is reported
// and not compared; the run continues, and its exit code is 1 after a disagreement or if Quern failed. Each
// benchmark is printed when it has been measured. The processes are measured in interleaved rounds, -rounds
// times for -slice seconds each; the median and the quartiles are reported. The same rounds
// also measure the peak of the CPU, with multiplications and additions in registers only, for
// each number of threads. Fractions of the peak refer to that.
//
// The caches contain what the step before has left there, as in a training, which repeats its step. With -cold, and for
// benchmarks whose names end with -cold, all cores change memory of twice the size of their caches before each step, up
// to 64 MiB, and only the steps count: so does the first request of a model that waits, or a step between others.
//
// On a GPU one setting after the other is measured, since all would share its memory. Only
// torch.compile starts with the run, in a process for each benchmark, and is measured last: it
// compiles on the CPU for up to a minute. The mean power of the GPU
// gives the energy of a step, and the driver calls of a repeated step of Quern are counted.
//
// # Results
//
// A result contains the machine with the caches of a core and whether it grants huge pages, the versions and all measurements in
// seconds per step. The folder results has one file for each machine; a CPU whose instruction sets are limited is another one, and the
// other frameworks are then limited by their variables, if they have any: the first lines say which ones are not. A run is compared with the newest result of the same
// machine, and benchmarks that have become more than 10 % slower are listed; with -check the
// exit code is then 1. A benchmark that seems slower is measured again, twice, and the fastest
// time counts. A lower peak of the machine is taken into account.
//
// # How the program works
//
//	cases.go      the benchmarks, their sizes and targets; cases_gpu.go those for GPUs
//	models.go     models; workload.go what a step does
//	arrays.go     the inputs of all frameworks
//	measure.go    rounds; process.go processes; serve.go Quern as such a process
//	peer/*.py     PyTorch and JAX
//	cold.go       empties the caches
//	energy.go     the power of a GPU
//	profile.go    the kernels of a step; variants.go settings of Quern beside the default
//	result.go     files; compare.go regressions; kinds.go kinds of CPUs; table.go the output
//
// A new benchmark needs a row in cases.go or cases_gpu.go, and a model or function with its name in
// the two scripts. Sizes are not repeated there: they follow from the arrays.
package main
