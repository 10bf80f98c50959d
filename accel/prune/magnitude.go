package prune

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/nn"
)

// Magnitude sets the weights with the smallest absolute values to zero: the fraction sparsity of
// all weights, as PyTorch's global_unstructured with L1Unstructured, or of each layer with
// [PerLayer]. Of equal weights the first ones are kept. It takes the options PerLayer and [Except].
//
// It returns a [*SparsityError] for a sparsity outside [0, 1), a [*EmptyLayerError] if a layer
// would lose all its weights, an [*UnknownLayerError] if [Except] names no layer, and a
// [*LayerError] for a layer without weights or with weights that are not finite.
func Magnitude(model nn.Module, sparsity float64, options ...Option) (m *Masks, err error) {
	defer nn.Catch(&err)
	if err := checkSparsity(sparsity); err != nil {
		return nil, err
	}
	o, err := newOptions("Magnitude", options, "PerLayer", "Except")
	if err != nil {
		return nil, err
	}
	all, err := selectLayers(model, o.except)
	if err != nil {
		return nil, err
	}
	keep, err := smallest(all, sparsity, o.perLayer)
	if err != nil {
		return nil, err
	}
	return newMasks(model, all, keep)
}

// smallest returns which weights to keep if the smallest ones are pruned.
func smallest(all []*prunable, sparsity float64, perLayer bool) ([][]bool, error) {
	var sizes [][]float32
	for _, p := range all {
		w, err := p.weights()
		if err != nil {
			return nil, err
		}
		for i, v := range w {
			w[i] = float32(math.Abs(float64(v)))
		}
		sizes = append(sizes, w)
	}
	var keep [][]bool
	if perLayer {
		for _, s := range sizes {
			keep = append(keep, keepLargest([][]float32{s}, sparsity)...)
		}
	} else {
		keep = keepLargest(sizes, sparsity)
	}
	for i, p := range all {
		if len(keep[i]) > 0 && !slices.Contains(keep[i], true) {
			return nil, &EmptyLayerError{p.name, sparsity}
		}
	}
	return keep, nil
}

// keepLargest returns which values to keep if a fraction of all values, sparsity, is pruned: the
// smallest ones. Of equal values the first ones are kept.
func keepLargest(sizes [][]float32, sparsity float64) [][]bool {
	flat := slices.Concat(sizes...)
	remaining := len(flat) - int(math.Round(sparsity*float64(len(flat))))
	slices.Sort(flat)
	keep := make([][]bool, len(sizes))
	if remaining == 0 {
		for i, s := range sizes {
			keep[i] = make([]bool, len(s))
		}
		return keep
	}
	least := flat[len(flat)-remaining]
	equal := remaining // number of values equal to least that remain
	for _, v := range flat[len(flat)-remaining:] {
		if v > least {
			equal--
		}
	}
	for i, s := range sizes {
		keep[i] = make([]bool, len(s))
		for j, v := range s {
			switch {
			case v > least:
				keep[i][j] = true
			case v == least && equal > 0:
				keep[i][j] = true
				equal--
			}
		}
	}
	return keep
}

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
