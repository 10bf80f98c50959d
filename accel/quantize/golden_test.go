package quantize

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/integer"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/tensor"
)

// TestAgainstPyTorch compares layers with PyTorch's quantized linear and conv2d. PyTorch rounds
// their results to 8 bits, so the difference may be half a scale step.
func TestAgainstPyTorch(t *testing.T) {
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			Name        string
			Shape       []int
			X           []float32
			Scale       float32
			Zero        uint8
			WeightShape []int `json:"weight_shape"`
			Weight      []int8
			Steps, Bias []float32
			ReLU        bool
			Window      struct {
				Stride, Padding, Dilation [2]int
				Groups                    int
			}
			OutScale float64 `json:"out_scale"`
			Out      []float64
		}
	}
	if err := json.Unmarshal(text, &golden); err != nil || len(golden.Cases) < 7 {
		t.Fatalf("%d cases: %v", len(golden.Cases), err)
	}
	for _, c := range golden.Cases {
		t.Run(c.Name, func(t *testing.T) {
			p := &quantizable{MatMul: layer.MatMul{Image: len(c.Shape) == 4, Window: tensor.Window(c.Window)}}
			p.quantized = &quantizedWeights{shape: c.WeightShape, weight: c.Weight, step: c.Steps, bias: c.Bias, input: integer.Scale{Step: c.Scale, Zero: c.Zero}}
			whole := p.integers(0)
			whole.ReLU = c.ReLU
			n := &integer.Network{Input: p.quantized.input, Image: p.Image, Layers: []integer.Layer{whole}}
			got := tensors.Quantized(tensor.New(c.X, c.Shape...), n).Float64s()
			if len(got) != len(c.Out) {
				t.Fatalf("%d elements, want %d", len(got), len(c.Out))
			}
			for i, want := range c.Out {
				if !(math.Abs(got[i]-want) <= c.OutScale*0.501) {
					t.Fatalf("element %d is %v, want %v ± %v", i, got[i], want, c.OutScale/2)
				}
			}
		})
	}
}

// TestErrorIsBounded compares a layer with its float form: the error of a weight is at most
// half a scale step, and so is that of an input within the calibrated range.
func TestErrorIsBounded(t *testing.T) {
	const rows, in, out = 40, 57, 13
	g := tensor.NewGenerator(3)
	x, w, bias := tensor.Randn(g, rows, in), tensor.Randn(g, out, in), tensor.Randn(g, out)
	p := &quantizable{MatMul: layer.MatMul{Weight: &w, Bias: &bias}, sample: newSample()}
	if err := p.quantize(nil, nil); err != nil {
		t.Fatal(err)
	}
	p.sample.add(x.Data())
	p.quantized.input = p.sample.scale(minMaxRange)
	want, got := p.Forward(x).Float64s(), network(p)(x).Float64s()
	xs, ws := x.Float64s(), w.Float64s()
	half := float64(p.quantized.input.Step) / 2 * (1 + 1e-5)
	worst := 0.0
	for i := range rows {
		for o := range out {
			bound := 1e-4
			step := float64(p.quantized.step[o])
			for k := range in {
				bound += math.Abs(xs[i*in+k])*step/2 + (math.Abs(ws[o*in+k])+step/2)*half
			}
			d := math.Abs(got[i*out+o] - want[i*out+o])
			if !(d <= bound) {
				t.Fatalf("element (%d, %d) is %v off, at most %v", i, o, d, bound)
			}
			worst = max(worst, d/bound)
		}
	}
	if worst == 0 {
		t.Error("nothing was rounded")
	}
}
