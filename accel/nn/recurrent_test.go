package nn_test

import (
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

func recurrentMakers() map[string]func() *nn.RecurrentLayer {
	const hidden = 6
	two := []nn.Option{nn.NumLayers(2), nn.Bidirectional()}
	return map[string]func() *nn.RecurrentLayer{
		"rnn":          func() *nn.RecurrentLayer { return nn.RNN(hidden) },
		"rnn relu":     func() *nn.RecurrentLayer { return nn.RNN(hidden, nn.WithReLU()) },
		"rnn all":      func() *nn.RecurrentLayer { return nn.RNN(hidden, two...) },
		"lstm":         func() *nn.RecurrentLayer { return nn.LSTM(hidden) },
		"lstm no bias": func() *nn.RecurrentLayer { return nn.LSTM(hidden, nn.NoBias()) },
		"lstm reverse": func() *nn.RecurrentLayer { return nn.LSTM(hidden, nn.Bidirectional()) },
		"lstm lengths": func() *nn.RecurrentLayer { return nn.LSTM(hidden) },
		"lstm all":     func() *nn.RecurrentLayer { return nn.LSTM(hidden, two...) },
		"gru":          func() *nn.RecurrentLayer { return nn.GRU(hidden) },
		"gru no bias":  func() *nn.RecurrentLayer { return nn.GRU(hidden, nn.NoBias()) },
		"gru reverse":  func() *nn.RecurrentLayer { return nn.GRU(hidden, nn.Bidirectional()) },
		"gru lengths":  func() *nn.RecurrentLayer { return nn.GRU(hidden) },
		"gru all":      func() *nn.RecurrentLayer { return nn.GRU(hidden, two...) },
	}
}

func TestRecurrentLayersEqualPyTorch(t *testing.T) {
	var g struct {
		Cases map[string]struct {
			X          goldenTensor
			Lengths    []int
			Start      []goldenTensor
			Parameters map[string]goldenTensor
			Results    []goldenTensor
			Weights    []goldenTensor
		}
	}
	read(t, "recurrent.json", &g)
	makers := recurrentMakers()
	if got, want := slices.Sorted(maps.Keys(makers)), slices.Sorted(maps.Keys(g.Cases)); !slices.Equal(got, want) {
		t.Fatalf("cases %v, in the golden file %v", got, want)
	}
	for name, make := range makers {
		t.Run(name, func(t *testing.T) {
			c, m := g.Cases[name], make()
			if err := nn.SetState(m, asTensors(c.Parameters)); err != nil {
				t.Fatal(err)
			}
			parameter := func(g goldenTensor) *nn.Tensor { return tensor.Parameter(of(g.Data, g.Shape...)) }
			x := parameter(c.X)
			var start nn.RecurrentState
			for i, g := range c.Start {
				*[]**nn.Tensor{&start.H, &start.C}[i] = parameter(g)
			}
			var lengths *nn.Tensor
			if c.Lengths != nil {
				lengths = tensor.FromInts(c.Lengths, len(c.Lengths))
			}
			y, final := m.Run(x, start, lengths)
			var loss *nn.Tensor
			for i, got := range []*nn.Tensor{y, final.H, final.C}[:len(c.Results)] {
				want := c.Results[i]
				if !slices.Equal(got.Shape(), want.Shape) {
					t.Fatalf("result %d: want the shape %v, got %v", i, want.Shape, got.Shape())
				}
				closeTo(t, "result", got.Float64s(), want.Data, 2e-6)
				part := got.Mul(of(c.Weights[i].Data, want.Shape...)).Sum()
				if loss == nil {
					loss = part
				} else {
					loss = loss.Add(part)
				}
			}
			loss.Backward()
			closeTo(t, "dx", x.Grad().Float64s(), c.X.Gradient, 1e-5)
			for i, g := range c.Start {
				closeTo(t, "gradient of the initial state", []*nn.Tensor{start.H, start.C}[i].Grad().Float64s(), g.Gradient, 1e-5)
			}
			seen := 0
			for _, p := range nn.NamedParameters(m) {
				want, ok := c.Parameters[p.Name]
				if !ok {
					t.Fatalf("%s is not in the golden file", p.Name)
				}
				closeTo(t, p.Name, p.Grad().Float64s(), want.Gradient, 1e-5)
				seen++
			}
			if seen != len(c.Parameters) {
				t.Errorf("%d parameters, want %d", seen, len(c.Parameters))
			}
		})
	}
}

// TestRecurrentLastOutput compares LastOutput with the final state, by direction.
func TestRecurrentLastOutput(t *testing.T) {
	x := tensor.Randn(tensor.NewGenerator(3), 2, 4, 3)
	all, last := nn.GRU(5, nn.NumLayers(2), nn.Bidirectional()), nn.GRU(5, nn.NumLayers(2), nn.Bidirectional(), nn.LastOutput())
	y, final := all.Run(x, nn.RecurrentState{}, nil)
	last.Forward(x)
	values := map[string]*nn.Tensor{}
	for _, p := range nn.State(all) {
		values[p.Name] = p.Tensor
	}
	if err := nn.SetState(last, values); err != nil {
		t.Fatal(err)
	}
	got := last.Forward(x)
	want := tensor.Concat(1, final.H.Slice(0, 2, 3).Reshape(2, 5), final.H.Slice(0, 3, 4).Reshape(2, 5))
	closeTo(t, "last output", got.Float64s(), want.Float64s(), 0)
	ends := tensor.Concat(1, y.Slice(1, 3, 4).Reshape(2, 10).Slice(1, 0, 5), y.Slice(1, 0, 1).Reshape(2, 10).Slice(1, 5, 10))
	closeTo(t, "outputs at both ends", got.Float64s(), ends.Float64s(), 0)
}

// TestRecurrentInitialization checks the range and the variance of PyTorch's initialization.
func TestRecurrentInitialization(t *testing.T) {
	m := nn.LSTM(64, nn.NumLayers(2))
	m.Forward(tensor.Zeros(1, 2, 48))
	bound := 1 / math.Sqrt(64)
	for _, p := range nn.NamedParameters(m) {
		squares, n := 0.0, 0
		for _, v := range p.Float64s() {
			if math.Abs(v) > bound {
				t.Fatalf("%s has %g, want at most %g", p.Name, v, bound)
			}
			squares, n = squares+v*v, n+1
		}
		if got, want := squares/float64(n), bound*bound/3; math.Abs(got-want) > 0.25*want {
			t.Errorf("%s: the variance is %g, want %g", p.Name, got, want)
		}
	}
	if got, want := len(nn.Parameters(m)), 8; got != want {
		t.Errorf("%d parameters, want %d", got, want)
	}
}

func TestRecurrentDropoutBetweenLayers(t *testing.T) {
	x := tensor.Randn(tensor.NewGenerator(3), 2, 4, 3)
	m := nn.LSTM(8, nn.NumLayers(2), nn.LayerDropout(0.5))
	a, b := m.Forward(x).Float64s(), m.Forward(x).Float64s()
	if slices.Equal(a, b) {
		t.Error("two passes in training mode are equal")
	}
	restore := nn.Eval(m)
	c, d := m.Forward(x).Float64s(), m.Forward(x).Float64s()
	if !slices.Equal(c, d) {
		t.Error("two passes in evaluation mode differ")
	}
	restore()
	if slices.Equal(m.Forward(x).Float64s(), d) {
		t.Error("the restored mode drops nothing")
	}
	if n := nn.SampleDropout(m, 1); n != 1 {
		t.Errorf("SampleDropout finds %d layers, want 1", n)
	}
}

// TestRecurrentFiles saves a model and loads it into one that has not seen an input.
func TestRecurrentFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	x := tensor.Randn(tensor.NewGenerator(3), 2, 4, 3)
	newModel := func() *nn.SequentialLayer {
		return nn.Sequential(nn.GRU(4, nn.Bidirectional(), nn.NumLayers(2)), nn.LSTM(5, nn.LastOutput()), nn.Dense(2))
	}
	m := newModel()
	want := m.Forward(x).Float64s()
	if err := nn.Save(path, m); err != nil {
		t.Fatal(err)
	}
	loaded := newModel()
	frozen := nn.Freeze(loaded)
	if err := nn.Load(path, loaded); err != nil {
		t.Fatal(err)
	}
	if n := len(nn.Parameters(loaded)); n != 0 {
		t.Errorf("%d parameters of a frozen model", n)
	}
	frozen.Thaw()
	if got, want := len(nn.Parameters(loaded)), len(nn.Parameters(m)); got != want {
		t.Errorf("%d parameters, want %d", got, want)
	}
	closeTo(t, "loaded", loaded.Forward(x).Float64s(), want, 0)
	if err := nn.Load(path, nn.Sequential(nn.GRU(4, nn.Bidirectional()), nn.LSTM(5), nn.Dense(2))); err == nil || !strings.Contains(err.Error(), "0.bias_hh_l1 is not in the model") {
		t.Errorf("a file with more layers: %v", err)
	}
}

func TestRecurrentErrors(t *testing.T) {
	x := tensor.Zeros(2, 4, 3)
	used := nn.LSTM(5)
	used.Forward(x)
	for _, tt := range []struct {
		name string
		f    func()
		want string
	}{
		{"two dimensions", func() { nn.LSTM(5).Forward(tensor.Zeros(4, 3)) }, "[N, T, in]"},
		{"no step", func() { nn.LSTM(5).Forward(tensor.Zeros(4, 0, 3)) }, "at least one step"},
		{"no unit", func() { nn.GRU(0).Forward(x) }, "at least one hidden unit"},
		{"no layer", func() { nn.GRU(5, nn.NumLayers(0)).Forward(x) }, "GRU(5, NumLayers(0)) must have"},
		{"other width", func() { used.Forward(tensor.Zeros(2, 4, 2)) }, "expects 3 inputs in each step but got 2"},
		{"state", func() { used.Run(x, nn.RecurrentState{H: tensor.Zeros(2, 2, 5)}, nil) }, "[1 2 5]"},
		{"state C", func() { nn.GRU(5).Run(x, nn.RecurrentState{C: tensor.Zeros(1, 2, 5)}, nil) }, "no state C"},
		{"lengths", func() { used.Run(x, nn.RecurrentState{}, tensor.FromInts([]int{1, 2, 3}, 3)) }, "Lengths must be [N]"},
	} {
		err := func() (err error) {
			defer nn.Catch(&err)
			tt.f()
			return nil
		}()
		var shape *tensor.ShapeError
		if !errors.As(err, &shape) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want a ShapeError with %q", tt.name, err, tt.want)
		}
	}
	err := func() (err error) {
		defer nn.Catch(&err)
		used.Run(x, nn.RecurrentState{}, tensor.New([]float32{1, 2}, 2))
		return nil
	}()
	if want := (*tensor.DTypeError)(nil); !errors.As(err, &want) {
		t.Errorf("lengths of floats: %v", err)
	}
}
