package optim_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// lbfgsLosses are the losses of make_golden.py.
func lbfgsLosses(features, targets []float64) map[string]func(x *tensor.Tensor) *tensor.Tensor {
	a := tensor.FromFloat64s(features, 12, 3)
	return map[string]func(x *tensor.Tensor) *tensor.Tensor{
		"quadratic": func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.FromFloat64s([]float64{1, 10, 100}, 3).Cast(x.DType()).Mul(x.AddScalar(-1).Square()).Sum()
		},
		"rosenbrock": func(x *tensor.Tensor) *tensor.Tensor {
			low, high := x.Slice(0, 0, 2), x.Slice(0, 1, 3)
			return low.Neg().AddScalar(1).Square().Add(high.Sub(low.Square()).Square().MulScalar(100)).Sum()
		},
		"logistic": func(x *tensor.Tensor) *tensor.Tensor {
			y := tensor.FromFloat64s(targets, 12, 1).GreaterScalar(0).Cast(x.DType())
			return nn.BCEWithLogits(a.Cast(x.DType()).MatMul(x.Reshape(3, 1)), y).Add(x.Square().Sum().MulScalar(0.05))
		},
	}
}

// TestLBFGSEqualsPyTorch compares the losses before each of four steps, the parameters after them, and the number of
// calls of the closure. In float32 it demands the same minimum.
func TestLBFGSEqualsPyTorch(t *testing.T) {
	var g struct {
		Features, Targets []float64
		Cases             []struct {
			Loss                   string
			Rate, Gradient, Change float64
			Wolfe                  bool
			History, Iterations    int
			Calls                  int
			Losses                 []float64
			After                  [][]float64
		}
	}
	read(t, "lbfgs.json", &g)
	if len(g.Cases) != 9 {
		t.Fatalf("%d cases", len(g.Cases))
	}
	for _, c := range g.Cases {
		options := []optim.Option{optim.MaxIterations(c.Iterations), optim.HistorySize(c.History), optim.Tolerances(c.Gradient, c.Change)}
		if c.Wolfe {
			options = append(options, optim.StrongWolfe())
		}
		for _, d := range []tensor.DType{tensor.Float64, tensor.Float32} {
			x := tensor.Parameter(tensor.FromFloat64s([]float64{-1.5, 2, 0.5}, 3).Cast(d).Clone())
			opt, calls := optim.LBFGS(x, c.Rate, options...), 0
			closure := func() *tensor.Tensor {
				calls++
				loss := lbfgsLosses(g.Features, g.Targets)[c.Loss](x)
				loss.Backward()
				return loss
			}
			for step, want := range c.Losses {
				loss := opt.Step(closure)
				if d == tensor.Float32 {
					continue
				}
				closeTo(t, c.Loss+", loss", []float64{loss}, []float64{want}, 1e-9)
				closeTo(t, c.Loss+", parameters", x.Float64s(), c.After[step], 1e-8)
			}
			switch last := len(c.After) - 1; {
			case d == tensor.Float64 && calls != c.Calls:
				t.Errorf("%s: %d calls of the closure, %d in PyTorch", c.Loss, calls, c.Calls)
			case d == tensor.Float32 && c.Losses[last] < 1e-9:
				closeTo(t, c.Loss+", float32", x.Float64s(), c.After[last], 2e-3)
			}
		}
	}
}

func TestLBFGSErrors(t *testing.T) {
	x := tensor.Parameter(tensor.FromFloat64s([]float64{1, 2}, 2).Cast(tensor.Float32).Clone())
	square := func() *tensor.Tensor {
		loss := x.Square().Sum()
		loss.Backward()
		return loss
	}
	infinite := func() *tensor.Tensor {
		loss := x.AddScalar(-2).Log().Sum()
		loss.Backward()
		return loss
	}
	for want, f := range map[string]func(){
		"LBFGS: the closure is nil":                            func() { optim.LBFGS(x, 1).Step(nil) },
		"LBFGS: the learning rate 0 must be positive":          func() { optim.LBFGS(x, 0).Step(square) },
		"LBFGS: the learning rate NaN must be positive":        func() { optim.LBFGS(x, math.NaN()).Step(square) },
		"LBFGS: MaxIterations(0): it must be at least 1":       func() { optim.LBFGS(x, 1, optim.MaxIterations(0)).Step(square) },
		"LBFGS: HistorySize(-1): it must be at least 1":        func() { optim.LBFGS(x, 1, optim.HistorySize(-1)).Step(square) },
		"LBFGS: Tolerances(NaN, 0): they must not be negative": func() { optim.LBFGS(x, 1, optim.Tolerances(math.NaN(), 0)).Step(square) },
		"LBFGS: does not take Momentum(0.9): its options are":  func() { optim.LBFGS(x, 1, optim.Momentum(0.9)).Step(square) },
		"LBFGS: the model has no parameters":                   func() { optim.LBFGS(nn.Sequential(nn.Flatten()), 1).Step(square) },
		"LBFGS: no parameter has a gradient: the closure must": func() { optim.LBFGS(x, 1).Step(func() *tensor.Tensor { return x.Sum() }) },
		"LBFGS: the closure must return the loss":              func() { optim.LBFGS(x, 1).Step(func() *tensor.Tensor { return nil }) },
		"LBFGS: the loss is NaN, or its gradient":              func() { optim.LBFGS(x, 1).Step(infinite) },
	} {
		err := func() (err error) {
			defer nn.Catch(&err)
			f()
			return nil
		}()
		var state *tensor.StateError
		if !errors.As(err, &state) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s\ngot  %v", want, err)
		}
		if v := x.Float64s(); v[0] != 1 || v[1] != 2 {
			t.Fatalf("%s: the parameters are %v", want, v)
		}
	}
	// A step that ends in NaN keeps the parameters of the iteration before.
	y := tensor.Parameter(tensor.FromFloat64s([]float64{3}, 1).Cast(tensor.Float32).Clone())
	opt := optim.LBFGS(y, 1e3)
	err := func() (err error) {
		defer nn.Catch(&err)
		opt.Step(func() *tensor.Tensor {
			loss := y.Log().Sum()
			loss.Backward()
			return loss
		})
		return nil
	}()
	if v := y.Item(); err == nil || math.IsNaN(v) || v <= 0 {
		t.Errorf("%v, %v", v, err)
	}
	// A minimum stays, and the line search keeps away from where there is no loss.
	z := tensor.Parameter(tensor.FromFloat64s([]float64{3}, 1).Cast(tensor.Float32).Clone())
	opt = optim.LBFGS(z, 1, optim.StrongWolfe())
	for range 3 {
		opt.Step(func() *tensor.Tensor {
			loss := z.Sub(z.Log()).Sum() // its minimum is at 1, and it is NaN below 0
			loss.Backward()
			return loss
		})
	}
	if v := z.Item(); math.Abs(v-1) > 1e-3 || opt.Iterations() == 0 {
		t.Errorf("the minimum of x - ln x is at %v", v)
	}
}

// TestLBFGSOfNewLayers begins before the layers have parameters, some or all of them.
func TestLBFGSOfNewLayers(t *testing.T) {
	x := tensor.New([]float32{1, 2, 3, 4}, 4, 1)
	first := nn.Dense(2)
	first.Forward(x)
	for name, model := range map[string]nn.Module{"no parameters": nn.Dense(1), "some": nn.Sequential(first, nn.Dense(1))} {
		o := optim.LBFGS(model, 1, optim.StrongWolfe())
		closure := func() *tensor.Tensor {
			loss := model.Forward(x).Sub(x).Square().Mean()
			loss.Backward()
			return loss
		}
		o.Step(closure)
		if loss := o.Step(closure); !(loss < 1e-6) {
			t.Errorf("%s: the loss is %v", name, loss)
		}
	}
}
