package diffusion

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/quernlab/quern/accel/data"
)

// Dataset returns a data set for accel.Fit of examples with noise: example i is example i of set at a time step that is
// drawn each time that a batch needs it, all steps with the same probability. Its values are those of x_t, the step,
// and if the examples have classes, the class. Its targets are the noise, or with [Schedule.PredictVelocity] the
// velocities. Transforms of set are applied before the noise.
//
// Steps and noise are those of data.Dataset.Derive: they do not depend on the number of workers, and a training that
// is resumed has the same bits. A validation set of this kind has the same noise in each validation.
func (s *Schedule) Dataset(set *data.Dataset) (*data.Dataset, error) {
	if set == nil {
		return nil, errors.New("diffusion: Dataset: the data set is nil: check the error returned where it was created")
	}
	n := 1
	for _, d := range set.Shape() {
		n *= d
	}
	inputs := n + 1
	if len(set.Classes()) > 0 {
		inputs++
	}
	noisy, err := set.Derive("noisy", inputs, n, func(input, target []float32, e data.Example, random *rand.Rand) {
		t := random.IntN(len(s.bars))
		keep, add := math.Sqrt(s.bars[t]), math.Sqrt(1-s.bars[t])
		for i, v := range e.X {
			x, noise := float64(v), random.NormFloat64()
			input[i], target[i] = float32(keep*x+add*noise), float32(noise)
			if s.velocity {
				target[i] = float32(keep*noise - add*x)
			}
		}
		input[n] = float32(t)
		if inputs > n+1 {
			input[n+1] = float32(e.Class)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("diffusion: %w", err)
	}
	return noisy, nil
}
