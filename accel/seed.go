package accel

import "github.com/quernlab/quern/accel/tensor"

// Seed fixes all that is random from here on: the weights that layers start
// with, the order of the examples in [Fit], and what Dropout drops. Two runs
// after the same seed are equal bit for bit, however many processors and
// workers there are. A program starts as after Seed(0).
func Seed(n uint64) { tensor.Seed(n) }

// nextSeed draws a seed for the order of a run's examples.
func nextSeed() uint64 { return (*tensor.Generator)(nil).Uint64() }

// Statistics counts what the engine did since the start of the program.
type Statistics struct {
	Flushes   int // lists of operations that were run
	PlansMade int // of these, whose structure was new
	PlanHits  int // of these, that replayed a plan
	Syncs     int // times that the program waited for a result
	Ops       int // operations in all lists
	Steps     int // loops and products of matrices that they became after fusion
	LiveBytes int // of tensors that are reachable, as of the last garbage collection
	PeakBytes int // highest LiveBytes with the temporaries of the plan that ran
	PlanBytes int // that the plans use for temporaries

	Device tensor.DeviceCounts // what was asked of a GPU
}

// Stats gives the counts.
func Stats() Statistics { return Statistics(tensor.Stats()) }
