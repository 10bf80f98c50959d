package loop

import "github.com/quernlab/quern/accel/tensor"

// nextSeed draws a seed for the order of a run's examples.
func nextSeed() uint64 { return (*tensor.Generator)(nil).Uint64() }

// KeepRandom returns a function that sets the random numbers back to where they are now, so that a search
// does not change the training after it.
func KeepRandom() (restore func()) {
	seed, drawn := (*tensor.Generator)(nil).State()
	weightSeed, weightsDrawn := tensor.WeightGenerator().State()
	return func() {
		(*tensor.Generator)(nil).SetState(seed, drawn)
		tensor.WeightGenerator().SetState(weightSeed, weightsDrawn)
	}
}
