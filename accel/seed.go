package accel

import "github.com/quernlab/quern/accel/tensor"

// Seed fixes all that is random from here on: the weights that layers start
// with, the order of the examples in [Fit], and what Dropout drops. Two runs
// after the same seed are equal bit for bit, however many processors and
// workers there are. A program starts as after Seed(0).
func Seed(n uint64) { tensor.Seed(n) }

// nextSeed draws a seed for the order of a run's examples.
func nextSeed() uint64 { return (*tensor.Generator)(nil).Uint64() }

// Statistics counts what the engine did.
type Statistics = tensor.Statistics

// Stats gives the counts since the start of the program: how many lists of
// operations were run, and how many of them by a plan that was there already.
func Stats() Statistics { return tensor.Stats() }
