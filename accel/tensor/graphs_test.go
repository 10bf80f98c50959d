package tensor

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// numbers are float64 values, little-endian in base64.
type numbers []float64

func (n *numbers) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.DecodeString(string(text))
	for i := 0; i+8 <= len(raw); i += 8 {
		*n = append(*n, math.Float64frombits(binary.LittleEndian.Uint64(raw[i:])))
	}
	return err
}

// goldenGraphs is testdata/graphs.json, made by testdata/make_graphs.py.
type goldenGraphs struct {
	Torch  string
	Graphs []struct {
		Values []struct {
			graphNode       // Op is empty for an input
			Shape     []int // of an input
			Data      numbers
		}
		Outputs []struct {
			Value        int
			Shape        []int
			Weight, Data numbers
		}
		Gradients []numbers // of the inputs; empty if there is none
	}
}

type graphNode struct {
	Op     string
	In     []int
	Ints   []int
	Floats []float64
}

// run computes the result of a node.
func (n graphNode) run(in []*Tensor) *Tensor {
	x := in[0]
	switch n.Op {
	case "Reshape":
		return x.Reshape(n.Ints...)
	case "Permute":
		return x.Permute(n.Ints...)
	case "Expand":
		return x.Expand(n.Ints...)
	case "Slice":
		return x.Slice(n.Ints[0], n.Ints[1], n.Ints[2])
	case "Pad":
		return x.Pad(n.Ints[0], n.Ints[1], n.Ints[2])
	case "Concat":
		return Concat(n.Ints[0], in...)
	case "IndexSelect":
		return x.IndexSelect(FromInts(n.Ints, len(n.Ints)))
	case "Where":
		return Where(x.Greater(Zeros().Cast(x.DType())), in[1], in[2])
	case "Linear":
		return Linear(x, in[1], in[2])
	case "LayerNorm":
		return LayerNorm(x, in[1], in[2], n.Ints[0], n.Floats[0])
	}
	if f, ok := map[string]func(*Tensor) *Tensor{
		"Tanh": (*Tensor).Tanh, "Sigmoid": (*Tensor).Sigmoid, "Sin": (*Tensor).Sin, "Cos": (*Tensor).Cos, "GELU": (*Tensor).GELU,
		"SiLU": (*Tensor).SiLU, "Neg": (*Tensor).Neg, "Square": (*Tensor).Square, "ReLU": (*Tensor).ReLU, "Abs": (*Tensor).Abs, "Clone": (*Tensor).Clone,
	}[n.Op]; ok {
		return f(x)
	}
	if f, ok := map[string]func(x, y *Tensor) *Tensor{
		"Add": (*Tensor).Add, "Sub": (*Tensor).Sub, "Mul": (*Tensor).Mul, "Div": (*Tensor).Div,
		"Maximum": (*Tensor).Maximum, "Minimum": (*Tensor).Minimum, "MatMul": (*Tensor).MatMul,
	}[n.Op]; ok {
		return f(x, in[1])
	}
	if f, ok := map[string]func(x *Tensor, axis int) *Tensor{
		"Softmax": (*Tensor).Softmax, "LogSoftmax": (*Tensor).LogSoftmax, "CumSum": (*Tensor).CumSum,
		"LogSumExp": (*Tensor).LogSumExp,
	}[n.Op]; ok {
		return f(x, n.Ints[0])
	}
	return map[string]func(x *Tensor, axes ...int) *Tensor{"Max": (*Tensor).Max, "Min": (*Tensor).Min, "Sum": (*Tensor).Sum, "Mean": (*Tensor).Mean, "Norm": (*Tensor).Norm}[n.Op](x, n.Ints...)
}

// TestGraphsAgainstTorch runs random graphs of ops and compares results and gradients with
// PyTorch's, in float64 to the last digits, also when the plan is replayed.
func TestGraphsAgainstTorch(t *testing.T) { graphsAgainstTorch(t, Float32, Float64) }

func graphsAgainstTorch(t *testing.T, types ...DType) {
	tolerances := map[DType]float64{Float32: 2e-5, Float64: 1e-11}
	text, err := os.ReadFile("testdata/graphs.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden goldenGraphs
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Graphs) < 50 {
		t.Fatalf("%d graphs", len(golden.Graphs))
	}
	for k, g := range golden.Graphs {
		for _, d := range types {
			for round := range 2 {
				var values, inputs []*Tensor
				for _, v := range g.Values {
					if v.Op == "" {
						p := Parameter(FromFloat64s(v.Data, v.Shape...).Cast(d))
						values, inputs = append(values, p), append(inputs, p)
						continue
					}
					var in []*Tensor
					for _, i := range v.In {
						in = append(in, values[i])
					}
					values = append(values, v.run(in))
				}
				loss := Zeros().Cast(d)
				for _, o := range g.Outputs {
					loss = loss.Add(values[o.Value].Mul(FromFloat64s(o.Weight, o.Shape...).Cast(d)).Sum())
				}
				loss.Backward()
				ctx := fmt.Sprintf("graph %d, %v, round %d", k, d, round)
				for _, o := range g.Outputs {
					near(t, fmt.Sprintf("%s: value %d", ctx, o.Value), values[o.Value], o.Shape, o.Data, tolerances[d])
				}
				for i, p := range inputs {
					switch {
					case p.Grad() != nil && g.Gradients[i] != nil:
						near(t, fmt.Sprintf("%s: gradient of input %d", ctx, i), p.Grad(), p.Shape(), g.Gradients[i], tolerances[d])
					case p.Grad() != nil:
						near(t, fmt.Sprintf("%s: gradient of input %d, which has none", ctx, i), p.Grad(), p.Shape(), make([]float64, p.Numel()), 0)
					case p.Numel() > 0 && g.Gradients[i] != nil:
						t.Errorf("%s: input %d has no gradient", ctx, i)
					}
				}
			}
		}
	}
}

// near compares elements with a tolerance relative to the largest of them.
func near(t *testing.T, what string, got *Tensor, shape []int, want []float64, tolerance float64) {
	t.Helper()
	if fmt.Sprint(got.Shape()) != fmt.Sprint(shape) {
		t.Errorf("%s: the shape is %v, want %v", what, got.Shape(), shape)
		return
	}
	largest := 1.0
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i, v := range got.Float64s() {
		if !(math.Abs(v-want[i]) <= tolerance*largest) {
			t.Errorf("%s: element %d is %v, want %v", what, i, v, want[i])
			return
		}
	}
}
