package prune

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Masks say which weights of a model are zero.
type Masks struct {
	model  nn.Module
	layers []masked
}

// masked is the mask of a layer: 0 where the weight is pruned, else 1.
type masked struct {
	*product
	keep []bool
	mask *tensor.Tensor
}

// newMasks takes which weights of the layers are kept, and sets the others to zero.
func newMasks(model nn.Module, all []*product, keep [][]bool) (*Masks, error) {
	m := &Masks{model: model}
	for i, p := range all {
		m.layers = append(m.layers, masked{product: p})
		m.layers[i].set(keep[i])
	}
	return m, m.Apply()
}

func (l *masked) set(keep []bool) {
	if slices.Equal(keep, l.keep) {
		return
	}
	values := make([]float32, len(keep))
	for i, kept := range keep {
		if kept {
			values[i] = 1
		}
	}
	l.keep, l.mask = keep, tensor.New(values, (*l.Weight).Shape()...)
}

// Apply sets the pruned weights to zero. It fails with a [*LayerError] if the model is
// no longer the one that the masks were made for.
func (m *Masks) Apply() (err error) {
	defer nn.Catch(&err)
	for _, l := range m.layers {
		w := *l.Weight
		if w == nil || !slices.Equal(w.Shape(), l.mask.Shape()) {
			return &LayerError{l.name, fmt.Errorf("its weight is not of shape %v any more: make new masks", l.mask.Shape())}
		}
	}
	zero := tensor.Zeros()
	tensor.NoGrad(func() {
		for _, l := range m.layers {
			// Where, and not a product: a weight that is not finite becomes zero too.
			w := *l.Weight
			kept := tensor.Where(l.mask.Greater(zero), w, zero)
			w.Assign(kept)
		}
	})
	return nil
}

// Hold is an option of accel.Fit that keeps the pruned weights at zero: after every
// update, whatever the optimiser remembers of them.
func (m *Masks) Hold() accel.Option {
	return accel.AfterStep(func(int) error { return m.Apply() })
}

// Sparsity is the share of all weights of the masked layers that are pruned.
func (m *Masks) Sparsity() float64 {
	pruned, all := 0, 0
	for _, l := range m.layers {
		for _, kept := range l.keep {
			if !kept {
				pruned++
			}
		}
		all += len(l.keep)
	}
	return float64(pruned) / float64(max(all, 1))
}

// Rewind gives the model the numbers that it had at another time, such as before the
// training (Frankle and Carbin, The Lottery Ticket Hypothesis, 2019), but for those
// that are pruned. tensors are as [Keep] gives them.
func (m *Masks) Rewind(tensors map[string]*tensor.Tensor) error {
	if err := nn.SetState(m.model, tensors); err != nil {
		return fmt.Errorf("prune: rewind: %w", err)
	}
	return m.Apply()
}

// Keep copies all tensors of a model, for [Masks.Rewind] and [Copy].
func Keep(model nn.Module) map[string]*tensor.Tensor {
	kept := map[string]*tensor.Tensor{}
	for _, p := range nn.State(model) {
		kept[p.Name] = p.Clone()
	}
	tensor.Flush()
	return kept
}

// Copy is a new model with the numbers of another: what is to be pruned can be compared
// with it. newModel makes the same layers.
func Copy(model nn.Module, newModel func() nn.Module) (nn.Module, error) {
	other := newModel()
	if err := nn.SetState(other, Keep(model)); err != nil {
		return nil, fmt.Errorf("prune: copy: %w", err)
	}
	return other, nil
}

// String is the masks in a line.
func (m *Masks) String() string {
	return fmt.Sprintf("%.1f %% of the weights of %d layers are zero", 100*m.Sparsity(), len(m.layers))
}
