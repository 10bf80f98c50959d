package tensor

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

type goldenArray struct {
	Shape []int        `json:"shape"`
	Data  []goldenReal `json:"data"`
}

// goldenReal is a number; NaN and infinities, which JSON does not have, are strings.
type goldenReal float64

func (x goldenReal) MarshalJSON() ([]byte, error) {
	if v := float64(x); v-v != 0 {
		return json.Marshal(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return json.Marshal(float64(x))
}

func (x *goldenReal) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	*x = goldenReal(v)
	return err
}

func (g goldenArray) array() array {
	a := newArray(g.Shape...)
	for i, x := range g.Data {
		a.data[i] = float64(x)
	}
	return a
}

func goldenOf(a array) goldenArray {
	g := goldenArray{Shape: a.shape, Data: make([]goldenReal, len(a.data))}
	for i, x := range a.data {
		g.Data[i] = goldenReal(float32(x))
	}
	return g
}

// goldenOps is testdata/ops.json, made by testdata/make_ops.py.
type goldenOps struct {
	Torch string
	Cases []struct {
		Name, Torch    string
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

// goldenFunction returns the function of a case: that of a row of opRows, that of goldenFunctions,
// or the method with the name of PyTorch's function.
func goldenFunction(name string) func(in []*Tensor) *Tensor {
	for _, c := range torchCases() {
		if c.Name == name {
			return c.f
		}
	}
	if f := goldenFunctions[name]; f != nil {
		return f
	}
	return methodNamed(name)
}

// torchCase is a case that make_ops.py takes from a row of opRows.
type torchCase struct {
	Name   string        `json:"name"`
	Torch  string        `json:"torch"`
	Inputs []goldenArray `json:"inputs"`
	f      func(in []*Tensor) *Tensor
}

var torchCases = sync.OnceValue(func() (all []torchCase) {
	for _, row := range opRows {
		if row.torch == "" {
			continue
		}
		r := rand.New(rand.NewPCG(1, 3))
		var random []array
		for _, shape := range row.shapes(2, 3, 4) {
			random = append(random, randomArray(r, row.low, row.high, shape...))
		}
		for i, in := range append([][]array{random}, row.examples...) {
			c := torchCase{Name: fmt.Sprint(row.name, ", case ", i), Torch: row.torch, f: row.f}
			for _, a := range in {
				c.Inputs = append(c.Inputs, goldenOf(a))
			}
			all = append(all, c)
		}
	}
	return all
})

var writeCases = flag.String("cases", "", "the file to which TestTorchCases writes the cases of the ops' tests, for make_ops.py")

// TestTorchCases checks that ops.json has the cases of the ops' tests.
func TestTorchCases(t *testing.T) {
	cases := torchCases()
	if *writeCases != "" {
		text, err := json.Marshal(cases)
		if err == nil {
			err = os.WriteFile(*writeCases, text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	written := map[string]string{}
	for _, c := range readGolden(t).Cases {
		written[c.Name] = c.Torch
		for _, x := range c.Inputs {
			written[c.Name] += fmt.Sprint(goldenOf(x.array())) // in float32: the file has 12 digits
		}
	}
	for _, c := range cases {
		want := c.Torch
		for _, x := range c.Inputs {
			want += fmt.Sprint(x)
		}
		if written[c.Name] != want {
			t.Errorf("ops.json has no current %q: run testdata/make_ops.py", c.Name)
		}
	}
}

// goldenFunctions are the functions of the script's cases that are not such methods.
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
		mean, variance := New([]float32{-1, -0.25, 0.25, 1}, 4), New([]float32{0.5, 1, 1.5, 2}, 4)
		return BatchNorm(in[0], in[1], in[2], mean, variance, 0.1, 1e-5, false)
	},
	"attention":        func(in []*Tensor) *Tensor { return Attention(in[0], in[1], in[2], false) },
	"attention causal": func(in []*Tensor) *Tensor { return Attention(in[0], in[1], in[2], true) },
	"cross entropy":    func(in []*Tensor) *Tensor { return CrossEntropy(in[0], FromInts([]int{0, 3, 1}, 3)) },
	"linear":           func(in []*Tensor) *Tensor { return Linear(in[0], in[1], in[2]) },
	"elu":              func(in []*Tensor) *Tensor { return in[0].ELU(1) },
	"leaky_relu":       func(in []*Tensor) *Tensor { return in[0].LeakyReLU(0.01) },
	"std":              func(in []*Tensor) *Tensor { return in[0].Std(1, 1) },
	"attention masked": func(in []*Tensor) *Tensor {
		mask := []float32{1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0}
		return MaskedAttention(in[0], in[1], in[2], AttentionMask{Mask: New(mask, 5, 5)})
	},
	"attention biased": func(in []*Tensor) *Tensor {
		bias := make([]float64, 25)
		for i := range bias {
			bias[i] = float64(i-12) / 8
		}
		return MaskedAttention(in[0], in[1], in[2], AttentionMask{Bias: FromFloat64s(bias, 5, 5)})
	},
	"add scalar":          func(in []*Tensor) *Tensor { return in[0].AddScalar(1.25) },
	"mul scalar":          func(in []*Tensor) *Tensor { return in[0].MulScalar(-0.75) },
	"pow scalar":          func(in []*Tensor) *Tensor { return in[0].PowScalar(2.5) },
	"equal numbers share": func(in []*Tensor) *Tensor { return in[0].Maximum(in[1]) },
	"gt":                  func(in []*Tensor) *Tensor { return in[0].Greater(in[1]) },
	"lt":                  func(in []*Tensor) *Tensor { return in[0].Less(in[1]) },
	"logical_and":         func(in []*Tensor) *Tensor { return truth(in[0]).And(truth(in[1])) },
	"logical_or":          func(in []*Tensor) *Tensor { return truth(in[0]).Or(truth(in[1])) },
	"logical_not":         func(in []*Tensor) *Tensor { return truth(in[0]).Not() },
	"where":               func(in []*Tensor) *Tensor { return Where(in[0].Greater(in[1]), in[0], in[1].MulScalar(2)) },
	"topk": func(in []*Tensor) *Tensor {
		values, indices := in[0].TopK(3, 1, false)
		return values.Add(indices.Cast(values.DType()))
	},
	"conv_transpose": func(in []*Tensor) *Tensor {
		return ConvTranspose2D(in[0], in[1], in[2], Window{Stride: [2]int{2, 3}, Padding: [2]int{1, 0}, Dilation: [2]int{2, 1}, Groups: 2}, [2]int{1, 2})
	},
	"einsum":          func(in []*Tensor) *Tensor { return Einsum("...ij,kj,k->...ki", in...) },
	"einsum diagonal": func(in []*Tensor) *Tensor { return Einsum("iji,...j", in...) },
	"mse":             func(in []*Tensor) *Tensor { return MSE(in[0], in[1]) },
	"round trip":      func(in []*Tensor) *Tensor { return in[0].Cast(Float64).Cast(in[0].DType()) },
	"clamp":           func(in []*Tensor) *Tensor { return in[0].Clamp(-0.5, 0.7) },
}

// truth converts a mask to float32, which And, Or and Not require.
func truth(t *Tensor) *Tensor { return t.Cast(Float32) }

// TestAgainstTorch runs each case in float32, and in float64 to the precision of the file.
func TestAgainstTorch(t *testing.T) { againstTorch(t, Float32, Float64) }

func againstTorch(t *testing.T, types ...DType) {
	tolerances := map[DType]float64{Float32: 2e-6, Float64: 1e-10}
	golden := readGolden(t)
	seen := map[string]bool{}
	for _, c := range golden.Cases {
		seen[c.Name] = true
		f := goldenFunction(c.Name)
		if f == nil {
			t.Errorf("there is no function for %q", c.Name)
			continue
		}
		for _, d := range types {
			tolerance := tolerances[d]
			ctx := fmt.Sprint(c.Name, ", ", d)
			var in []*Tensor
			for _, x := range c.Inputs {
				a := x.array()
				in = append(in, Parameter(FromFloat64s(a.data, a.shape...).Cast(d)))
			}
			y := f(in)
			compare(t, ctx, y, c.Result.array(), tolerance)
			w := c.Weight.array()
			if len(c.Gradients) == 0 {
				if y.RequiresGrad() {
					t.Errorf("%s has a gradient, PyTorch's has none", ctx)
				}
				continue
			}
			loss := y.Mul(FromFloat64s(w.data, w.shape...).Cast(y.DType())).Sum()
			loss.Backward()
			for i, g := range c.Gradients {
				compare(t, fmt.Sprint(ctx, ": gradient ", i), in[i].Grad(), g.array(), 5*tolerance)
			}
		}
	}
	for name := range goldenFunctions {
		if !seen[name] {
			t.Errorf("torch %s has no case %q", golden.Torch, name)
		}
	}
}

// TestFloat16AgainstTorch compares the bits: the file has exact values.
func TestFloat16AgainstTorch(t *testing.T) {
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
