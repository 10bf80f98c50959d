package accel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestPredictInBatches compares batches of all sizes with single examples.
func TestPredictInBatches(t *testing.T) {
	g := tensor.NewGenerator(3)
	norm := nn.BatchNorm()
	for range 3 {
		norm.Forward(tensor.Randn(g, 4, 8, 6, 6))
	}
	index := make([]int, 37*6)
	for i := range index {
		index[i] = g.Intn(9)
	}
	for _, tt := range []struct {
		name  string
		model nn.Module
		x     *tensor.Tensor
	}{
		{"mlp", nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dropout(0.5), nn.Dense(10)), tensor.Randn(g, 37, 1, 8, 8)},
		{"cnn", nn.Sequential(nn.Conv2D(8, 3), norm, nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Dense(10)), tensor.Randn(g, 37, 3, 8, 8)},
		{"attention", nn.Sequential(nn.Embedding(9, 16), nn.PositionEmbedding(6, 16), nn.Residual(nn.LayerNorm(), nn.SelfAttention(4, nn.Causal())), nn.Dense(9)), tensor.FromInts(index, 37, 6)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var single []float32
			for i := range 37 {
				y, err := accel.Predict(t.Context(), tt.model, tt.x.Slice(0, i, i+1))
				if err != nil {
					t.Fatal(err)
				}
				single = append(single, y.Data()...)
			}
			for _, n := range []int{1, 2, 3, 16, 36, 37, 1000} {
				var seen []string
				y, err := accel.Predict(t.Context(), tt.model, tt.x, accel.BatchSize(n), accel.Progress(func(done, all int) {
					seen = append(seen, fmt.Sprintf("%d of %d", done, all))
				}))
				if err != nil {
					t.Fatal(err)
				}
				got := y.Data()
				if len(got) != len(single) {
					t.Fatalf("%d at once: %d numbers, want %d", n, len(got), len(single))
				}
				for i := range got {
					if d := math.Abs(float64(got[i] - single[i])); !(d <= 1e-5*(1+math.Abs(float64(single[i])))) {
						t.Fatalf("%d at once: number %d is %v, alone %v", n, i, got[i], single[i])
					}
				}
				if parts := (37 + n - 1) / n; len(seen) != parts || seen[parts-1] != "37 of 37" {
					t.Errorf("%d at once: progress %q", n, seen)
				}
			}
		})
	}
}

// TestPredictShortOfMemory uses a device with memory for ten examples.
func TestPredictShortOfMemory(t *testing.T) {
	dense, limit := nn.Dense(4), 10
	model := nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor {
		if n := x.Size(0); n > limit {
			panic(&tensor.OutOfMemoryError{Device: "small", Need: n, Free: limit})
		}
		return dense.Forward(x)
	}, dense)
	x := tensor.Randn(tensor.NewGenerator(1), 67, 16)
	want, err := accel.Predict(t.Context(), model, x, accel.BatchSize(1))
	if err != nil {
		t.Fatal(err)
	}
	most, before := 0, 0
	got, err := accel.Predict(t.Context(), model, x, accel.Progress(func(done, _ int) {
		most, before = max(most, done-before), done
	}))
	if err != nil {
		t.Fatal(err)
	}
	if most == 0 || most > limit || before != 67 || !close32(got.Data(), want.Data()) {
		t.Errorf("in parts up to %d, %d in all", most, before)
	}
	limit = 0
	var memory *tensor.OutOfMemoryError
	if _, err := accel.Predict(t.Context(), model, x.Slice(0, 0, 2)); !errors.As(err, &memory) {
		t.Errorf("without any memory: %v", err)
	}
}

func TestPredictStops(t *testing.T) {
	train, _ := digits(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	parts := 0
	stop := accel.Progress(func(int, int) {
		if parts++; parts == 2 {
			cancel()
		}
	})
	if _, err := accel.PredictDataset(ctx, mlp(4), train, accel.BatchSize(100), stop); !errors.Is(err, context.Canceled) || parts != 2 {
		t.Errorf("%v after %d parts", err, parts)
	}
}

func TestPredictMistakes(t *testing.T) {
	x := tensor.Zeros(4, 6)
	dense := nn.Dense(3)
	dense.Forward(x)
	f := func(f func(*tensor.Tensor) *tensor.Tensor) nn.Module { return nn.Lambda(f) }
	for want, try := range map[string]struct {
		model   nn.Module
		x       *tensor.Tensor
		options []accel.Option
	}{
		"accel: BatchSize(0): the number must be at least 1": {dense, x, []accel.Option{accel.BatchSize(0)}},
		"Dense: [4 5] and [3 6]":                             {dense, tensor.Zeros(4, 5), nil},
		"accel: Predict: the model returned shape [3] for an input of shape [6]; the first dimension of the output must be the 6 examples": {dense, tensor.Zeros(6), nil},
		"accel: Predict: the model returned shape [] for an input of shape [4 6]":                                                          {f(func(x *tensor.Tensor) *tensor.Tensor { return x.Mean() }), x, nil},
		"Forward: the model has returned nil: it must return a tensor":                                                                     {f(func(*tensor.Tensor) *tensor.Tensor { return nil }), x, nil},
	} {
		if _, err := accel.Predict(t.Context(), try.model, try.x, try.options...); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q\n got  %v", want, err)
		}
	}
	y, err := accel.Predict(t.Context(), f(func(x *tensor.Tensor) *tensor.Tensor { return x }), x, accel.Option{}, accel.BatchSize(3))
	if err != nil || !slices.Equal(y.Data(), x.Data()) || x.Sum().Item() != 0 {
		t.Errorf("the identity: %v, %v", y, err)
	}
	if text := accel.BatchSize(3).String(); text != "BatchSize(3)" {
		t.Error(text)
	}
}

// TestModesAreKept predicts and evaluates with a model of which a part is in evaluation mode.
func TestModesAreKept(t *testing.T) {
	train, _ := digits(t)
	on, off := nn.Dropout(0.5), nn.Dropout(0.5)
	nn.Train(off, false)
	model := nn.Sequential(nn.Flatten(), on, off, nn.Dense(10))
	if _, err := accel.PredictDataset(t.Context(), model, train.First(8)); err != nil {
		t.Fatal(err)
	}
	if _, err := accel.Evaluate(t.Context(), model, train.First(8)); err != nil {
		t.Fatal(err)
	}
	x := tensor.Ones(4, 4)
	if on.Forward(x) == x || off.Forward(x) != x {
		t.Error("a dropout is in another mode than before")
	}
}

func TestPredict(t *testing.T) {
	train, _ := digits(t)
	model := nn.Sequential(mlp(16), nn.Dropout(0.5)) // dropout does nothing in evaluation mode
	b, err := train.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	y, err := accel.Predict(t.Context(), model, b.X) // three batches
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(y.Shape(), []int{1437, 10}) || y.RequiresGrad() {
		t.Errorf("shape %v, gradient %v", y.Shape(), y.RequiresGrad())
	}
	result, err := accel.Evaluate(t.Context(), model, train)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, c := range y.ArgMax(1).Ints() {
		if c == train.Label(i) {
			right++
		}
	}
	if got := float64(right) / 1437; got != result.Accuracy() {
		t.Errorf("Predict is right in %v, Evaluate says %v", got, result.Accuracy())
	}
	ofSet, err := accel.PredictDataset(t.Context(), model, train)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ofSet.Data(), y.Data()) {
		t.Error("PredictDataset differs from Predict")
	}
	for _, n := range []int{1, 512, 513} {
		some, err := accel.Predict(t.Context(), model, b.X.Slice(0, 0, n))
		if err != nil {
			t.Fatal(err)
		}
		if some.Size(0) != n || !close32(some.Data(), y.Data()[:10*n]) {
			t.Errorf("%d examples give another output, of shape %v", n, some.Shape())
		}
	}
	if none, err := accel.Predict(t.Context(), model, tensor.Zeros(0, 1, 8, 8)); err == nil && none.Size(0) != 0 {
		t.Errorf("no examples gave %v", none.Shape())
	}
}

// TestErrorsStayWithTheirCall has an index that is out of range, which only the run of the ops finds, in a model that fails
// later for another reason: what is computed next is not affected.
func TestErrorsStayWithTheirCall(t *testing.T) {
	w := tensor.Parameter(tensor.Ones(10, 4))
	x := tensor.Zeros(2, 64)
	var none []int
	released := tensor.Ones(4)
	released.Release()
	for name, fail := range map[string]func(x *nn.Tensor) *nn.Tensor{
		"shape":         func(x *nn.Tensor) *nn.Tensor { return x.Reshape(3) },
		"element type":  func(x *nn.Tensor) *nn.Tensor { return x.Cast(tensor.Int32).Exp() },
		"state":         func(x *nn.Tensor) *nn.Tensor { return x.Add(released) },
		"length":        func(x *nn.Tensor) *nn.Tensor { panic(&nn.LengthError{Layer: "own", Length: 2, Longest: 1}) },
		"panic":         func(x *nn.Tensor) *nn.Tensor { panic("own") },
		"runtime error": func(x *nn.Tensor) *nn.Tensor { return x.Reshape(none[3]) },
	} {
		t.Run(name, func(t *testing.T) {
			broken := nn.Sequential(
				nn.Flatten(),
				nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
					return tensor.Embedding(w, x.Slice(1, 0, 1).AddScalar(50).Cast(tensor.Int32).Reshape(-1))
				}),
				nn.Lambda(fail),
			)
			var panicked any
			err := func() (err error) {
				defer func() { panicked = recover() }()
				_, err = accel.Predict(t.Context(), broken, x)
				return err
			}()
			var index *tensor.IndexError
			if panicked == nil && (!errors.As(err, &index) || index.Index != 50) {
				t.Errorf("got %v", err)
			}
			if other := name == "panic" || name == "runtime error"; other != (panicked != nil) {
				t.Errorf("got the error %v and the panic %v", err, panicked)
			}
			if y := tensor.Ones(2).Sum().Item(); y != 2 {
				t.Errorf("the next sum is %v", y)
			}
		})
	}
}
