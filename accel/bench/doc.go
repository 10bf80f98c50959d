// Command bench compares the speed of Quern, PyTorch and JAX in one run:
//
//	go run ./accel/bench -python .venv/bin/python        everything (some minutes)
//	go run ./accel/bench -python … -bench mlp,cnn        some benchmarks
//	go run ./accel/bench -check                          Quern alone, compared with the last committed run
//	go run ./accel/bench -python … -save               and store the result in accel/bench/results
//
// The interpreter must have torch, jax or both; without -python only Quern is measured. JAX
// has one setting. PyTorch runs with one or two threads, eager and compiled (torch.compile, which needs
// a C++ compiler), and for images in channels-last format; its Adam is the fused one. Quern is
// compared with the fastest of them.
//
// # How the time is measured
//
// Every framework, with each number of threads, is a process of its own (see protocol.go),
// which sleeps while another one is measured. All processes receive the same inputs and must
// compute the same losses, the first one to 0.1 % and the next four to 10 %, because rounding
// errors grow with each update. A framework that computes others, or that fails, is reported
// and not compared; the run continues, and after a disagreement its exit code is 1. Each
// benchmark is printed when it has been measured. The processes are measured in interleaved rounds, -rounds
// times for -slice seconds each; the median and the quartiles are reported. The same rounds
// also measure the peak of the CPU, with multiplications and additions in registers only, for
// each number of threads. Fractions of the peak refer to that.
//
// # Results
//
// A result contains the machine, the versions and all measurements in seconds per step. The
// folder results has one file for each machine. A run is compared with the newest result of the same
// machine, and benchmarks that have become more than 10 % slower are listed; with -check the
// exit code is then 1. A benchmark that seems slower is measured again, twice, and the fastest
// time counts. A lower peak of the machine is taken into account.
//
// # How the program works
//
//	cases.go      the benchmarks, their sizes and targets
//	models.go     models; workload.go what a step does
//	arrays.go     the inputs of all frameworks
//	measure.go    rounds; process.go processes; serve.go Quern as such a process
//	peer/*.py     PyTorch and JAX
//	result.go     files; compare.go regressions; table.go the output
//
// A new benchmark needs a row in cases.go and a model or function with its name in the two
// scripts.
package main
