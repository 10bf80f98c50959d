package tensor

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

func TestScalarsAreNoPartOfThePlan(t *testing.T) {
	x := New([]float32{1, 2, 3}, 3)
	x.MulScalar(0.1).AddScalar(2).Data()
	rate := Full(1)
	x.Mul(rate).Data()
	tensors.ResetStats()
	for i := range 10 {
		s := float64(i)
		got := x.MulScalar(s).AddScalar(s).Data()
		if want := []float32{float32(2 * s), float32(3 * s), float32(4 * s)}; !slices.Equal(got, want) {
			t.Errorf("scalar %v: %v, want %v", s, got, want)
		}
		rate.SetData([]float32{float32(s)})
		if got := x.Mul(rate).Data(); got[2] != float32(3*s) {
			t.Errorf("tensor %v: %v", s, got)
		}
	}
	if s := tensors.Stats(); s.PlansMade != 0 {
		t.Errorf("scalars made %d plans", s.PlansMade)
	}
}

func TestEndlessRecordingStaysBounded(t *testing.T) {
	x := Ones(4)
	tensors.ResetStats()
	const ops = 50000
	for range ops {
		x = x.AddScalar(1)
	}
	if s := tensors.Stats(); s.Flushes < 3 {
		t.Errorf("%d ops were run in %d lists", ops, s.Flushes)
	}
	if got := x.Data()[0]; got != ops+1 {
		t.Errorf("got %v", got)
	}
}

func TestGoroutines(t *testing.T) {
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 50 {
				x := Full(float64(k), 10)
				y := x.AddScalar(float64(i)).Square()
				if got, want := y.Sum().Item(), 10*float64((k+i)*(k+i)); got != want {
					t.Errorf("goroutine %d: %v, want %v", k, got, want)
				}
			}
		}()
	}
	wg.Wait()
}

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

// TestStepsSameBitsOnAnyNumberOfThreads compares results and gradients of ops that split their
// work, at sizes that make several parts.
func TestStepsSameBitsOnAnyNumberOfThreads(t *testing.T) {
	pair := [2]int{3, 3}
	for name, f := range map[string]func(x, w *Tensor) *Tensor{
		"LayerNorm": func(x, w *Tensor) *Tensor { return LayerNorm(x, w, w, 1, 1e-5) },
		"RMSNorm":   func(x, w *Tensor) *Tensor { return RMSNorm(x, w, 1, 1e-5) },
		"BatchNorm": func(x, w *Tensor) *Tensor { return BatchNorm(x, nil, nil, nil, nil, 0.1, 1e-5, true).Mul(w) },
		"MaxPool2D": func(x, w *Tensor) *Tensor { return MaxPool2D(x.Mul(w), pair, Window{Stride: [2]int{1, 1}}) },
		"AvgPool2D": func(x, w *Tensor) *Tensor { return AvgPool2D(x.Mul(w), pair, Window{Stride: [2]int{2, 2}}) },
		"CumSum":    func(x, w *Tensor) *Tensor { return x.Mul(w).CumSum(3) },
		"LogSumExp": func(x, w *Tensor) *Tensor { return x.Mul(w).LogSumExp(3) },
		"MatMul":    func(x, w *Tensor) *Tensor { return x.Mul(w).MatMul(x.MT()) },
		"Embedding": func(x, w *Tensor) *Tensor { return Embedding(x, FromInts([]int{4, 1, 4, 4, 0}, 5)).Mul(w) },
		"float64":   func(x, w *Tensor) *Tensor { return x.Cast(Float64).MatMul(w.Cast(Float64).Reshape(33, 1)).Exp() },
	} {
		var want []float32
		for _, threads := range []int{1, 2, 5} {
			withThreads(threads, func() {
				g := NewGenerator(6)
				x, w := Parameter(Randn(g, 40, 7, 11, 33)), Parameter(Randn(g, 33))
				y := f(x, w)
				y.Mul(y).Mean().Backward()
				got := slices.Concat(y.Data(), x.Grad().Data(), w.Grad().Data())
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %d threads give other bits than 1", name, threads)
				}
			})
		}
	}
}

// withLimit runs f with a limit of the memory beyond what is in use.
func withLimit(t *testing.T, bytes int, f func()) {
	t.Helper()
	Flush()
	tensors.ResetStats()
	runtime.GC()
	tensors.PeakBytes(func() {}) // collects
	s := tensors.Stats()
	defer SetMemoryLimit(SetMemoryLimit(s.LiveBytes + s.PlanBytes + bytes))
	f()
}

// TestTrainingStepIsOneList trains on activations that need more than the limit if all are kept.
func TestTrainingStepIsOneList(t *testing.T) {
	withThreads(2, func() {
		const n, layers = 4 << 20, 24 // floats of one activation: 16 MiB
		x, w := Full(0.5, n), Parameter(Full(0.5, n))
		step := func() {
			y := x.Mul(w)
			for range layers {
				next := y.Square()
				y.Release()
				y = next
			}
			loss := y.Sum()
			y.Release()
			w.ZeroGrad()
			loss.Backward()
			loss.Release()
			NoGrad(func() {
				g := w.Grad()
				step := g.MulScalar(0.1)
				next := w.Sub(step)
				w.Assign(next)
				for _, t := range []*Tensor{g, step, next} {
					t.Release()
				}
			})
			Flush()
		}
		step()
		withLimit(t, layers*n*4, func() { // the forward pass alone seems to need that
			peak := tensors.PeakBytes(step)
			if s := tensors.Stats(); s.Flushes != 1 {
				t.Errorf("a step runs %d lists, want 1", s.Flushes)
			}
			if most := layers * n * 4 / 2; peak > most {
				t.Errorf("a step takes %d bytes, want at most %d", peak, most)
			}
		})
		runtime.KeepAlive(x)
	})
}

// TestLoopsThatReadNothing make values of which nothing is released.
func TestLoopsThatReadNothing(t *testing.T) {
	const limit, rounds = 32 << 20, 200
	for name, body := range map[string]func(x, w, total *Tensor) *Tensor{
		"without gradients": func(x, w, total *Tensor) *Tensor {
			NoGrad(func() { x.MatMul(w) })
			return total.AddScalar(64)
		},
		"with gradients": func(x, w, total *Tensor) *Tensor {
			x.MatMul(w)
			return total.AddScalar(64)
		},
		"with a loss": func(x, w, total *Tensor) *Tensor {
			x.MatMul(w).Square().Mean()
			return total.AddScalar(64)
		},
		"a running total": func(x, w, total *Tensor) *Tensor { return total.Add(x.MatMul(w).Mean().Detach()) },
		"backward": func(x, w, total *Tensor) *Tensor {
			w.ZeroGrad()
			x.MatMul(w).Sum().Backward()
			return total.Add(w.Grad().Mean().MulScalar(0.5))
		},
		"an update": func(x, w, total *Tensor) *Tensor {
			NoGrad(func() {
				x.Assign(x.MatMul(w).MulScalar(1.0 / 128))
				total = total.Add(x.Mean().MulScalar(128))
			})
			return total
		},
	} {
		t.Run(name, func(t *testing.T) {
			withThreads(2, func() {
				x, w := Full(0.5, 256, 256), Parameter(Full(0.5, 256, 256)) // 256 KiB each
				withLimit(t, limit, func() {
					total := Full(0)
					for range rounds {
						total = body(x, w, total)
					}
					if got := total.Item(); got != rounds*64 {
						t.Errorf("the total is %v, want %v", got, rounds*64)
					}
				})
			})
		})
	}
}

// TestReleasedBranches computes results with gradients that no loss depends on.
func TestReleasedBranches(t *testing.T) {
	withThreads(2, func() {
		x, w := Full(0.5, 64, 64), Parameter(Full(0.5, 64, 64))
		hidden := x.MatMul(w)
		side := hidden.Square()
		unused := side.MatMul(w).Sum()
		for _, t := range []*Tensor{side, unused} {
			t.Release()
		}
		loss := hidden.Mean()
		hidden.Release()
		loss.Backward()
		Flush()
		if got, want := w.Grad().Data()[0], float32(64*0.5/(64*64)); math.Abs(float64(got-want)) > 1e-6 {
			t.Errorf("the gradient is %v, want %v", got, want)
		}
		// A batch that is released before Backward, which reads it, is freed then.
		var live []int
		for range 3 {
			batch := New(make([]float32, 64*64), 64, 64)
			y := batch.MatMul(w)
			batch.Release()
			loss := y.Sum()
			y.Release()
			Flush()
			w.ZeroGrad()
			loss.Backward()
			loss.Release()
			Flush()
			live = append(live, tensors.Stats().LiveBytes)
		}
		if live[0] != live[2] {
			t.Errorf("%d bytes are live after a step, and %d after two more", live[0], live[2])
		}
		runtime.KeepAlive(loss)
	})
}

func TestMemoryLimit(t *testing.T) {
	withThreads(2, func() {
		n := newMLP(NewGenerator(1), 8, 20, 30, 5)
		n.train()
		before := n.params[0].Data()
		if old := SetMemoryLimit(1 << 20); old != 0 {
			t.Errorf("the limit was %d", old)
		}
		var memory *OutOfMemoryError
		err := catch(func() { Zeros(1 << 20) })
		if !errors.As(err, &memory) || memory.Need != 4<<20 || memory.Free <= 0 || memory.Free > 1<<20 || !strings.Contains(err.Error(), "try a smaller batch") {
			t.Fatalf("got %v, want an OutOfMemoryError", err)
		}
		// A step whose temporaries do not fit does not change the parameters.
		y := n.y
		small := n.x
		labels := make([]int, 5000)
		n.x, n.y = Zeros(5000, 20), FromInts(labels, 5000)
		if err := catch(func() { n.train() }); !errors.As(err, &memory) {
			t.Fatalf("got %v, want an OutOfMemoryError", err)
		}
		if got := n.params[0].Data(); !slices.Equal(got, before) {
			t.Error("a failed step changed the parameters")
		}
		n.x, n.y = small, y
		for _, p := range n.params {
			p.ZeroGrad()
		}
		if loss := n.train().Item(); math.IsNaN(loss) {
			t.Error("training does not continue")
		}
		// Unreachable tensors are collected before the limit is enforced.
		for range 25 {
			Ones(50000).AddScalar(1).Data()
		}
		// A broadcast view of one element is small, but a copy of it is too large.
		view := Ones(1).Expand(1 << 40)
		for name, read := range map[string]func(){"Data": func() { view.Data() }, "Raw": func() { view.Raw() }, "Ints": func() { view.Ints() }} {
			if err := catch(read); !errors.As(err, &memory) || memory.Need != 4<<40 {
				t.Errorf("%s of 4 TiB: got %v, want an OutOfMemoryError", name, err)
			}
		}
		SetMemoryLimit(0)
		Zeros(1 << 20)
	})
}

// TestPeakBytes makes values that become garbage at once, then values that are kept.
func TestPeakBytes(t *testing.T) {
	withThreads(2, func() {
		const size = 4 << 20 // bytes of one value
		before := tensors.PeakBytes(func() {})
		one := tensors.PeakBytes(func() {
			for i := range 20 {
				Ones(size / 4).AddScalar(float64(i)).Data()
			}
		})
		if n := one - before; n < size || n > 3*size {
			t.Errorf("one value of %d bytes at a time takes %d", size, n)
		}
		var keepDims []*Tensor
		all := tensors.PeakBytes(func() {
			for i := range 20 {
				keepDims = append(keepDims, Ones(size/4).AddScalar(float64(i)))
				keepDims[i].Data()
			}
		})
		if n := all - before; n < 19*size || n > 22*size {
			t.Errorf("20 values of %d bytes take %d", size, n)
		}
		runtime.KeepAlive(keepDims)
	})
}

func TestFindNonFinite(t *testing.T) {
	w := Parameter(New([]float32{0, 1}, 2))
	x := New([]float32{0, -1, 2, 3}, 2, 2)
	for _, row := range []struct {
		name string
		f    func()
		want string
	}{
		{"fine", func() { w.Mul(x).Sum().Backward() }, ""},
		{"forward", func() { x.MulScalar(2).Log().Add(w).Exp().Data() }, "Log: element 1 of [2 2] is NaN; before, Log: element 0 of [2 2] is -Inf"},
		{"infinite", func() { x.MulScalar(100).Exp().Neg().Data() }, "Exp: element 2 of [2 2] is +Inf"},
		{"gradient", func() { w.Sqrt().Sum().Backward(); w.Grad().Data() }, "the gradient of Sqrt: element 0 of [2] is +Inf"},
		{"input", func() { New([]float32{1, float32(math.NaN())}, 2).AddScalar(1).Data() }, "an input: element 1 of [2] is NaN"},
	} {
		w.ZeroGrad()
		found := FindNonFinite(row.f)
		switch {
		case found == nil && row.want != "":
			t.Errorf("%s: nothing found", row.name)
		case found != nil && found.String() != row.want:
			t.Errorf("%s: %v, want %q", row.name, found, row.want)
		}
	}
	n := newMLP(NewGenerator(1), 8, 4, 3, 2)
	if found := FindNonFinite(func() { n.train() }); found != nil {
		t.Errorf("FindNonFinite reports %v in a step with finite values", found)
	}
	first := n.train().Item()
	if last := n.train().Item(); !(last < first) {
		t.Errorf("training does not continue: %v, %v", first, last)
	}
}
