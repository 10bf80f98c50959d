package onnx_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/tensor"
)

// remembers keeps its last output for the next call.
type remembers struct{ last *tensor.Tensor }

func (m *remembers) Forward(x *tensor.Tensor) *tensor.Tensor {
	m.last.Assign(m.last.MulScalar(0.5).Add(x.Mean(0)))
	return x.Add(m.last)
}

// replaces keeps it by replacing its tensor.
type replaces struct{ last *tensor.Tensor }

func (m *replaces) Forward(x *tensor.Tensor) *tensor.Tensor {
	m.last = m.last.MulScalar(0.5).Add(x.Mean(0))
	return x.Add(m.last)
}

func custom(f func(x *tensor.Tensor) *tensor.Tensor) nn.Module {
	return nn.Sequential(nn.ReLU(), nn.Lambda(f))
}

func TestRefusals(t *testing.T) {
	x := randn(1, 2, 4)
	norm, drop := nn.BatchNorm(), nn.Dropout(0.5)
	norm.Forward(x)
	before := nn.State(norm)[2].Data()
	calls := 0
	for _, tt := range []struct {
		name  string
		model nn.Module
		kind  error
		want  string // part of the error
		path  string
		op    string
	}{
		{"random", custom(func(x *tensor.Tensor) *tensor.Tensor { return x.Dropout(0.5, nil, true) }), onnx.ErrRandom, "layer 1, Lambda(): Bernoulli: an exported model cannot draw random numbers", "1", "Bernoulli"},
		{"a hidden dropout", custom(drop.Forward), onnx.ErrRandom, "pass modules", "1", "Bernoulli"},
		{"random in Go", custom(func(x *tensor.Tensor) *tensor.Tensor { return x.Add(tensor.Randn(nil, 4)) }), onnx.ErrChanging, "of shape [4] whose values differ between the calls", "1", "Add"},
		{"random of the size of the batch", custom(func(x *tensor.Tensor) *tensor.Tensor { return x.Add(tensor.Randn(nil, x.Size(0), 4)) }), onnx.ErrChanging, "of shape [2 4] in Go, whose size depends", "1", "Add"},
		{"a quantile of the batch", custom(func(x *tensor.Tensor) *tensor.Tensor { return x.Quantile(0.3, 0) }), onnx.ErrChanging, "an if or a loop in Go that depends on a size", "1", "Sub"},
		{"an if of a number", custom(func(x *tensor.Tensor) *tensor.Tensor {
			if x.Sum().Item() > 0 {
				return x
			}
			return x.Neg()
		}), onnx.ErrDataDependent, "layer 1, Lambda(): Item: Go code that reads", "1", "Item"},
		{"numbers through Go", custom(func(x *tensor.Tensor) *tensor.Tensor { return tensor.New(x.Data(), x.Shape()...).Add(x) }), onnx.ErrDataDependent, "Data: ", "1", "Data"},
		{"an if of the size", custom(func(x *tensor.Tensor) *tensor.Tensor {
			if x.Size(0) > 3 {
				return x.Tanh()
			}
			return x.Exp()
		}), onnx.ErrChanging, "with batch 5 it computes Tanh of [5 4], with batch 2 Exp of [2 4]", "1", "Tanh"},
		{"a loop over the batch", custom(func(x *tensor.Tensor) *tensor.Tensor {
			for range x.Size(0) {
				x = x.AddScalar(1)
			}
			return x
		}), onnx.ErrChanging, "with batch 3 it computes 4 ops, with batch 2 3", "1", "AddScalar"},
		{"a factor of the size", custom(func(x *tensor.Tensor) *tensor.Tensor { n := float64(x.Size(0)); return x.MulScalar(n*n + 1) }), onnx.ErrChanging, "does not depend on the size of the input in a supported way", "1", "MulScalar"},
		{"a counter", custom(func(x *tensor.Tensor) *tensor.Tensor { calls++; return x.AddScalar(float64(calls)) }), onnx.ErrChanging, "AddScalar", "1", "AddScalar"},
		{"a matrix of the size", custom(func(x *tensor.Tensor) *tensor.Tensor {
			n := x.Size(0)
			data := make([]float32, n*n)
			for i := range n {
				data[i*n+i] = 1
			}
			return tensor.New(data, n, n).MatMul(x)
		}), onnx.ErrChanging, "with one value, or with 0, 1, 2 and so on", "1", "MatMul"},
		{"a state", &remembers{tensor.Zeros(4)}, onnx.ErrChanging, "stores a value that depends on its input in one of its own tensors", "", "Assign"},
		{"a state that is replaced", &replaces{tensor.Zeros(4)}, onnx.ErrChanging, "whose values differ between the calls", "", ""},
		{"a hidden batch norm", custom(norm.Forward), onnx.ErrChanging, "stores a value that depends on its input", "1", "Assign"},
		{"a gradient", custom(func(x *tensor.Tensor) *tensor.Tensor { return gradientOf(x) }), nil, "", "", ""},
		{"not of its input", custom(func(*tensor.Tensor) *tensor.Tensor { return tensor.Ones(2, 4) }), onnx.ErrChanging, "does not depend on the input", "", ""},
		{"of the example", custom(func(*tensor.Tensor) *tensor.Tensor { return x.Neg() }), onnx.ErrChanging, "does not depend on the input", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "model.onnx")
			err := onnx.Export(path, tt.model, x)
			if err == nil {
				t.Fatal("was exported")
			}
			if _, gone := os.Stat(path); !errors.Is(gone, os.ErrNotExist) {
				t.Errorf("there is a file: %v", gone)
			}
			if tt.kind == nil {
				return
			}
			var e *onnx.Error
			if !errors.As(err, &e) || !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("want %v with %q\n got %T %v", tt.kind, tt.want, err, err)
			}
			if tt.op != "" && e.Op != tt.op || tt.path != "" && e.Path != tt.path {
				t.Errorf("op %q in layer %q, want %q in %q", e.Op, e.Path, tt.op, tt.path)
			}
		})
	}
	if mean := nn.State(norm)[2]; mean.Name != "running_mean" || !slices.Equal(mean.Data(), before) {
		t.Errorf("%s has moved: %v", mean.Name, mean)
	}
}

// gradientOf is part of a backward pass.
func gradientOf(x *tensor.Tensor) *tensor.Tensor {
	p := tensor.Parameter(tensor.Ones(4))
	x.Mul(p).Sum().Backward()
	return p.Grad().Add(x)
}

func TestMistakes(t *testing.T) {
	x := randn(1, 2, 4)
	identity := func(in []*tensor.Tensor) []*tensor.Tensor { return in }
	dense := nn.Dense(3)
	dense.Forward(x)
	for _, tt := range []struct {
		name  string
		build func() (*onnx.Model, error)
		want  string
	}{
		{"no model", func() (*onnx.Model, error) { return onnx.Build(nil, x) }, "onnx: model is nil: check the error returned where it was created"},
		{"no example", func() (*onnx.Model, error) { return onnx.Build(dense, nil) }, "onnx: the example of input 0 is nil"},
		{"no function", func() (*onnx.Model, error) { return onnx.BuildFunc(nil, one(x)) }, "onnx: function is nil"},
		{"no examples", func() (*onnx.Model, error) { return onnx.BuildFunc(identity, nil) }, "onnx: there is no example input"},
		{"empty batch", func() (*onnx.Model, error) { return onnx.Build(dense, tensor.Zeros(0, 4)) }, `onnx: the example of input 0 has the shape [0 4]: axis 0, "batch", must have at least size 1`},
		{"wrong shape", func() (*onnx.Model, error) { return onnx.Build(nn.Sequential(nn.ReLU(), dense), randn(1, 2, 5)) }, "onnx: with batch 2: layer 1, Dense(3): Dense: [2 5] and [3 4]: expects 4 inputs but got 5"},
		{"an axis that stays", func() (*onnx.Model, error) { return onnx.Build(dense, x, onnx.Axes(0, "batch", "width")) }, "onnx: the model accepts the example, but not with batch 2, width 3; if an axis has a fixed size, say so with Axes: Dense: [2 3]"},
		{"an axis that stays, seen late", func() (*onnx.Model, error) {
			return onnx.Build(nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(-1, 2) }, dense), randn(1, 4, 3))
		}, "onnx: the model accepts the example, but not with batch 3; if an axis has a fixed size, say so with Axes: Reshape"},
		{"a batch of one", func() (*onnx.Model, error) {
			return onnx.Build(nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return dense.Forward(x.Reshape(1, -1)) }), randn(1, 1, 4))
		}, "onnx: the model accepts the example, but not with batch 2; if an axis has a fixed size"},
		{"too many names", func() (*onnx.Model, error) { return onnx.Build(dense, x, onnx.Axes(0, "a", "b", "c")) }, "onnx: Axes(0): 3 names, but the input has 2 axes"},
		{"no such input", func() (*onnx.Model, error) { return onnx.Build(dense, x, onnx.Axes(1, "a")) }, "onnx: Axes(1): there are only 1 inputs, numbered from 0"},
		{"negative input", func() (*onnx.Model, error) { return onnx.Build(dense, x, onnx.Axes(-1, "a")) }, `onnx: Axes(-1, "a"): inputs are numbered from 0`},
		{"an axis twice", func() (*onnx.Model, error) { return onnx.Build(dense, x, onnx.Axes(0, "a", "a")) }, `onnx: Axes(0, "a", "a"): two axes of an input have the same name`},
		{"other sizes", func() (*onnx.Model, error) {
			return onnx.BuildFunc(identity, []*tensor.Tensor{x, randn(1, 3, 4)})
		}, `onnx: axis "batch" has size 2 in one example and 3 in another`},
		{"names", func() (*onnx.Model, error) { return onnx.Build(dense, x, onnx.Inputs("a", "b")) }, "onnx: Inputs: 2 names for 1 inputs"},
		{"names of outputs", func() (*onnx.Model, error) { return onnx.Build(dense, x, onnx.Outputs("a", "b")) }, "onnx: Outputs: 2 names for 1 outputs"},
		{"a name twice", func() (*onnx.Model, error) { return onnx.Build(dense, x, onnx.Outputs("a", "a")) }, `onnx: Outputs("a", "a"): the names must be unique and not empty`},
		{"an input like a weight", func() (*onnx.Model, error) { return onnx.Build(dense, x, onnx.Inputs("weight")) }, `onnx: input 0 and a parameter are both named "weight"; set another name with Inputs`},
		{"an output like a weight", func() (*onnx.Model, error) { return onnx.Build(dense, x, onnx.Outputs("bias")) }, `onnx: output 0 and an input or a parameter are both named "bias"; set another name with Outputs`},
		{"an output like the input", func() (*onnx.Model, error) { return onnx.Build(dense, x, onnx.Outputs("input")) }, `onnx: output 0 and an input or a parameter are both named "input"; set another name with Outputs`},
		{"nil output", func() (*onnx.Model, error) {
			return onnx.BuildFunc(func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0], nil} }, one(x))
		}, "onnx: output 1 is nil"},
		{"no output", func() (*onnx.Model, error) {
			return onnx.BuildFunc(func([]*tensor.Tensor) []*tensor.Tensor { return nil }, one(x))
		}, "onnx: the function has no output"},
		{"nil among models", func() (*onnx.Model, error) { return onnx.BuildFunc(identity, one(x), onnx.Uses(dense, nil)) }, "onnx: Uses(2 models): model 1 is nil"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := tt.build()
			if err == nil || m != nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("want %q\n got  %v", tt.want, err)
			}
		})
	}
}

// TestModes exports a model in training mode of which a part is in evaluation mode.
func TestModes(t *testing.T) {
	norm, drop := nn.BatchNorm(), nn.Dropout(0.5)
	model := nn.Sequential(nn.Dense(4), norm, nn.ReLU(), drop, nn.Dense(2))
	x := randn(1, 4, 3)
	model.Forward(x)
	nn.Train(norm, false)
	before := nn.State(norm)[2].Data()
	m, err := onnx.Build(model, x)
	if err != nil {
		t.Fatal(err)
	}
	if text := m.String(); !strings.Contains(text, "BatchNormalization(") || strings.Contains(text, "ReduceMean") {
		t.Errorf("not as in evaluation:\n%s", text)
	}
	if after := nn.State(norm)[2].Data(); after[0] != before[0] {
		t.Errorf("the running mean has moved from %v to %v", before, after)
	}
	if y := drop.Forward(x); y == x {
		t.Error("the dropout is in evaluation mode now")
	}
	norm.Forward(randn(2, 4, 4))
	if after := nn.State(norm)[2].Data(); after[0] != before[0] {
		t.Error("the norm is in training mode now")
	}
	defer func() { // a panic of the model must also restore the modes
		if recover() != "broken" {
			t.Error("a panic was lost")
		}
		if y := drop.Forward(x); y == x {
			t.Error("the dropout is in evaluation mode after a panic")
		}
	}()
	_, err = onnx.Build(nn.Sequential(drop, nn.Lambda(func(*tensor.Tensor) *tensor.Tensor { panic("broken") })), x)
	t.Errorf("a panic became %v", err)
}

func TestFiles(t *testing.T) {
	folder := t.TempDir()
	x, model := randn(1, 2, 4), nn.Dense(300)
	path := filepath.Join(folder, "model.onnx")
	if err := onnx.Export(path, model, x); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{filepath.Join(folder, "missing", "model.onnx"), folder} {
		err := onnx.Export(bad, model, x)
		var named *os.PathError
		var linked *os.LinkError
		if err == nil || !strings.HasPrefix(err.Error(), "onnx: save "+bad) || !errors.As(err, &named) && !errors.As(err, &linked) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	m, err := onnx.Build(model, x)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	if _, err := m.WriteTo(writer(func([]byte) (int, error) { return 0, full })); !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(whole) {
		t.Errorf("the file has changed: %v", err)
	}
	if err := onnx.Export(path, model, x, onnx.ExternalData()); err != nil {
		t.Fatal(err)
	}
	if data, err := os.Stat(path + ".data"); err != nil || data.Size() < 300*4*4 {
		t.Errorf("external data: %v, %v", data, err)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 2 {
		t.Errorf("in the folder: %v, %v", left, err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// TestOtherOptions gives functions of the package options that only others of them take.
func TestOtherOptions(t *testing.T) {
	model, err := onnx.Build(nn.ReLU(), tensor.Zeros(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]func() error{
		`onnx: Export does not take ServeAll(): its options are Axes, Inputs, Outputs, Uses, Name, Note, ExternalData and Columns`: func() error {
			return onnx.Export(filepath.Join(t.TempDir(), "m.onnx"), nn.ReLU(), tensor.Zeros(1, 1), onnx.ServeAll())
		},
		`onnx: SaveTriton does not take Name("x"): its options are MaxBatchSize, DynamicBatching, GPUInstances, CPUInstances, ServeLatest, ServeAll and ServeVersions`: func() error { _, err := model.SaveTriton(t.TempDir(), "m", onnx.Name("x")); return err },
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("want %s\ngot  %v", want, err)
		}
	}
}
