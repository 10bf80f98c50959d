package explain_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/explain"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Known values: torch.finfo(d) of torch 2.15 has eps, max, smallest_normal and bits; the smallest numbers are those that
// torch.tensor(x).to(d) does not make 0.
func TestDTypes(t *testing.T) {
	want := []explain.DTypeInfo{
		{tensor.Float32, 4, 8, 23, 1.1920928955078125e-07, 3.4028234663852886e+38, 1.1754943508222875e-38, 1.401298464324817e-45},
		{tensor.Float16, 2, 5, 10, 0.0009765625, 65504, 6.103515625e-05, 5.960464477539063e-08},
		{tensor.BFloat16, 2, 8, 7, 0.0078125, 3.3895313892515355e+38, 1.1754943508222875e-38, 9.183549615799121e-41},
		{tensortype.Float8E4M3, 1, 4, 3, 0.125, 448, 0.015625, 0.001953125},
		{tensortype.Float8E5M2, 1, 5, 2, 0.25, 57344, 6.103515625e-05, 1.52587890625e-05},
	}
	table := explain.DTypes()
	for i, row := range table.Rows {
		if row != want[i] {
			t.Errorf("%+v, want %+v", row, want[i])
		}
	}
	if len(table.Rows) != len(want) || !strings.Contains(fmt.Sprint(table.Report().MIMEBundle()["text/html"]), "65504") {
		t.Error(table)
	}
}

// one returns a data set of one example with these values and a target of 0 for each.
func one(t *testing.T, values ...float32) *data.Dataset {
	t.Helper()
	set, err := data.FromTargets([][]float32{values}, [][]float32{make([]float32, len(values))})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// sum is a loss whose gradient is 1 for each output.
func sum(y, _ *tensor.Tensor) *tensor.Tensor { return y.Sum() }

// scale multiplies each value by a weight.
type scale struct{ Weight *tensor.Tensor }

func (s *scale) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Mul(s.Weight) }

// The outputs of the first layer are the examples, and their gradients the weight of the second one.
func TestRangeRoundsEachElement(t *testing.T) {
	for _, row := range []struct {
		value            float32
		dtype            tensor.DType
		scaled           bool
		toZero, tooLarge int
	}{
		{5.9604645e-8, tensor.Float16, false, 0, 0}, // 2⁻²⁴
		{2.9802322e-8, tensor.Float16, false, 1, 0}, // 2⁻²⁵, a tie, which rounds to even
		{2.9802326e-8, tensor.Float16, false, 0, 0}, // the next float32
		{2.9802322e-8, tensor.Float16, true, 0, 0},  // × 2¹⁶
		{65519.996, tensor.Float16, false, 0, 0},    // rounds to 65504
		{65520, tensor.Float16, false, 0, 1},        // a tie
		{2, tensor.Float16, true, 0, 1},             // × 2¹⁶
		{1e30, tensor.BFloat16, false, 0, 0},
		{3.3961775e38, tensor.BFloat16, false, 0, 1}, // a tie
		{1e-45, tensor.BFloat16, false, 1, 0},
		{464, tensortype.Float8E4M3, false, 0, 0}, // a tie between 448 and 480, which is NaN
		{465, tensortype.Float8E4M3, false, 0, 1},
		{0.0009765625, tensortype.Float8E4M3, false, 1, 0}, // a tie between 0 and 2⁻⁹
		{0.0009765625, tensortype.Float8E4M3, true, 0, 0},
		{61440, tensortype.Float8E5M2, false, 0, 1}, // a tie between 57344 and infinity
		{61440, tensortype.Float8E5M2, true, 0, 0},
		{-7e-6, tensortype.Float8E5M2, false, 1, 0},
	} {
		run := func(example, slope float32, q explain.Quantity, toZero, tooLarge int) {
			first, second := &scale{tensor.Parameter(tensor.Ones(1))}, &scale{tensor.Parameter(tensor.New([]float32{slope}, 1))}
			ranges, err := explain.Range(t.Context(), nn.Sequential(first, second), one(t, example), sum)
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, r := range ranges.Rows {
				if r.Layer != "0 explain_test.scale" || r.Of != q {
					continue
				}
				found++
				lost := r.In(row.dtype, row.scaled)
				if r.Largest != math.Abs(float64(row.value)) || lost.ToZero != toZero || lost.TooLarge != tooLarge {
					t.Errorf("%v in %v, scaled %v: %s %+v", row.value, row.dtype, row.scaled, r.Of, lost)
				}
			}
			if found != 1 {
				t.Errorf("%d rows of %s", found, q)
			}
		}
		run(0, row.value, explain.OutputGradients, row.toZero, row.tooLarge)
		if row.scaled && row.dtype == tensor.Float16 {
			continue // the loss scale is for gradients
		}
		run(row.value, 0, explain.Outputs, row.toZero, row.tooLarge)
	}
}

// Each value that a type has fits, and what lies between is lost if the conversion of package tensor loses it.
func TestRangeAgreesWithConversions(t *testing.T) {
	convert := map[tensor.DType]func(float32) float32{
		tensor.Float16:  func(v float32) float32 { return tensortype.Float16Value(tensortype.Float16Bits(v)) },
		tensor.BFloat16: func(v float32) float32 { return tensortype.BFloat16Value(tensortype.BFloat16Bits(v)) },
		tensortype.Float8E4M3: func(v float32) float32 {
			return tensortype.Float8Value(tensortype.Float8E4M3, tensortype.Float8Bits(tensortype.Float8E4M3, v))
		},
		tensortype.Float8E5M2: func(v float32) float32 {
			return tensortype.Float8Value(tensortype.Float8E5M2, tensortype.Float8Bits(tensortype.Float8E5M2, v))
		},
	}
	var values []float32
	for exponent := -140; exponent < 128; exponent++ {
		for _, fraction := range []float64{1, 1.0625, 1.49, 1.5, 1.51, 1.75, 1.8125, 1.875, 1.99} {
			if v := float32(math.Ldexp(fraction, exponent)); v > 0 && !math.IsInf(float64(v), 0) {
				values = append(values, v)
			}
		}
	}
	ranges, err := explain.Range(t.Context(), nn.Sequential(&scale{tensor.Parameter(tensor.Ones(len(values)))}), one(t, values...), func(y, _ *tensor.Tensor) *tensor.Tensor {
		return y.MulScalar(0).Sum()
	})
	if err != nil {
		t.Fatal(err)
	}
	input := ranges.Rows[0]
	for d, f := range convert {
		zero, large := 0, 0
		for _, v := range values {
			switch y := f(v); {
			case y == 0:
				zero++
			case math.IsInf(float64(y), 0) || d.IsFP8() && v > 2*y: // 8-bit conversions saturate
				large++
			}
		}
		lost := input.In(d, false)
		if lost.ToZero != zero || !d.IsFP8() && lost.TooLarge != large || lost.TooLarge < large {
			t.Errorf("%v: %d become 0 and %d overflow; the conversion of package tensor has %d and %d", d, lost.ToZero, lost.TooLarge, zero, large)
		}
	}
}

// A chain has a row for the tensors of each layer, also within other chains and residuals. Frozen layers at the beginning
// have no gradients.
func TestRangeOfLayers(t *testing.T) {
	frozen := dense([]float32{1, 0}, []float32{0, 1})
	nn.Freeze(frozen)
	inner := dense([]float32{1, 2}, []float32{3, 4})
	model := nn.Sequential(frozen, nn.Residual(inner, nn.ReLU()), nn.Sequential(nn.ReLU()))
	inner.Weight.SetGrad(tensor.Full(7, 2, 2))
	ranges, err := explain.Range(t.Context(), model, one(t, 1, -2), sum)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range ranges.Rows {
		rows = append(rows, fmt.Sprintf("%s: %s %d %d %g %g", r.Layer, r.Of, r.Elements, r.Zeros, r.Smallest, r.Largest))
	}
	want := []string{
		"input: outputs 2 0 1 2",
		"0 Dense(2, NoBias()): outputs 2 0 1 2",
		"1.0 Dense(2, NoBias()): weights 4 0 1 4",
		"1.0 Dense(2, NoBias()): outputs 2 0 3 5",
		"1.0 Dense(2, NoBias()): gradients of weights 4 4 0 0",
		"1.0 Dense(2, NoBias()): gradients of outputs 2 2 0 0",
		"1.1 ReLU(): outputs 2 2 0 0",
		"1.1 ReLU(): gradients of outputs 2 1 1 1",
		"1 Residual: outputs 2 0 1 2",
		"1 Residual: gradients of outputs 2 1 1 1",
		"2.0 ReLU(): outputs 2 1 1 1",
		"2.0 ReLU(): gradients of outputs 2 0 1 1",
	}
	if strings.Join(rows, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	if g := inner.Weight.Grad(); g == nil || g.Float64s()[0] != 7 {
		t.Error("the gradient of the caller changed")
	}
}

func TestRangeErrors(t *testing.T) {
	ctx := t.Context()
	done, cancel := context.WithCancel(ctx)
	cancel()
	set := one(t, 1, 2)
	model := nn.Sequential(dense([]float32{1, 2}))
	var finite *tensor.NonFiniteError
	_, err := explain.Range(ctx, nn.Sequential(nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(-9).Log() }), dense([]float32{1, 2})), set, sum)
	if !errors.As(err, &finite) || finite.What != "outputs" || !strings.Contains(err.Error(), "layer 0 Lambda") {
		t.Error(err)
	}
	var wrong *nn.LayerError
	if _, err = explain.Range(ctx, nn.Sequential(nn.ReLU(), nn.Sequential(nn.Conv2D(2, 3))), set, sum); !errors.As(err, &wrong) || wrong.Path != "1.0" {
		t.Error(err)
	}
	if _, err = explain.Range(done, model, set, sum); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, c := range []struct {
		model nn.Module
		set   *data.Dataset
		want  string
	}{{nil, set, "the model is nil"}, {model, nil, "the data set is nil"}, {model, set.First(0), "is empty"}, {nn.ReLU(), set, "no parameters"}} {
		if _, err := explain.Range(ctx, c.model, c.set, sum); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func ExampleDTypes() {
	for _, d := range explain.DTypes().Rows {
		fmt.Println(d.DType, d.Epsilon, d.Largest)
	}
	// Output:
	// float32 1.1920928955078125e-07 3.4028234663852886e+38
	// float16 0.0009765625 65504
	// bfloat16 0.0078125 3.3895313892515355e+38
	// float8_e4m3 0.125 448
	// float8_e5m2 0.25 57344
}

func ExampleRange() {
	train, _, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	model := nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU(), nn.Dense(10))
	ranges, err := explain.Range(context.Background(), model, train.First(64), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range ranges.Rows {
		if r.Layer == "3 Dense(10)" {
			fmt.Println(r.Of, r.Elements, r.In(tensor.BFloat16, false).ToZero)
		}
	}
	// Output:
	// weights 330 0
	// outputs 640 0
	// gradients of weights 330 0
	// gradients of outputs 640 0
}
