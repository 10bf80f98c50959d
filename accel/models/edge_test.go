package models_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/models"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestModelsOfConstants gives models a single example, equal examples, sequences of one and of equal tokens, and images of
// zeros and ones, also with 16-bit floats. Each example has the result that it has alone, a decoder's positions have
// that of the sequence up to them, and the gradients are finite.
func TestModelsOfConstants(t *testing.T) {
	accel.Seed(5)
	decoders := map[string]nn.Module{
		"GPT2":  models.GPT2(models.GPT2Config{VocabSize: 7, Positions: 8, Width: 8, Layers: 2, Heads: 2}),
		"Llama": models.Llama(models.LlamaConfig{VocabSize: 7, Positions: 8, Width: 8, Inner: 12, Layers: 2, Heads: 4, KVHeads: 2}),
	}
	texts := map[string]nn.Module{"BERT": models.BERT(models.BERTConfig{VocabSize: 7, Positions: 8, Width: 8, Inner: 12, Layers: 2, Heads: 2})}
	for name, m := range decoders {
		texts[name] = m
	}
	images := map[string]nn.Module{
		"ViT":            models.ViT(models.ViTConfig{ImageSize: 32, PatchSize: 16, Width: 8, Inner: 12, Layers: 2, Heads: 2, Classes: 5}),
		"ViT, one class": models.ViT(models.ViTConfig{ImageSize: 32, PatchSize: 16, Width: 8, Inner: 12, Layers: 2, Heads: 2, Classes: 1}),
		"ResNet18":       models.ResNet18(3),
	}
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16} {
		tolerance := map[tensor.DType]float64{tensor.Float16: 1e-2, tensor.BFloat16: 8e-2}[d] + 1e-4
		forward := func(m nn.Module, x *tensor.Tensor) (y *tensor.Tensor) {
			tensor.Autocast(d, func() { y = m.Forward(x).Cast(tensor.Float32) })
			return y
		}
		equal := func(what string, got, want []float64) {
			t.Helper()
			for i := range want {
				if math.IsNaN(got[i]) || math.IsInf(got[i], 0) || !(math.Abs(got[i]-want[i]) <= tolerance*(1+math.Abs(want[i]))) {
					t.Errorf("%s, %v: element %d is %v, want %v", what, d, i, got[i], want[i])
					return
				}
			}
		}
		finite := func(what string, m nn.Module, y *tensor.Tensor) {
			t.Helper()
			y.Square().Mean().Backward()
			for _, p := range nn.NamedParameters(m) {
				if g := p.Grad(); g != nil {
					for _, v := range g.Float64s() {
						if math.IsNaN(v) || math.IsInf(v, 0) {
							t.Errorf("%s, %v: the gradient of %s has %v", what, d, p.Name, v)
							break
						}
					}
					p.ZeroGrad()
				}
			}
		}
		for name, m := range texts {
			restore := nn.Eval(m)
			for _, token := range []int{0, 6} {
				of := func(n, length int) *tensor.Tensor { return tensor.Full(float64(token), n, length).Cast(tensor.Int32) }
				for _, length := range []int{1, 5, 8} {
					what := fmt.Sprintf("%s, %d tokens %d", name, length, token)
					one, three := forward(m, of(1, length)), forward(m, of(3, length))
					row := one.Float64s()
					for i := range 3 {
						equal(what, three.Float64s()[i*len(row):][:len(row)], row)
					}
					if decoders[name] != nil {
						first := forward(m, of(1, 1)).Float64s()
						equal(what+", the first position", row[:len(first)], first)
					}
					finite(what, m, three)
				}
			}
			restore()
		}
		for name, m := range images {
			restore := nn.Eval(m)
			for _, v := range []float64{0, 1} {
				what := fmt.Sprintf("%s, images of %v", name, v)
				one, two := forward(m, tensor.Full(v, 1, 3, 32, 32)), forward(m, tensor.Full(v, 2, 3, 32, 32))
				row := one.Float64s()
				for i := range 2 {
					equal(what, two.Float64s()[i*len(row):][:len(row)], row)
				}
				finite(what, m, two)
				if len(row) == 1 {
					if loss := nn.CrossEntropy(one, tensor.FromInts([]int{0}, 1)).Item(); loss != 0 {
						t.Errorf("%s: the loss of the only class is %v", what, loss)
					}
				}
			}
			restore()
		}
	}
}
