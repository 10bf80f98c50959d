package prune

import (
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Masks says which weights of a model are pruned.
type Masks struct {
	model  nn.Module
	layers []masked
}

// masked is a layer with its mask, which is 1 for a pruned weight and 0 otherwise.
type masked struct {
	*prunable
	keep []bool
	mask *tensor.Tensor
}

// newMasks returns masks for the weights to keep, and sets the other weights to zero.
func newMasks(model nn.Module, all []*prunable, keep [][]bool) (*Masks, error) {
	m := &Masks{model: model}
	for i, p := range all {
		m.layers = append(m.layers, masked{prunable: p})
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
		if !kept {
			values[i] = 1
		}
	}
	l.keep, l.mask = keep, tensor.New(values, (*l.Weight).Shape()...)
}

// Apply sets the pruned weights to zero. It returns a [*LayerError] if the shapes of the model
// have changed.
func (m *Masks) Apply() (err error) {
	defer nn.Catch(&err)
	for _, l := range m.layers {
		w := *l.Weight
		if w == nil || !slices.Equal(w.Shape(), l.mask.Shape()) {
			return &LayerError{l.name, fmt.Errorf("its weight no longer has shape %v; create new masks", l.mask.Shape())}
		}
	}
	tensor.NoGrad(func() {
		for _, l := range m.layers {
			// No multiplication, so that weights that are not finite become zero too.
			w := *l.Weight
			w.Assign(w.MaskedFill(l.mask, 0))
		}
	})
	return nil
}

// Hold returns an option of accel.Fit that sets the pruned weights to zero after every update,
// whatever the optimizer does.
func (m *Masks) Hold() accel.Option {
	return accel.AfterStep(func(int) error { return m.Apply() })
}

// Sparsity returns the pruned fraction of all weights of the masked layers.
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

// Rewind resets the model's tensors to earlier values, such as those before training (Frankle and
// Carbin, The Lottery Ticket Hypothesis, 2019), except for pruned weights. tensors is a result of
// [CloneState].
func (m *Masks) Rewind(tensors map[string]*tensor.Tensor) error {
	if err := nn.SetState(m.model, tensors); err != nil {
		return fmt.Errorf("prune: rewind: %w", err)
	}
	return m.Apply()
}

// CloneState copies all tensors of a model, for [Masks.Rewind] and [Copy].
func CloneState(model nn.Module) map[string]*tensor.Tensor {
	kept := map[string]*tensor.Tensor{}
	for _, p := range nn.State(model) {
		kept[p.Name] = p.Clone()
	}
	tensor.Flush()
	return kept
}

// Copy returns a new model with the weights of another one and what these were trained with: the loss
// and the names of classes and columns. Use it to compare a model with the
// pruned one. newModel must create the same layers.
func Copy(model nn.Module, newModel func() nn.Module) (nn.Module, error) {
	if model == nil || newModel == nil {
		return nil, errors.New("prune: Copy: the model or the function that creates another one is nil")
	}
	other := newModel()
	if err := nn.SetState(other, CloneState(model)); err != nil {
		return nil, fmt.Errorf("prune: copy: %w", err)
	}
	trained := map[string]any{} // the loss and the names of classes that belong to the weights
	for _, p := range nn.State(model) {
		trained[p.Name] = tensors.Metadata(p.Tensor)
	}
	for _, p := range nn.State(other) {
		tensors.SetMetadata(p.Tensor, trained[p.Name])
	}
	return other, nil
}

// String returns the masks in one line.
func (m *Masks) String() string {
	return fmt.Sprintf("%.1f %% of the weights of %d layers are zero", 100*m.Sparsity(), len(m.layers))
}
