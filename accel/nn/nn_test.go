package nn_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// read decodes a golden file from PyTorch, which accel/testdata/make_golden.py writes.
func read(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func of(v []float64, shape ...int) *nn.Tensor {
	data := make([]float32, len(v))
	for i := range v {
		data[i] = float32(v[i])
	}
	return tensor.New(data, shape...)
}

// closeTo fails unless got equals want up to the rounding of float32. NaN fails.
func closeTo(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: want %d values, got %d", what, len(want), len(got))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*max(1, math.Abs(want[i]))) {
			t.Errorf("%s[%d]\n want %v\n got  %v", what, i, want[i], got[i])
		}
	}
}

func TestLayersEqualPyTorch(t *testing.T) {
	var g struct {
		Shape                          []int
		X, Weight, Gamma, Beta, Target []float64
		Labels                         []int
		Layers                         map[string]struct{ Y, DX []float64 }
	}
	read(t, "layers.json", &g)
	norm := nn.LayerNorm()
	norm.Forward(tensor.Zeros(1, 6))
	tensor.NoGrad(func() {
		for _, p := range nn.NamedParameters(norm) {
			p.Assign(map[string]*nn.Tensor{"weight": of(g.Gamma, 6), "bias": of(g.Beta, 6)}[p.Name])
		}
	})
	weighted := func(m nn.Module) func(x *nn.Tensor) (y, loss *nn.Tensor) {
		return func(x *nn.Tensor) (y, loss *nn.Tensor) {
			y = m.Forward(x)
			return y, y.Mul(of(g.Weight, g.Shape...)).Sum()
		}
	}
	layers := map[string]func(x *nn.Tensor) (y, loss *nn.Tensor){
		"relu":       weighted(nn.ReLU()),
		"gelu":       weighted(nn.GELU()),
		"tanh":       weighted(nn.Tanh()),
		"sigmoid":    weighted(nn.Sigmoid()),
		"layer norm": weighted(norm),
		"cross entropy": func(x *nn.Tensor) (y, loss *nn.Tensor) {
			loss = nn.CrossEntropy(x, tensor.FromInts(g.Labels, len(g.Labels)))
			return loss, loss
		},
		"mse": func(x *nn.Tensor) (y, loss *nn.Tensor) {
			loss = nn.MSE(x, of(g.Target, g.Shape...))
			return loss, loss
		},
	}
	for name, layer := range layers {
		t.Run(name, func(t *testing.T) {
			want, ok := g.Layers[name]
			if !ok {
				t.Fatal("not in the golden file")
			}
			x := tensor.Parameter(of(g.X, g.Shape...))
			y, loss := layer(x)
			loss.Backward()
			closeTo(t, "y", y.Float64s(), want.Y, 2e-6)
			closeTo(t, "dx", x.Grad().Float64s(), want.DX, 2e-6)
		})
	}
}

// TestModelEqualsPyTorch trains a model and compares its output, its gradients by name, ten
// losses, and the final parameters.
func TestModelEqualsPyTorch(t *testing.T) {
	var g struct {
		X, Output, Losses []float64
		XShape            []int `json:"x_shape"`
		Labels            []int
		Parameters        map[string]struct {
			Shape                  []int
			Start, Gradient, After []float64
		}
	}
	read(t, "model.json", &g)
	model := nn.Sequential(nn.Dense(5), nn.ReLU(), nn.Dense(3))
	x, y := of(g.X, g.XShape...), tensor.FromInts(g.Labels, len(g.Labels))
	model.Forward(x) // the layers create their parameters
	parameters := nn.NamedParameters(model)
	if len(parameters) != len(g.Parameters) {
		t.Fatalf("%d parameters, %d in the golden file", len(parameters), len(g.Parameters))
	}
	for _, p := range parameters {
		want := g.Parameters[p.Name]
		if !slices.Equal(p.Shape(), want.Shape) {
			t.Fatalf("%s has shape %v, want %v", p.Name, p.Shape(), want.Shape)
		}
		tensor.NoGrad(func() { p.Assign(of(want.Start, want.Shape...)) })
	}
	output := model.Forward(x)
	nn.CrossEntropy(output, y).Backward()
	closeTo(t, "output", output.Float64s(), g.Output, 2e-6)
	for _, p := range parameters {
		closeTo(t, "gradient of "+p.Name, p.Grad().Float64s(), g.Parameters[p.Name].Gradient, 2e-6)
	}
	opt := optim.AdamW(model, 0.05)
	var losses []float64
	for range g.Losses {
		opt.ZeroGrad()
		loss := nn.CrossEntropy(model.Forward(x), y)
		loss.Backward()
		opt.Step()
		losses = append(losses, loss.Item())
	}
	// Adam divides by the root of tiny second moments, which amplifies rounding errors.
	closeTo(t, "losses", losses, g.Losses, 2e-5)
	for _, p := range parameters {
		closeTo(t, p.Name, p.Float64s(), g.Parameters[p.Name].After, 2e-4)
	}
}

func TestErrorsNameTheLayer(t *testing.T) {
	wrong := nn.Dense(4)
	wrong.Forward(tensor.Zeros(1, 3))
	tests := []struct {
		name  string
		model nn.Module
		path  string
		layer string
	}{
		{"chain", nn.Sequential(nn.ReLU(), wrong), "1", "Dense(4)"},
		{"chain in a chain", nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh(), wrong)), "1.1", "Dense(4)"},
		{"residual", nn.Sequential(nn.Residual(nn.Dense(9))), "0", "Residual(Dense(9))"},
		{"no outputs", nn.Sequential(nn.Dense(0)), "0", "Dense(0)"},
		{"custom", nn.Sequential(nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return wrong.Forward(x) })), "0", "Lambda()"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := func() (err error) {
				defer nn.Catch(&err)
				tt.model.Forward(tensor.Zeros(2, 5))
				return nil
			}()
			var layer *nn.LayerError
			var shape *tensor.ShapeError
			if !errors.As(err, &layer) || !errors.As(err, &shape) {
				t.Fatalf("want a LayerError with a ShapeError, got %v", err)
			}
			if layer.Path != tt.path || layer.Layer != tt.layer {
				t.Errorf("want layer %s, %s\n got %v", tt.path, tt.layer, err)
			}
		})
	}
}

func TestOtherPanicsPass(t *testing.T) {
	bug := nn.Sequential(nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
		var none []int
		_ = none[3]
		return x
	}))
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "index out of range") {
			t.Errorf("the panic became %v", err)
		}
	}()
	var err error
	defer nn.Catch(&err)
	bug.Forward(tensor.Zeros(1, 1))
}

// TestSequentialKeepsTensorsOfUserModules requires tensors that a user's module has seen to stay
// alive.
func TestSequentialKeepsTensorsOfUserModules(t *testing.T) {
	var seen []*nn.Tensor
	look := nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
		seen = append(seen, x)
		return x
	})
	input := tensor.Ones(2, 3)
	model := nn.Sequential(nn.Flatten(), look, nn.Dense(4), look, nn.ReLU(), look, nn.Dropout(0), look, nn.Residual(look, nn.Tanh(), look))
	output := model.Forward(input)
	for i, x := range append(seen, input, output) {
		if n := len(x.Data()); n == 0 {
			t.Errorf("tensor %d is empty", i)
		}
	}
	// Without user modules intermediate tensors are released; the input stays.
	nn.Sequential(nn.Flatten(), nn.Dropout(0), nn.ReLU(), nn.Tanh(), nn.Residual(nn.Dense(3)), nn.LayerNorm()).Forward(input).Data()
	input.Data()
}

func TestDropout(t *testing.T) {
	tensors.Seed(1)
	x := tensor.Ones(100, 100)
	d := nn.Dropout(0.3)
	mean, zeros := 0.0, 0
	for _, v := range d.Forward(x).Data() {
		if v == 0 {
			zeros++
		} else if math.Abs(float64(v)-1/0.7) > 1e-6 {
			t.Fatalf("an element became %v", v)
		}
		mean += float64(v) / 1e4
	}
	// With 10,000 elements the standard deviation of the share is 0.0046.
	if share := float64(zeros) / 1e4; math.Abs(share-0.3) > 0.02 || math.Abs(mean-1) > 0.03 {
		t.Errorf("%v dropped, mean %v", share, mean)
	}
	nn.Train(nn.Sequential(nn.Residual(d)), false)
	if d.Forward(x) != x {
		t.Error("something was dropped in evaluation mode")
	}
	nn.Train(struct{ inner any }{[]nn.Module{d}}, true)
	if d.Forward(x) == x {
		t.Error("nothing was dropped in training mode")
	}
	for share, want := range map[float64]float32{0: 1, 1: 0} {
		if got := nn.Dropout(share).Forward(x).Data()[0]; got != want {
			t.Errorf("Dropout(%v) makes 1 %v", share, got)
		}
	}
}

func TestSameSeedSameWeights(t *testing.T) {
	weights := func(seed uint64) []float32 {
		tensors.Seed(seed)
		l := nn.Dense(30)
		l.Forward(tensor.Zeros(1, 400))
		return l.Weight.Data()
	}
	a := weights(3)
	if !slices.Equal(a, weights(3)) || slices.Equal(a, weights(4)) {
		t.Error("weights do not follow the seed")
	}
	low, high := slices.Min(a), slices.Max(a)
	if low < -0.05 || high > 0.05 || low > -0.049 || high < 0.049 {
		t.Errorf("weights from %v to %v, want ±1/√400", low, high)
	}
}

func TestFreeze(t *testing.T) {
	body, head := nn.Dense(3), nn.Dense(2)
	model := nn.Sequential(body, nn.Sequential(head))
	body.Forward(tensor.Zeros(1, 4))
	frozen := nn.Freeze(model) // head has no parameters yet
	model.Forward(tensor.Zeros(1, 4))
	if n := len(nn.Parameters(model)); n != 0 {
		t.Errorf("%d parameters of a frozen model", n)
	}
	if table := nn.Summary(model, 4); table.Parameters() != 0 || !strings.Contains(table.String(), "23 frozen") {
		t.Errorf("got\n%v", table)
	}
	frozen.Thaw()
	if n := len(nn.Parameters(model)); n != 4 {
		t.Errorf("%d parameters after Thaw, want 4", n)
	}
}

func TestSummary(t *testing.T) {
	shared := nn.Dense(4)
	model := nn.Sequential(nn.Flatten(), shared, nn.Sequential(shared, nn.ReLU()), nn.Dropout(0.5), nn.Dense(2, nn.NoBias()))
	table := nn.Summary(model, 1, 2, 2)
	want := `     layer               output   parameters  FLOPs
     input               [1 2 2]
0    Flatten()           [4]
1    Dense(4)            [4]              20     32
2.0  Dense(4)            [4]                     32
2.1  ReLU()              [4]
3    Dropout(0.5)        [4]
4    Dense(2, NoBias())  [2]               8     16
28 parameters, 80 FLOPs per example`
	if table.String() != want {
		t.Errorf("want\n%s\ngot\n%s", want, table)
	}
	if html := table.Report().MIMEBundle()["text/html"].(string); !strings.Contains(html, "Dense(2, NoBias())") {
		t.Errorf("html %s", html)
	}
	broken := nn.Summary(nn.Sequential(shared, shared, nn.Residual(nn.Dense(5))), 4)
	if broken.Err == nil || len(broken.Rows) != 3 || !strings.Contains(broken.String(), "layer 2, Residual(Dense(5))") {
		t.Errorf("got\n%v", broken)
	}
	if one := nn.Summary(nn.Dense(3), 4); one.Parameters() != 15 {
		t.Errorf("got\n%v", one)
	}
}
