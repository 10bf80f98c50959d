package tensor

import (
	"math"
	"runtime"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

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
