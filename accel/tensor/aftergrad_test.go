package tensor_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/tensor"
)

// TestAfterGradReadsInTheMidstOfBackward compares gradients that are read as soon as they are
// complete, which runs the recorded list in parts, with gradients of a list that runs at once.
func TestAfterGradReadsInTheMidstOfBackward(t *testing.T) {
	type network struct{ w1, b1, w2, w3 *tensor.Tensor }
	build := func() (n network, loss func() *tensor.Tensor) {
		g := tensor.NewGenerator(3)
		random := func(shape ...int) *tensor.Tensor { return tensor.Parameter(tensor.Randn(g, shape...)) }
		n = network{random(5, 4), random(4), random(4, 4), random(4, 3)}
		x := tensor.Randn(g, 6, 5)
		return n, func() *tensor.Tensor {
			h := x.MatMul(n.w1).Add(n.b1).Tanh()
			h = h.MatMul(n.w2).Sigmoid().Add(h) // a residual connection
			h = h.MatMul(n.w2).ReLU()           // uses w2 a second time
			return h.MatMul(n.w3).Square().Mean()
		}
	}
	all := func(n network) []*tensor.Tensor { return []*tensor.Tensor{n.w1, n.b1, n.w2, n.w3} }

	whole, loss := build()
	loss().Backward()
	parts, loss := build()
	var read [][]float32
	var order []int
	for i, p := range all(parts) {
		tensors.AfterGrad(p, func() {
			read, order = append(read, p.Grad().Data()), append(order, i)
		})
	}
	loss().Backward()
	if len(order) != 4 || order[0] != 3 || order[1] != 2 {
		t.Fatalf("the gradients were complete in the order %v", order)
	}
	for k, i := range order {
		want := all(whole)[i].Grad().Data()
		if !slices.Equal(read[k], want) || !slices.Equal(all(parts)[i].Grad().Data(), want) {
			t.Errorf("gradient %d: %v during Backward, %v after it, want %v", i, read[k], all(parts)[i].Grad().Data(), want)
		}
		tensors.AfterGrad(all(parts)[i], nil)
	}
	loss().Backward() // adds to the gradients
	if len(read) != 4 {
		t.Error("a removed function was called")
	}
	for i, p := range all(parts) {
		for k, v := range p.Grad().Data() {
			if want := 2 * all(whole)[i].Grad().Data()[k]; v != want {
				t.Fatalf("gradient %d after two passes: %v, want %v", i, v, want)
			}
		}
	}
}

// TestAfterGradWaitsForRecompute uses a parameter inside and outside of a Recompute.
func TestAfterGradWaitsForRecompute(t *testing.T) {
	g := tensor.NewGenerator(5)
	w, x := tensor.Parameter(tensor.Randn(g, 3, 3)), tensor.Randn(g, 2, 3)
	inner := func(in []*tensor.Tensor) *tensor.Tensor { return in[0].MatMul(w).Tanh() }
	x.MatMul(w).Add(inner([]*tensor.Tensor{x.MatMul(w)})).Square().Mean().Backward()
	want := w.Grad().Data()
	w.ZeroGrad()
	var read [][]float32
	tensors.AfterGrad(w, func() { read = append(read, w.Grad().Data()) })
	x.MatMul(w).Add(tensor.Recompute(inner, x.MatMul(w))).Square().Mean().Backward()
	if len(read) != 1 {
		t.Fatalf("the function was called %d times", len(read))
	}
	for i, v := range read[0] {
		if d := v - want[i]; d > 1e-6 || d < -1e-6 {
			t.Fatalf("read %v, want %v", read[0], want)
		}
	}
}

// TestAfterGradThatPanics checks that no half-recorded list is left behind.
func TestAfterGradThatPanics(t *testing.T) {
	w := tensor.Parameter(tensor.Ones(2))
	tensors.AfterGrad(w, func() { panic(errors.New("away")) })
	func() {
		defer func() {
			if p := recover(); fmt.Sprint(p) != "away" {
				t.Error(p)
			}
		}()
		w.Square().Sum().Backward()
	}()
	tensors.AfterGrad(w, nil)
	w.ZeroGrad()
	w.Square().Sum().Backward()
	if got := w.Grad().Data(); got[0] != 2 || got[1] != 2 {
		t.Error(got)
	}
}

func TestSetGrad(t *testing.T) {
	w := tensor.Parameter(tensor.Ones(2, 2))
	flat := tensor.New([]float32{1, 2, 3, 4, 5}, 5)
	w.SetGrad(flat.Slice(0, 1, 5).Reshape(2, 2))
	if got := w.Grad().Data(); !slices.Equal(got, []float32{2, 3, 4, 5}) {
		t.Error(got)
	}
	w.SetGrad(w.Grad())
	w.Sum().Backward()
	if got := w.Grad().Data(); !slices.Equal(got, []float32{3, 4, 5, 6}) {
		t.Error(got)
	}
	if got := flat.Data(); !slices.Equal(got, []float32{1, 2, 3, 4, 5}) {
		t.Error("the tensor passed to SetGrad has changed:", got)
	}
	w.SetGrad(w.Square()) // itself requires a gradient
	if w.Grad().RequiresGrad() {
		t.Error("the gradient itself requires a gradient")
	}
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"shape", func() { w.SetGrad(tensor.Zeros(4)) }},
		{"type", func() { w.SetGrad(tensor.FromInts([]int{1, 2, 3, 4}, 2, 2)) }},
		{"no parameter", func() { flat.SetGrad(flat) }},
		{"no parameter", func() { tensors.AfterGrad(flat, func() {}) }},
	} {
		func() {
			defer func() {
				if _, ok := recover().(error); !ok {
					t.Errorf("%s: no error", c.name)
				}
			}()
			c.do()
		}()
	}
}
