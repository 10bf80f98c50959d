package tensor

import (
	"slices"
	"sync"
	"testing"
)

// TestNoGradIsOfOneGoroutine computes gradients while another goroutine is inside NoGrad.
func TestNoGradIsOfOneGoroutine(t *testing.T) {
	inside, done := make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		NoGrad(func() {
			close(inside)
			<-done
			if Parameter(Ones(2)).MulScalar(2).RequiresGrad() {
				t.Error("a gradient flows inside NoGrad")
			}
		})
	})
	<-inside
	p := Parameter(New([]float32{1, 2}, 2))
	p.Square().Sum().Backward()
	if g := p.Grad(); g == nil || !slices.Equal(g.Data(), []float32{2, 4}) {
		t.Errorf("the gradient is %v", g)
	}
	close(done)
	wait.Wait()
}

// TestNoGradEnds checks the scope after nested NoGrads and after one that panics.
func TestNoGradEnds(t *testing.T) {
	p := Parameter(Ones(1))
	flows := func() bool { return p.MulScalar(1).RequiresGrad() }
	NoGrad(func() {
		NoGrad(func() {})
		if flows() {
			t.Error("the inner NoGrad has ended the outer one")
		}
	})
	_ = catch(func() { NoGrad(func() { Zeros(2).Add(Zeros(3)) }) })
	if !flows() {
		t.Error("NoGrad goes on after its end")
	}
	if n := len(shared().scopes); n > 0 {
		t.Errorf("%d scopes are left", n)
	}
}

// TestManyGoroutines computes in all kinds of scopes concurrently; run it with the race detector.
func TestManyGoroutines(t *testing.T) {
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 20 {
				p := Parameter(Full(float64(i), 3))
				f := func(in []*Tensor) *Tensor { return in[0].Square() }
				switch i % 4 {
				case 0:
					NoGrad(func() {
						if p.Square().RequiresGrad() {
							t.Error("a gradient flows inside NoGrad")
						}
					})
					continue
				case 1:
					Autocast(BFloat16, func() {
						if y := Ones(1, 3).MatMul(p.Reshape(3, 1)); y.DType() != BFloat16 || y.Item() != float64(3*i) {
							t.Errorf("a product is %v", y)
						}
					})
					continue
				case 2:
					Recompute(f, p).Sum().Backward()
				case 3:
					f([]*Tensor{p}).Sum().Backward()
				}
				if g := p.Grad().Data(); g[0] != float32(2*i) {
					t.Errorf("the gradient of %d² is %v", i, g)
				}
			}
		})
	}
	wait.Wait()
}

func BenchmarkNoGrad(b *testing.B) {
	for b.Loop() {
		NoGrad(func() {})
	}
}
