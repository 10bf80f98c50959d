package nn

import (
	"fmt"
	"path"

	"github.com/quernlab/quern/accel/tensor"
)

// adapter is a trained change of low rank of the weight of a [DenseLayer].
type adapter struct {
	A     *Tensor `nn:"lora_A.weight"` // [rank, in]
	B     *Tensor `nn:"lora_B.weight"` // [out, rank]
	scale float64
}

// change returns scale · x·Aᵀ·Bᵀ.
func (a *adapter) change(s *scratch, x *Tensor) *Tensor {
	return s.keep(s.keep(tensor.Linear(s.keep(tensor.Linear(x, a.A, nil)), a.B, nil)).MulScalar(a.scale))
}

// LoRALayers are the layers of a model that [LoRA] adapts.
type LoRALayers struct {
	frozen *Frozen
	layers []*DenseLayer
}

// LoRA freezes a model and adds to each [Dense] layer with a matching name a trained change of low
// rank (Hu et al., 2021), which needs far less memory for gradients and for the state of the
// optimizer than training all weights:
//
//	y = x·Wᵀ + b + alpha/rank · (x·Aᵀ)·Bᵀ
//
// A [rank, in] starts uniform in ±1/√in and B [out, rank] at zero, so the model computes the same at
// first. Their names are those of Hugging Face's PEFT, such as "q_proj.lora_A.weight". Patterns are
// those of [path.Match] for names of modules, where * stands for any characters; none stands for all
// Dense layers. The layers must have their weights, from a file or a first input. An error is a
// *tensor.StateError, and then nothing has changed.
func LoRA(model any, rank int, alpha float64, patterns ...string) (*LoRALayers, error) {
	wrong := func(format string, a ...any) error {
		return &tensor.StateError{Op: "LoRA", Hint: fmt.Sprintf(format, a...)}
	}
	if rank < 1 {
		return nil, wrong("the rank %d must be at least 1", rank)
	}
	if len(patterns) == 0 {
		patterns = []string{"*"}
	}
	l := &LoRALayers{}
	found, used := map[*DenseLayer]bool{}, make([]bool, len(patterns))
	for _, m := range NamedModules(model) {
		dense, ok := m.Module.(*DenseLayer)
		for i := 0; ok && i < len(patterns); i++ {
			matched, err := path.Match(patterns[i], m.Name)
			switch {
			case err != nil:
				return nil, wrong("the pattern %q is malformed", patterns[i])
			case !matched:
				continue
			case dense.Weight == nil:
				return nil, wrong("%s has no weight yet: load the model or run an input through it first", m.Name)
			case dense.adapter != nil:
				return nil, wrong("%s is adapted already", m.Name)
			}
			used[i] = true
			if !found[dense] {
				found[dense] = true
				l.layers = append(l.layers, dense)
			}
		}
	}
	for i, pattern := range patterns {
		if !used[i] {
			return nil, wrong("%q matches no Dense layer: nn.NamedModules lists their names", pattern)
		}
	}
	l.frozen = Freeze(model)
	for _, dense := range l.layers {
		out, in := dense.Weight.Size(0), dense.Weight.Size(1)
		dense.adapter = &adapter{A: uniform(in, true, rank, in), B: tensor.Parameter(tensor.Zeros(out, rank)), scale: alpha / float64(rank)}
	}
	return l, nil
}

// Merge adds the changes to the weights, removes them, and thaws the model, which computes the same
// afterwards.
func (l *LoRALayers) Merge() {
	tensor.NoGrad(func() {
		for _, dense := range l.layers {
			if a := dense.adapter; a != nil {
				var s scratch
				change := s.keep(s.keep(a.B.MatMul(a.A)).MulScalar(a.scale))
				dense.Weight.Assign(dense.Weight.Add(change))
				s.release()
			}
		}
		tensor.Flush()
	})
	l.Remove()
}

// Remove removes the changes and thaws the model.
func (l *LoRALayers) Remove() {
	for _, dense := range l.layers {
		dense.adapter = nil
	}
	l.frozen.Thaw()
}

// String returns the number of layers.
func (l *LoRALayers) String() string { return fmt.Sprintf("LoRA of %d layers", len(l.layers)) }
