package prune

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/nn"
)

// Pattern keeps the n largest of every m consecutive weights of an output (N:M sparsity), such as 2
// of 4, which the tensor cores of some GPUs multiply faster (Mishra et al., Accelerating Sparse
// Deep Neural Networks, 2021); here they are ordinary zeros. Of an incomplete last group the same
// fraction is kept, rounded up. It takes the option [Except].
//
// Errors are those of [Magnitude].
func Pattern(model nn.Module, n, m int, options ...Option) (masks *Masks, err error) {
	defer nn.Catch(&err)
	if n < 1 || m < n {
		return nil, fmt.Errorf("prune: Pattern(%d, %d): n must be at least 1 and at most m", n, m)
	}
	o, err := newOptions("Pattern", options, "Except")
	if err != nil {
		return nil, err
	}
	all, err := selectLayers(model, o.except)
	if err != nil {
		return nil, err
	}
	var keep [][]bool
	for _, p := range all {
		w, err := p.weights()
		if err != nil {
			return nil, err
		}
		row := len(w) / max((*p.Weight).Size(0), 1)
		if row == 0 {
			return nil, &LayerError{p.name, errors.New("its weight is empty")}
		}
		k := make([]bool, len(w))
		for from := 0; from < len(w); {
			size := min(m, row-from%row)
			group := make([]int, size)
			for i := range group {
				group[i] = from + i
			}
			slices.SortStableFunc(group, func(a, b int) int {
				return cmp.Compare(math.Abs(float64(w[b])), math.Abs(float64(w[a])))
			})
			for _, i := range group[:(n*size+m-1)/m] {
				k[i] = true
			}
			from += size
		}
		keep = append(keep, k)
	}
	return newMasks(model, all, keep)
}
