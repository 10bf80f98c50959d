package tensor

import (
	"errors"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// deepNetwork is a deep network whose blocks can be recomputed.
type deepNetwork struct {
	weights [][2]*Tensor
	g       *Generator
}

func newDeepNetwork(depth, width int) *deepNetwork {
	n := &deepNetwork{g: NewGenerator(5)}
	for range depth {
		n.weights = append(n.weights, [2]*Tensor{Parameter(Randn(n.g, width, width).MulScalar(0.1)), Parameter(Zeros(width))})
	}
	return n
}

func (n *deepNetwork) block(x *Tensor, i int) *Tensor {
	y := releaseAfter(Linear(x, n.weights[i][0], n.weights[i][1]), (*Tensor).Tanh)
	y = releaseAfter(y, func(t *Tensor) *Tensor { return t.Dropout(0.2, n.g, true) })
	return releaseAfter(y, (*Tensor).Sin)
}

func (n *deepNetwork) run(x *Tensor, every int) (loss float64, grads [][]float32) {
	y := x
	for i := 0; i < len(n.weights); i += every {
		part := func(in []*Tensor) *Tensor {
			z := n.block(in[0], i)
			for j := i + 1; j < i+every; j++ {
				z = releaseAfter(z, func(t *Tensor) *Tensor { return n.block(t, j) })
			}
			return z
		}
		var next *Tensor
		if every > 1 {
			next = Recompute(part, y)
		} else {
			next = part([]*Tensor{y})
		}
		if y != x {
			y.Release()
		}
		y = next
	}
	l := releaseAfter(y, func(t *Tensor) *Tensor { return t.Square().Mean() })
	l.Backward()
	loss = l.Item()
	for _, p := range append(n.parameters(), x) {
		if p.Grad() != nil {
			grads = append(grads, p.Grad().Data())
		}
		p.ZeroGrad()
	}
	return loss, grads
}

func (n *deepNetwork) parameters() []*Tensor {
	var p []*Tensor
	for _, w := range n.weights {
		p = append(p, w[0], w[1])
	}
	return p
}

func TestRecompute(t *testing.T) {
	var loss [2]float64
	var grads [2][][]float32
	for i, every := range []int{1, 3} {
		n := newDeepNetwork(6, 8)
		loss[i], grads[i] = n.run(Parameter(Randn(n.g, 5, 8)), every)
	}
	if loss[0] != loss[1] {
		t.Errorf("the loss is %v, want %v", loss[1], loss[0])
	}
	for i := range grads[0] {
		if !slices.Equal(grads[0][i], grads[1][i]) {
			t.Errorf("gradient %d is %v, want %v", i, grads[1][i], grads[0][i])
		}
	}
	if len(grads[1]) != 13 {
		t.Errorf("%d gradients", len(grads[1]))
	}
}

// TestNestedRecomputeDraws checks that backward and forward pass draw the same random numbers if a
// function that draws contains another that draws.
func TestNestedRecomputeDraws(t *testing.T) {
	drop := func(x *Tensor) *Tensor { return x.Dropout(0.5, nil, true) }
	run := func(recompute func(f func(in []*Tensor) *Tensor, in ...*Tensor) *Tensor) []float32 {
		tensors.Seed(7)
		x := Parameter(Ones(64))
		third := func(in []*Tensor) *Tensor { return drop(in[0].Square()) }
		second := func(in []*Tensor) *Tensor { return recompute(third, drop(in[0])) }
		first := func(in []*Tensor) *Tensor { return drop(recompute(second, in[0].MulScalar(3))).Square() }
		recompute(first, x).Sum().Backward()
		return append(x.Grad().Data(), Uniform(nil, 0, 1, 1).Data()...)
	}
	want := run(func(f func(in []*Tensor) *Tensor, in ...*Tensor) *Tensor { return f(in) })
	if got := run(Recompute); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestRecomputeMemory compares the peak memory with and without Recompute.
func TestRecomputeMemory(t *testing.T) {
	peak := func(every int) (bytes int) {
		withThreads(1, func() {
			n := newDeepNetwork(16, 32)
			x := Randn(n.g, 2000, 32)
			n.run(x, every)
			bytes = tensors.Stats().PeakBytes
		})
		return bytes
	}
	whole, parts := peak(1), peak(4)
	t.Logf("16 blocks take %d bytes, recomputed in 4 parts %d", whole, parts)
	if parts > whole*6/10 {
		t.Errorf("16 blocks take %d bytes, recomputed in 4 parts %d", whole, parts)
	}
}

func TestRecomputeMore(t *testing.T) {
	x, w := Parameter(New([]float32{1, 2}, 2)), Parameter(New([]float32{3, 4}, 2))
	// Nested, with two inputs, and with a result that is read inside.
	inner := func(in []*Tensor) *Tensor { return in[0].Mul(w).Exp() }
	outer := func(in []*Tensor) *Tensor {
		y := Recompute(inner, in[0].MulScalar(0.1))
		y.Sum().Item()
		return y.Mul(in[1])
	}
	run := func(f func(in []*Tensor) *Tensor, recompute bool) [][]float32 {
		in := []*Tensor{x, x.MulScalar(2)}
		var y *Tensor
		if recompute {
			y = Recompute(f, in...)
		} else {
			y = f(in)
		}
		y.Sum().Backward()
		out := [][]float32{x.Grad().Data(), w.Grad().Data()}
		x.ZeroGrad()
		w.ZeroGrad()
		return out
	}
	plain := func(in []*Tensor) *Tensor { return in[0].MulScalar(0.1).Mul(w).Exp().Mul(in[1]) }
	want, got := run(plain, false), run(outer, true)
	for i := range want {
		compare(t, "nested", New(got[i], 2), array{[]int{2}, convert[float64](want[i])}, 1e-6)
	}
	// Running statistics are updated once.
	mean, variance := Zeros(1), Ones(1)
	p := Parameter(New([]float32{1, 3}, 2, 1))
	y := Recompute(func(in []*Tensor) *Tensor { return BatchNorm(in[0], nil, nil, mean, variance, 0.5, 1e-5, true) }, p)
	y.Square().Sum().Backward()
	if mean.Item() != 1 {
		t.Errorf("the running mean is %v, want 1", mean.Item())
	}
	var state *StateError
	if err := catch(func() { y.Sum().Backward() }); !errors.As(err, &state) {
		t.Errorf("a second Backward: %v", err)
	}
	NoGrad(func() {
		if Recompute(inner, x).RequiresGrad() {
			t.Error("a gradient flows under NoGrad")
		}
	})
	if got := Recompute(func(in []*Tensor) *Tensor { return in[0] }, Ones(2)).Data(); got[1] != 1 {
		t.Errorf("the identity gives %v", got)
	}
}
