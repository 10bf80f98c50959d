package accel

import "github.com/quernlab/quern/accel/tensor"

// Seed sets the seed of all random numbers from here on: initial weights, the order of the
// examples in [Fit], and dropout. Two runs after the same seed are equal bit for bit, whatever
// the number of cores and workers. A program starts as if Seed(0) had been called.
func Seed(n uint64) { tensor.Seed(n) }

// Statistics counts what the tensor runtime did since the start of the program.
type Statistics struct {
	Flushes   int // lists of operations that were run
	PlansMade int // lists that needed a new plan
	PlanHits  int // lists that reused a plan
	Syncs     int // times that the program waited for a result
	Ops       int // operations in all lists
	Steps     int // fused kernels and matrix multiplications after fusion
	LiveBytes int // of reachable tensors, as of the last garbage collection
	PeakBytes int // highest LiveBytes plus the temporaries of the plan that ran
	PlanBytes int // that the plans allocate for temporaries

	Device tensor.DeviceCounts // operations of a GPU
}

// Stats returns the counts since the start of the program.
func Stats() Statistics { return Statistics(tensor.Stats()) }

// AllowTF32 sets whether matrix multiplications of float32 tensors may use a GPU's TF32 tensor
// cores, which round their inputs to ten mantissa bits: several times faster, with relative
// errors of about 1e-3. It is off by default and has no effect on the CPU. [AMP] is faster
// still.
func AllowTF32(on bool) { tensor.AllowTF32(on) }
