package tensor

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"
)

type goldenArray struct {
	Shape []int
	Data  []float64
}

func (g goldenArray) array() array { return array{append([]int{}, g.Shape...), g.Data} }

// goldenOps is testdata/ops.json, made by testdata/make_ops.py.
type goldenOps struct {
	Torch string
	Cases []struct {
		Name           string
		Inputs         []goldenArray
		Weight, Result goldenArray
		Gradients      []goldenArray
	}
	Values []string
	Short  map[string]map[string][]string
}

func readGolden(t *testing.T) (g goldenOps) {
	text, err := os.ReadFile("testdata/ops.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// goldenFunctions are what the script computes, by the names of its cases.
var goldenFunctions = map[string]func(in []*Tensor) *Tensor{
	"conv": func(in []*Tensor) *Tensor { return Conv2D(in[0], in[1], in[2], Window{Padding: [2]int{1, 1}}) },
	"conv strided": func(in []*Tensor) *Tensor {
		return Conv2D(in[0], in[1], in[2], Window{Stride: [2]int{2, 1}, Padding: [2]int{1, 2}})
	},
	"conv dilated": func(in []*Tensor) *Tensor {
		return Conv2D(in[0], in[1], nil, Window{Padding: [2]int{2, 2}, Dilation: [2]int{2, 1}})
	},
	"conv grouped": func(in []*Tensor) *Tensor {
		return Conv2D(in[0], in[1], nil, Window{Padding: [2]int{1, 1}, Groups: 2})
	},
	"conv depthwise": func(in []*Tensor) *Tensor {
		return Conv2D(in[0], in[1], nil, Window{Stride: [2]int{2, 2}, Padding: [2]int{1, 1}, Groups: 4})
	},
	"max pool": func(in []*Tensor) *Tensor { return MaxPool2D(in[0], [2]int{2, 2}, Window{}) },
	"max pool overlapping": func(in []*Tensor) *Tensor {
		return MaxPool2D(in[0], [2]int{3, 3}, Window{Stride: [2]int{2, 2}, Padding: [2]int{1, 1}})
	},
	"avg pool": func(in []*Tensor) *Tensor { return AvgPool2D(in[0], [2]int{2, 3}, Window{}) },
	"avg pool padded": func(in []*Tensor) *Tensor {
		return AvgPool2D(in[0], [2]int{3, 3}, Window{Stride: [2]int{2, 2}, Padding: [2]int{1, 1}})
	},
	"layer norm":        func(in []*Tensor) *Tensor { return LayerNorm(in[0], in[1], in[2], 1, 1e-5) },
	"layer norm of two": func(in []*Tensor) *Tensor { return LayerNorm(in[0], in[1], in[2], 2, 1e-5) },
	"rms norm":          func(in []*Tensor) *Tensor { return RMSNorm(in[0], in[1], 1, 1e-6) },
	"batch norm":        func(in []*Tensor) *Tensor { return BatchNorm(in[0], in[1], in[2], nil, nil, 0.1, 1e-5, true) },
	"batch norm fixed": func(in []*Tensor) *Tensor {
		mean, variance := New([]float32{-1, -1. / 3, 1. / 3, 1}, 4), New([]float32{0.5, 1, 1.5, 2}, 4)
		return BatchNorm(in[0], in[1], in[2], mean, variance, 0.1, 1e-5, false)
	},
	"attention":        func(in []*Tensor) *Tensor { return Attention(in[0], in[1], in[2], false) },
	"attention causal": func(in []*Tensor) *Tensor { return Attention(in[0], in[1], in[2], true) },
	"embedding":        func(in []*Tensor) *Tensor { return Embedding(in[0], FromInts([]int{2, 0, 2, 1, 2, 0}, 2, 3)) },
	"cross entropy":    func(in []*Tensor) *Tensor { return CrossEntropy(in[0], FromInts([]int{0, 3, 1}, 3)) },
	"linear":           func(in []*Tensor) *Tensor { return Linear(in[0], in[1], in[2]) },
	"matmul":           func(in []*Tensor) *Tensor { return in[0].MatMul(in[1]) },
	"gelu":             func(in []*Tensor) *Tensor { return in[0].GELU() },
	"silu":             func(in []*Tensor) *Tensor { return in[0].SiLU() },
	"elu":              func(in []*Tensor) *Tensor { return in[0].ELU(1) },
	"leaky_relu":       func(in []*Tensor) *Tensor { return in[0].LeakyReLU(0.01) },
	"softmax":          func(in []*Tensor) *Tensor { return in[0].Softmax(1) },
	"log softmax":      func(in []*Tensor) *Tensor { return in[0].LogSoftmax(-1) },
	"logsumexp":        func(in []*Tensor) *Tensor { return in[0].LogSumExp(1) },
	"std":              func(in []*Tensor) *Tensor { return in[0].Std(1, 1) },
	"var":              func(in []*Tensor) *Tensor { return in[0].Var(0, 0, 2) },
	"norm":             func(in []*Tensor) *Tensor { return in[0].Norm(0) },
	"cumsum":           func(in []*Tensor) *Tensor { return in[0].CumSum(1) },
	"pow":              func(in []*Tensor) *Tensor { return in[0].Pow(in[1]) },
	"clamp":            func(in []*Tensor) *Tensor { return in[0].Clamp(-0.5, 0.7) },
}

func TestAgainstTorch(t *testing.T) {
	golden := readGolden(t)
	seen := map[string]bool{}
	for _, c := range golden.Cases {
		seen[c.Name] = true
		f := goldenFunctions[c.Name]
		if f == nil {
			t.Errorf("there is no function for %q", c.Name)
			continue
		}
		var in []*Tensor
		for _, x := range c.Inputs {
			a := x.array()
			in = append(in, Parameter(New(a.floats(), a.shape...)))
		}
		y := f(in)
		compare(t, c.Name, y, c.Result.array(), 2e-6)
		w := c.Weight.array()
		y.Mul(New(w.floats(), w.shape...)).Sum().Backward()
		for i, g := range c.Gradients {
			compare(t, c.Name+": gradient "+strconv.Itoa(i), in[i].Grad(), g.array(), 1e-5)
		}
	}
	for name := range goldenFunctions {
		if !seen[name] {
			t.Errorf("torch %s has no case %q", golden.Torch, name)
		}
	}
}

// TestHalfAgainstTorch compares bit for bit: the numbers are written exactly.
func TestHalfAgainstTorch(t *testing.T) {
	golden := readGolden(t)
	numbers := func(text []string) []float64 {
		out := make([]float64, len(text))
		for i, s := range text {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			out[i] = v
		}
		return out
	}
	values := convert[float32](numbers(golden.Values))
	n := 40
	for d, name := range map[DType]string{Float16: "float16", BFloat16: "bfloat16"} {
		turned := make([]float32, n)
		for i := range turned {
			turned[i] = values[n-1-i]
		}
		a, b := New(values[:n], n).Cast(d), New(turned, n).Cast(d)
		for op, y := range map[string]*Tensor{"cast": New(values, len(values)).Cast(d), "add": a.Add(b), "mul": a.Mul(b), "div": a.Div(b), "exp": a.Exp()} {
			want := numbers(golden.Short[name][op])
			got := y.Float64s()
			if len(got) != len(want) {
				t.Fatalf("%s of %s: %d numbers, want %d", op, name, len(got), len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("%s of %s: element %d is %v, torch %s has %v", op, name, i, got[i], golden.Torch, want[i])
				}
			}
		}
	}
}
