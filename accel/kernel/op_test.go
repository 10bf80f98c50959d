package kernel_test

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/onnx"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
)

//go:embed testdata/ops.go
var opKernels string

// operation returns the operation of a kernel with gradients, by their names.
func operation(t *testing.T, name string, options ...kernel.Option) *kernel.Operation {
	t.Helper()
	op, err := kernel.Op(compile(t, opKernels, name), options...)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func gradient(t *testing.T, name string, threads ...func(shape []int) kernel.Shape) kernel.Option {
	t.Helper()
	return kernel.Gradient(compile(t, opKernels, name), threads...)
}

// warps is a warp for each row.
var warps = kernel.Threads(func(shape []int) kernel.Shape { return kernel.Grid(shape[0]*32, 32) })

// An opRow is a row of TestOps.
type opRow struct {
	name   string
	inputs []*tensor.Tensor // those of floats require gradients
	op     func(t *testing.T) func(in []*tensor.Tensor) *tensor.Tensor
	same   func(in []*tensor.Tensor) *tensor.Tensor // of package tensor
}

func opRows() []opRow {
	random := func(shape ...int) *tensor.Tensor { return tensor.Randn(tensor.NewGenerator(7), shape...) }
	weights := tensor.FromInts([]int{3, -1, 2, 5}, 4).Cast(tensor.Int32)
	mask := tensor.New([]float32{1, 0, 1}, 3).Cast(tensor.Bool)
	return []opRow{
		{"square", []*tensor.Tensor{random(3, 100)}, func(t *testing.T) func(in []*tensor.Tensor) *tensor.Tensor {
			op := operation(t, "square", gradient(t, "squareGradient"))
			return func(in []*tensor.Tensor) *tensor.Tensor { return op.Apply(in[0]) }
		}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Square() }},
		{"square64", []*tensor.Tensor{random(5, 7).Cast(tensor.Float64)}, func(t *testing.T) func(in []*tensor.Tensor) *tensor.Tensor {
			op := operation(t, "square64", gradient(t, "square64Gradient"))
			return func(in []*tensor.Tensor) *tensor.Tensor { return op.Apply(in[0]) }
		}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Square() }},
		{"no elements", []*tensor.Tensor{random(0, 7)}, func(t *testing.T) func(in []*tensor.Tensor) *tensor.Tensor {
			op := operation(t, "square", gradient(t, "squareGradient"))
			return func(in []*tensor.Tensor) *tensor.Tensor { return op.Apply(in[0]) }
		}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Square() }},
		{"a view as input", []*tensor.Tensor{random(6, 4)}, func(t *testing.T) func(in []*tensor.Tensor) *tensor.Tensor {
			op := operation(t, "square", gradient(t, "squareGradient"))
			return func(in []*tensor.Tensor) *tensor.Tensor { return op.Apply(in[0].Permute(1, 0).Slice(0, 1, 3)) }
		}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Permute(1, 0).Slice(0, 1, 3).Square() }},
		{"softmax", []*tensor.Tensor{random(6, 45)}, func(t *testing.T) func(in []*tensor.Tensor) *tensor.Tensor {
			op := operation(t, "softmax", warps, gradient(t, "softmaxGradient"))
			return func(in []*tensor.Tensor) *tensor.Tensor { return op.Apply(in[0].Size(1), in[0]) }
		}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Softmax(1) }},
		{"no rows", []*tensor.Tensor{random(0, 45)}, func(t *testing.T) func(in []*tensor.Tensor) *tensor.Tensor {
			op := operation(t, "softmax", warps, gradient(t, "softmaxGradient"))
			return func(in []*tensor.Tensor) *tensor.Tensor { return op.Apply(in[0].Size(1), in[0]) }
		}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Softmax(1) }},
		{"two inputs", []*tensor.Tensor{random(6, 40), random(40)}, func(t *testing.T) func(in []*tensor.Tensor) *tensor.Tensor {
			op := operation(t, "scale", gradient(t, "scaleInputGradient"),
				gradient(t, "scaleWeightGradient", func(w []int) kernel.Shape { return kernel.Grid(6*w[0], 64) }))
			return func(in []*tensor.Tensor) *tensor.Tensor { return op.Apply(in[0], in[1]) }
		}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Mul(in[1]) }},
		{"one tensor as two inputs", []*tensor.Tensor{random(40)}, func(t *testing.T) func(in []*tensor.Tensor) *tensor.Tensor {
			op := operation(t, "scale", gradient(t, "scaleInputGradient"), gradient(t, "scaleWeightGradient"))
			return func(in []*tensor.Tensor) *tensor.Tensor { return op.Apply(in[0], in[0]) }
		}, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Square() }},
		{"integers, a mask, and another shape", []*tensor.Tensor{random(3, 4), weights, mask}, func(t *testing.T) func(in []*tensor.Tensor) *tensor.Tensor {
			op := operation(t, "rows", gradient(t, "rowsGradient"), kernel.Output(func(in ...[]int) ([]int, error) { return in[0][:1], nil }))
			return func(in []*tensor.Tensor) *tensor.Tensor { return op.Apply(in[0], in[1], in[2]) }
		}, func(in []*tensor.Tensor) *tensor.Tensor {
			return in[0].Mul(in[1].Cast(tensor.Float32)).Sum(1).Mul(in[2].Cast(tensor.Float32))
		}},
	}
}

// outcome returns the result of f and the gradients of its inputs of floats, for a loss in which each element has another weight.
func outcome(inputs []*tensor.Tensor, scale float64, f func(in []*tensor.Tensor) *tensor.Tensor) (all [][]float64) {
	in := make([]*tensor.Tensor, len(inputs))
	for i, x := range inputs {
		if in[i] = x; x.DType() == tensor.Float32 || x.DType() == tensor.Float64 {
			in[i] = tensor.Parameter(x.MulScalar(scale))
		}
	}
	y := f(in)
	weights := tensor.Randn(tensor.NewGenerator(3), y.Shape()...).Cast(y.DType())
	y.Mul(weights).Sum().Backward()
	all = append(all, y.Float64s())
	for _, x := range in {
		if x.RequiresGrad() {
			all = append(all, x.Grad().Float64s())
		}
	}
	return all
}

// TestOps compares kernels and their gradients with ops of package tensor, between other ops, and twice, so that a plan is used again.
func TestOps(t *testing.T) {
	for _, row := range opRows() {
		t.Run(row.name, func(t *testing.T) {
			op := row.op(t)
			for _, device := range devices {
				for _, scale := range []float64{1, -2} {
					on(t, device, func() {
						got := outcome(row.inputs, scale, op)
						want := outcome(row.inputs, scale, row.same)
						for k := range want {
							if err := near(got[k], want[k], 1e-5); err != nil {
								t.Errorf("%s: scale %v: result %d: %v", device, scale, k, err)
							}
						}
					})
				}
			}
		})
	}
}

func near(got, want []float64, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d elements instead of %d", len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*max(1, math.Abs(want[i]))) {
			return fmt.Errorf("element %d is %v instead of %v", i, got[i], want[i])
		}
	}
	return nil
}

// A gradient is also right by finite differences, which need no other op.
func TestOpGradientByDifferences(t *testing.T) {
	op := operation(t, "square64", gradient(t, "square64Gradient"))
	at := []float64{-1.5, 0.25, 3}
	loss := func(x []float64) *tensor.Tensor {
		return op.Apply(tensor.FromFloat64s(x, 3)).Mul(tensor.FromFloat64s([]float64{1, -2, 5}, 3)).Sum()
	}
	x := tensor.Parameter(tensor.FromFloat64s(at, 3))
	op.Apply(x).Mul(tensor.FromFloat64s([]float64{1, -2, 5}, 3)).Sum().Backward()
	const h = 1e-4
	for i := range at {
		up, down := append([]float64{}, at...), append([]float64{}, at...)
		up[i] += h
		down[i] -= h
		want := (loss(up).Float64s()[0] - loss(down).Float64s()[0]) / (2 * h)
		if got := x.Grad().Float64s()[i]; math.Abs(got-want) > 1e-6 {
			t.Errorf("element %d: %v instead of %v", i, got, want)
		}
	}
}

// 16-bit floats are computed in float32 for a slice of float32, and the result has their type if no input is of float32.
func TestOpOf16Bit(t *testing.T) {
	x := tensor.Randn(tensor.NewGenerator(1), 4, 30)
	w := tensor.Randn(tensor.NewGenerator(2), 30)
	for _, device := range devices {
		on(t, device, func() {
			op := operation(t, "scale", gradient(t, "scaleInputGradient"), gradient(t, "scaleWeightGradient", func([]int) kernel.Shape { return kernel.Grid(120, 64) }))
			for _, c := range []struct{ x, w, y tensor.DType }{
				{tensor.BFloat16, tensor.BFloat16, tensor.BFloat16}, {tensor.Float16, tensor.Float16, tensor.Float16},
				{tensor.BFloat16, tensor.Float32, tensor.Float32}, {tensor.BFloat16, tensor.Float16, tensor.Float32},
			} {
				run := func(f func(x, w *tensor.Tensor) *tensor.Tensor) (y *tensor.Tensor, dx []float64) {
					p := tensor.Parameter(x.Cast(c.x))
					y = f(p, w.Cast(c.w))
					y.Cast(tensor.Float32).Sum().Backward()
					return y, p.Grad().Float64s()
				}
				got, gotDX := run(func(x, w *tensor.Tensor) *tensor.Tensor { return op.Apply(x, w) })
				want, wantDX := run((*tensor.Tensor).Mul)
				if got.DType() != c.y || want.DType() != c.y {
					t.Errorf("%s: %v·%v is of %v, and of %v with Mul", device, c.x, c.w, got.DType(), want.DType())
				}
				if err := errors.Join(near(got.Float64s(), want.Float64s(), 0), near(gotDX, wantDX, 0)); err != nil {
					t.Errorf("%s: %v·%v: %v", device, c.x, c.w, err)
				}
			}
		})
	}
}

// TestOpErrors checks what Op rejects.
func TestOpErrors(t *testing.T) {
	for _, c := range []struct {
		kernel, gradient, want string
	}{
		{"both", "", "both writes to y and z, and an operation has one result: make one of each"},
		{"nothing", "", "nothing writes to no slice, so it has no result"},
		{"square", "overwrites", "overwrites writes to x, which other kernels read"},
		{"square", "unknown", "unknown has a parameter other, which is none of square, of its result, or of their gradients, such as dy"},
		{"square", "otherType", "the parameter dy of otherType is a []float64, and that of square a []float32"},
		{"square", "unwritten", "unwritten does not write to dx"},
		{"square", "noGradient", "noGradient writes no gradient of an input, such as dx"},
		{"scale", "gradients", "gradients writes to dx and dw: the gradient of each input has a kernel of its own"},
		{"rows", "weightGradient", "weightGradient computes dweight: only floats have gradients"},
		{"ambiguous", "squareGradient", "the name of the parameter dx of ambiguous must differ from the others and from the names of gradients"},
	} {
		var options []kernel.Option
		if c.gradient != "" {
			options = append(options, gradient(t, c.gradient))
		}
		if _, err := kernel.Op(compile(t, opKernels, c.kernel), options...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.kernel, c.gradient, err, c.want)
		}
	}
	if _, err := kernel.Op(compile(t, opKernels, "square"), gradient(t, "squareGradient"), gradient(t, "squareGradient")); err == nil || !strings.Contains(err.Error(), "both compute dx") {
		t.Error(err)
	}
	if _, err := kernel.Op(compile(t, opKernels, "square"), kernel.Unchecked()); err == nil || !strings.Contains(err.Error(), "Op does not take Unchecked(): its options are Threads, Output, Gradient and Context") {
		t.Error(err)
	}
	if _, err := kernel.Compile(kernel.Source(opKernels, "square"), warps); err == nil || !strings.Contains(err.Error(), "Compile does not take Threads(f)") {
		t.Error(err)
	}
	if _, err := kernel.Op(nil); err == nil {
		t.Error("Op accepts nil")
	}
	if _, err := kernel.Op(compile(t, opKernels, "square"), kernel.Gradient(nil)); err == nil {
		t.Error("Gradient accepts nil")
	}
}

// TestApplyErrors checks the panics of calls that are not valid.
func TestApplyErrors(t *testing.T) {
	square := operation(t, "square")
	softmax := operation(t, "softmax", kernel.Threads(func(shape []int) kernel.Shape { return kernel.Grid(1, 5000) }))
	generated := operation(t, "generated")
	rejects := operation(t, "rows", kernel.Output(func(in ...[]int) ([]int, error) {
		if len(in[0]) != 2 {
			return nil, errors.New("x has two dimensions")
		}
		return in[0][:1], nil
	}))
	x := tensor.Ones(3)
	for _, c := range []struct {
		name, want string
		call       func()
	}{
		{"number of arguments", "kernel square: 2 arguments for 1 parameters besides the thread and y", func() { square.Apply(x, x) }},
		{"no tensor", "kernel square: the argument for x is a int, not a tensor", func() { square.Apply(3) }},
		{"nil", "kernel square: the argument for x is a *tensor.Tensor, not a tensor", func() { square.Apply((*tensor.Tensor)(nil)) }},
		{"number of another type", "kernel softmax: the argument for columns is a int32, not a int64", func() { softmax.Apply(int32(3), x) }},
		{"float64", "kernel square: float64: x of the kernel needs float32: convert with Cast", func() { square.Apply(x.Cast(tensor.Float64)) }},
		{"integers", "kernel square: int64: x of the kernel needs float32: convert with Cast", func() { square.Apply(x.Cast(tensor.Int64)) }},
		{"no kernel for the gradient", "kernel square: its argument 1 requires a gradient, and there is no kernel for it: add one with kernel.Gradient, or Detach the argument",
			func() { square.Apply(tensor.Parameter(tensor.Ones(3))) }},
		{"threads", "kernel softmax: [3]: blocks of 5000×1×1 threads are too large", func() { softmax.Apply(3, x) }},
		{"no shape", "kernel generated: the kernel has no inputs, so its result needs the option kernel.Output", func() { generated.Apply() }},
		{"shapes do not fit", "kernel rows: [3] and [3] and [3]: x has two dimensions", func() { rejects.Apply(x, x, x) }},
		{"released", "released", func() {
			y := tensor.Ones(3)
			y.Release()
			square.Apply(y)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
			}()
			c.call()
		})
	}
	tensor.NoGrad(func() { // does not need a kernel for the gradient
		if got := square.Apply(tensor.Parameter(tensor.Full(3, 2))).Data(); got[0] != 9 {
			t.Error(got)
		}
	})
}

// fault returns the fault with which f panics.
func fault(f func()) (found *kernel.Fault) {
	defer func() {
		if err, ok := recover().(error); ok {
			_ = errors.As(err, &found)
		}
	}()
	f()
	return nil
}

// descent returns a parameter of 300 ones, and a function that makes a step of gradient descent for the sum of op(sign·p).
func descent(op *kernel.Operation, rate float64) (p *tensor.Tensor, step func(sign float64)) {
	p = tensor.Parameter(tensor.Ones(300))
	return p, func(sign float64) {
		p.ZeroGrad()
		op.Apply(p.MulScalar(sign)).Sum().Backward()
		tensor.NoGrad(func() { p.Assign(p.Sub(p.Grad().MulScalar(rate))) })
		tensor.Synchronize()
	}
}

// A fault appears where the result is used. It does not change the parameters, and later calls work.
func TestFaultOfOp(t *testing.T) {
	op := operation(t, "positive", gradient(t, "positiveGradient"))
	for _, device := range devices {
		on(t, device, func() {
			p, step := descent(op, 0.5)
			for range 3 { // the later ones run as a graph
				step(0.5)
			}
			before := p.Data()
			f := fault(func() { step(-1) })
			if f == nil || f.Reason != "panic: negative" || f.Line != 117 || f.Kernel != "positive" {
				t.Fatalf("%s: %v", device, f)
			}
			if after := p.Data(); after[0] != before[0] || after[299] != before[299] {
				t.Errorf("%s: the fault changed a parameter from %v to %v", device, before[0], after[0])
			}
			if step(0.5); p.Data()[0] == before[0] {
				t.Errorf("%s: no step after the fault", device)
			}
		})
	}
}

// A context ends the kernel of an op, also in a plan that was made with another one, and like a fault it does not change the parameters.
func TestContextOfOp(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	for _, device := range devices {
		on(t, device, func() {
			ctx := t.Context()
			op := operation(t, "wait", gradient(t, "waitGradient"), kernel.Context(t.Context), kernel.Context(func() context.Context { return ctx }))
			p, step := descent(op, 0.25)
			for range 3 { // the later ones run as a graph
				step(1)
			}
			before := p.Data()
			for _, row := range []struct {
				ctx  context.Context
				want error
			}{{canceled, context.Canceled}, {late, context.DeadlineExceeded}} {
				ctx = row.ctx
				func() {
					defer func() {
						var e *tensor.DeviceError
						if err, _ := recover().(error); !errors.As(err, &e) || !errors.Is(err, row.want) {
							t.Fatalf("%s: %v, want %v", device, err, row.want)
						}
					}()
					step(-1)
				}()
			}
			if ctx = t.Context(); p.Data()[0] != before[0] || p.Data()[299] != before[299] {
				t.Errorf("%s: a parameter is %v instead of %v", device, p.Data()[0], before[0])
			}
			if step(1); p.Data()[0] == before[0] {
				t.Errorf("%s: no step after the context", device)
			}
		})
	}
	if _, err := kernel.Op(compile(t, opKernels, "wait"), kernel.Context(nil)); err == nil || !strings.Contains(err.Error(), "Context(f): the function is nil") {
		t.Error(err)
	}
}

// On a GPU an op is part of the CUDA graph of a step, and the host does not wait for it.
func TestOpInGraph(t *testing.T) {
	op := operation(t, "square", gradient(t, "squareGradient"))
	on(t, "simulated", func() {
		p := tensor.Parameter(tensor.Full(0.5, 64))
		step := func() {
			p.ZeroGrad()
			op.Apply(p.AddScalar(1)).Sum().Backward()
			tensor.NoGrad(func() { p.Assign(p.Sub(p.Grad().MulScalar(0.01))) })
			tensor.Flush()
		}
		for range 8 {
			step()
		}
		tensors.ResetStats()
		for range 5 {
			step()
		}
		if d := tensors.Stats().Device; d.Launches != 5 || d.Waits != 0 || d.Graphs != 0 {
			t.Errorf("%d launches, %d waits and %d graphs made in 5 steps, want one launch each, and no waits: %+v", d.Launches, d.Waits, d.Graphs, d)
		}
	})
}

// A model with an op as a layer trains like one with the op of package tensor, also with automatic mixed precision, and a profile names the kernel.
func TestOpTrains(t *testing.T) {
	r := tensor.NewGenerator(5)
	x := tensor.Randn(r, 64, 6)
	y := x.Square().Sum(1).Unsqueeze(1)
	set, err := data.FromTensors(x, y)
	if err != nil {
		t.Fatal(err)
	}
	for _, device := range devices {
		for _, options := range [][]accel.Option{nil, {accel.AMP()}} {
			on(t, device, func() {
				train := func(layer nn.Module) []float64 {
					accel.Seed(1)
					model := nn.Sequential(nn.Dense(8), layer, nn.Dense(1))
					given := append([]accel.Option{accel.Epochs(3), accel.BatchSize(16), accel.Minimize(nn.MSE), accel.Quiet()}, options...)
					run, err := accel.Fit(t.Context(), model, set, given...)
					if err != nil {
						t.Fatal(err)
					}
					var losses []float64
					for _, e := range run.Epochs {
						losses = append(losses, e.Loss)
					}
					return losses
				}
				got := train(operation(t, "square", gradient(t, "squareGradient")))
				want := train(nn.Lambda((*tensor.Tensor).Square))
				if err := near(got, want, 1e-3); err != nil || want[2] >= want[0] {
					t.Errorf("%s: the losses are %v instead of %v", device, got, want)
				}
			})
		}
	}
}

// A profile names the kernels, and their layer.
func TestOpInProfile(t *testing.T) {
	for _, device := range devices {
		on(t, device, func() {
			model := nn.Sequential(nn.Dense(8), operation(t, "square", gradient(t, "squareGradient")), nn.Dense(1))
			x := tensor.Ones(4, 3)
			report, err := prof.Run(t.Context(), func() error {
				model.Forward(x).Sum().Backward()
				return nil
			}, prof.Warmup(2), prof.Active(2))
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]bool{}
			for _, o := range report.Rows() {
				names[o.Name] = true
			}
			if !names["1 kernel square: kernel square"] || !names["1 kernel square backward: kernel squareGradient"] {
				t.Errorf("%s: the profile has %v", device, names)
			}
		})
	}
}

// A model with an op cannot be exported.
func TestExportOfOp(t *testing.T) {
	op := operation(t, "square")
	err := onnx.ExportFunc(filepath.Join(t.TempDir(), "m.onnx"), func(in []*tensor.Tensor) []*tensor.Tensor {
		return []*tensor.Tensor{op.Apply(in[0])}
	}, []*tensor.Tensor{tensor.Ones(3)})
	if err == nil || !strings.Contains(err.Error(), "kernel square") {
		t.Error(err)
	}
}

// What a simulated GPU finds and a real one would not, such as a missing barrier, is an error of the launch or of the op, with its line. The device works on.
func TestMissingBarrierOnSimulatedGPU(t *testing.T) {
	on(t, "simulated", func() {
		x := tensor.Ones(64)
		var f *kernel.Fault
		if err := compile(t, opKernels, "racing").Launch(kernel.Grid(64, 64), x, tensor.Zeros(64)); !errors.As(err, &f) || f.Line != 147 || f.Kernel != "racing" {
			t.Fatal(err)
		}
		op := operation(t, "racing", kernel.Threads(func([]int) kernel.Shape { return kernel.Grid(64, 64) }))
		for range 3 { // the later ones run as a graph
			if f := fault(func() { op.Apply(x).Data() }); f == nil || f.Line != 147 {
				t.Fatal(f)
			}
		}
		if err := accel.DeviceLost(); err != nil {
			t.Error(err)
		}
		if got := x.AddScalar(1).Data(); got[63] != 2 {
			t.Error(got)
		}
	})
}
