// Command bench measures the engine beside PyTorch and JAX, all in one run:
//
//	go run ./accel/bench -python .venv/bin/python        everything (some minutes)
//	go run ./accel/bench -python … -bench mlp,cnn        some of it
//	go run ./accel/bench -check                          the engine alone, against the last checked-in run
//	go run ./accel/bench -python … -out accel/bench/results/NAME.json
//
// The interpreter must have torch and jax; without -python only the engine is
// measured. JAX has one setting, PyTorch one or two threads, eager and compiled
// (torch.compile, which needs a C++ compiler), and for images channels-last; its
// Adam is the fused one. The engine is compared with the fastest of them.
//
// # How it is measured
//
// Every framework, with each number of threads, is a process of its own (see
// protocol.go) that sleeps while another is measured. All are given the same
// numbers, and must come to the same losses, or the run fails. They are measured
// in turns, -rounds times for -slice seconds each; what is reported is the median
// and the quarters. In the same turns the processor's peak is measured, with
// multiplications and additions in registers alone, for as many threads: shares
// of the peak mean that.
//
// # Results
//
// A result has the machine, the versions and all figures, in seconds a step. The
// folder results has those that are checked in. A run is compared with the newest
// of the same machine, and what has become more than 10 % slower is named; with
// -check the exit code is 1 then. What seems slower is measured again, twice, and
// the fastest counts. A machine whose peak has fallen excuses as much.
//
// # For who changes this program
//
//	cases.go      the benches, their sizes and targets
//	models.go     models; workload.go what a step is
//	arrays.go     the numbers that all are given
//	measure.go    turns; side.go processes; serve.go this engine as one
//	peer/*.py     PyTorch and JAX
//	result.go     files; compare.go regressions; table.go what is printed
//
// A new bench is a row in cases.go and, under its name, a model or a function in
// the two scripts.
package main
