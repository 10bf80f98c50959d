//go:build !race

package tensor

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// TestFloat16MatMulOnCUDA counts the kernels of matrix multiplications under Autocast: the GPU
// multiplies 16-bit inputs and rounds the results itself.
func TestFloat16MatMulOnCUDA(t *testing.T) {
	type inputs struct{ x, w, b, images, kernel *Tensor }
	for name, tt := range map[string]struct {
		f     func(in inputs) *Tensor
		steps int
	}{
		"matmul":            {func(in inputs) *Tensor { return in.x.MatMul(in.w.Permute(1, 0)) }, 2}, // the casts are one kernel
		"linear":            {func(in inputs) *Tensor { return Linear(in.x, in.w, in.b) }, 2},
		"conv":              {func(in inputs) *Tensor { return Conv2D(in.images, in.kernel, nil, Window{}) }, 3}, // the casts move the channels
		"result in float32": {func(in inputs) *Tensor { return in.x.MatMul(in.w.Permute(1, 0)).Softmax(1) }, 3},
	} {
		run := func() (got *Tensor, steps int) {
			g := NewGenerator(1)
			in := inputs{Randn(g, 5, 8), Randn(g, 6, 8), Randn(g, 6), Randn(g, 2, 3, 6, 6), Randn(g, 4, 3, 3, 3)}
			Flush()
			tensors.ResetStats()
			Autocast(BFloat16, func() { got = tt.f(in) })
			Flush()
			return got, tensors.Stats().Steps
		}
		want, plain := run()
		expected := want.Float64s()
		onCUDA(t, func() {
			got, steps := run()
			if steps != tt.steps || plain <= steps {
				t.Errorf("%s: %d steps, %d on the CPU; want %d", name, steps, plain, tt.steps)
			}
			for i, g := range got.Float64s() {
				if w := expected[i]; !(math.Abs(g-w) <= 1./128*math.Abs(w)+1e-3) {
					t.Fatalf("%s: element %d is %v, on the CPU %v", name, i, g, w)
				}
			}
		})
	}
}

// TestFloat16AttentionOnCUDA compares attention under Autocast and its gradients with the CPU's.
// The GPU has kernels for heads of 32, with and without a mask, and computes others in float32.
func TestFloat16AttentionOnCUDA(t *testing.T) {
	for name, tt := range map[string]struct {
		head int
		f    func(q, k, v *Tensor) *Tensor
		more int // kernels beyond one per step: for the gradient two in 16 bits or three in float32
	}{
		"causal": {32, func(q, k, v *Tensor) *Tensor { return Attention(q, k, v, true) }, 2},
		"transposed": {32, func(q, k, v *Tensor) *Tensor {
			return Attention(q.Permute(0, 2, 1, 3), k.Permute(0, 2, 1, 3), v.Permute(0, 2, 1, 3), false)
		}, 2},
		"masked": {32, func(q, k, v *Tensor) *Tensor {
			return MaskedAttention(q, k, v, AttentionMask{Lengths: FromInts([]int{3, 35}, 2).Cast(Int32)})
		}, 3}, // the check of the lengths is two kernels
		"parts of one projection": {32, func(q, k, v *Tensor) *Tensor {
			all := Concat(3, q, k, v).Cast(BFloat16)
			part := func(i int) *Tensor { return all.Slice(3, 32*i, 32*(i+1)) }
			return Attention(part(0), part(1), part(2), true).Permute(0, 2, 1, 3).Reshape(2, 37, -1)
		}, 6}, // Concat and the gradient of Slice are three kernels each
		"read as it is and rounded to another type": {32, func(q, k, v *Tensor) *Tensor {
			y := Attention(q, k, v, true)
			return y.Cast(Float32).Add(y.Tanh().Cast(Float16).Cast(Float32))
		}, 2},
		"once more attention": {32, func(q, k, v *Tensor) *Tensor {
			y := Attention(q, k, v, false)
			return Attention(y, y, v, true).Add(y)
		}, 4},
		"heads of 24": {24, func(q, k, v *Tensor) *Tensor { return Attention(q, k, v, false) }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			run := func() (got []float64, more int) {
				g := NewGenerator(3)
				var in []*Tensor
				for range 3 {
					in = append(in, Parameter(Randn(g, 2, 5, 37, tt.head)))
				}
				Flush()
				tensors.ResetStats()
				var y *Tensor
				Autocast(BFloat16, func() { y = tt.f(in[0], in[1], in[2]) })
				y.Cast(Float32).Square().Sum().Backward()
				Flush()
				more = tensors.Stats().Device.Kernels - tensors.Stats().Steps
				for _, p := range append(in, y) {
					if p != y {
						p = p.Grad()
					}
					got = append(got, p.Cast(Float64).Float64s()...)
				}
				return got, more
			}
			want, _ := run()
			onCUDA(t, func() {
				got, more := run()
				if more != tt.more {
					t.Errorf("%d kernels more than steps, want %d", more, tt.more)
				}
				for i, g := range got {
					if w := want[i]; !(math.Abs(g-w) <= 1./32*math.Max(1, math.Abs(w))) {
						t.Fatalf("element %d is %v, on the CPU %v", i, g, w)
					}
				}
			})
		})
	}
}

// TestFloat16ImagesOnCUDA compares layers of images between 16-bit floats, and their gradients, with
// the CPU's. The GPU reads and writes 16 bits.
func TestFloat16ImagesOnCUDA(t *testing.T) {
	norm := func(x, w, b *Tensor, training bool) *Tensor {
		return BatchNorm(x, w, b, Full(.1, 3), Full(2, 3), .1, 1e-5, training)
	}
	relu := func(x *Tensor) *Tensor {
		defer x.Release() // else it is computed for the handle
		return x.ReLU()
	}
	for name, tt := range map[string]struct {
		f     func(x, w, b *Tensor) *Tensor
		steps int // with the loss, whose casts are some of them
	}{
		"BatchNorm":                 {func(x, w, b *Tensor) *Tensor { return norm(x, w, b, true) }, 10},
		"BatchNorm with statistics": {func(x, w, b *Tensor) *Tensor { return norm(x, w, b, false) }, 8},
		"BatchNorm and ReLU":        {func(x, w, b *Tensor) *Tensor { return norm(x, w, b, true).ReLU() }, 9},
		"BatchNorm, ReLU and pool":  {func(x, w, b *Tensor) *Tensor { return AvgPool2D(relu(norm(x, w, b, true)), [2]int{2, 2}, Window{}) }, 12},
		"MaxPool2D":                 {func(x, _, _ *Tensor) *Tensor { return MaxPool2D(x, [2]int{2, 3}, Window{Stride: [2]int{2, 2}}) }, 6},
		"MaxPool2D, overlapping": {func(x, _, _ *Tensor) *Tensor {
			return MaxPool2D(x, [2]int{3, 3}, Window{Stride: [2]int{2, 2}, Padding: [2]int{1, 1}})
		}, 6},
		"AvgPool2D": {func(x, _, _ *Tensor) *Tensor { return AvgPool2D(x, [2]int{2, 2}, Window{}) }, 6},
	} {
		for _, d := range []DType{BFloat16, Float16} {
			t.Run(name+" of "+d.String(), func(t *testing.T) {
				run := func() (got []float64, steps int) {
					g := NewGenerator(5)
					x, w, b := Parameter(Randn(g, 4, 3, 6, 7).Cast(d)), Parameter(Randn(g, 3)), Parameter(Randn(g, 3))
					slope := Randn(g, 4, 3, 6, 7).Cast(d)
					Flush()
					tensors.ResetStats()
					var y *Tensor
					Autocast(d, func() { y = tt.f(x, w, b) })
					from := slope.Reshape(-1).Slice(0, 0, y.Numel()).Reshape(y.Shape()...)
					y.Mul(from).Sum().Backward()
					Flush()
					steps = tensors.Stats().Steps
					got = y.Cast(Float64).Float64s()
					for _, p := range []*Tensor{x, w, b} {
						if p.Grad() != nil {
							got = append(got, p.Grad().Cast(Float64).Float64s()...)
						}
					}
					return got, steps
				}
				want, _ := run()
				onCUDA(t, func() {
					got, steps := run()
					if steps != tt.steps {
						t.Errorf("%d steps, want %d", steps, tt.steps)
					}
					for i, g := range got {
						if w := want[i]; !(math.Abs(g-w) <= 1./64*math.Max(1, math.Abs(w))) {
							t.Fatalf("element %d is %v, on the CPU %v", i, g, w)
						}
					}
				})
			})
		}
	}
}

// TestTF32OnCUDA checks that TF32 rounds the factors of matrix multiplications only.
func TestTF32OnCUDA(t *testing.T) {
	onCUDA(t, func() {
		g := NewGenerator(6)
		x, w, images, kernel := Randn(g, 33, 64), Randn(g, 64, 20), Randn(g, 2, 5, 7, 6), Randn(g, 9, 5, 3, 3)
		one := [2]int{1, 1}
		products := func() []float64 {
			return append(x.MatMul(w).Cast(Float64).Float64s(), Conv2D(images, kernel, nil, Window{Padding: one}).Cast(Float64).Float64s()...)
		}
		exact, sums := products(), x.Sum(0).Data()
		largest := func(a []float64) (d float64) {
			for i, v := range a {
				d = math.Max(d, math.Abs(v-exact[i]))
			}
			return d
		}
		tensors.AllowTF32(true)
		rounded := products()
		if !slices.Equal(x.Sum(0).Data(), sums) {
			t.Error("a sum is rounded as well")
		}
		tensors.AllowTF32(false)
		if d := largest(rounded); !(d > 1e-4 && d < 5e-2) {
			t.Errorf("with TF32 the results differ by %v", d)
		}
		if d := largest(products()); d != 0 {
			t.Errorf("after TF32 was disabled the results differ by %v", d)
		}
	})
	tensors.AllowTF32(true) // without effect on the CPU
	defer tensors.AllowTF32(false)
	if got := New([]float32{1.0001}, 1, 1).MatMul(New([]float32{1}, 1, 1)).Data()[0]; got != 1.0001 {
		t.Errorf("the CPU rounds to %v", got)
	}
}

// TestFP8OnCUDA compares Linear in FP8 and its gradients with the CPU's, on tensor cores of both
// kinds, and counts the steps: no element is rounded twice, and none is stored in 16 bits.
func TestFP8OnCUDA(t *testing.T) {
	const n, in, out = 20, 48, 32
	run := func(early bool) (got []float64, steps int) {
		g := NewGenerator(5)
		x, w, b := Parameter(Randn(g, n, in)), Parameter(Randn(g, out, in)), Parameter(Randn(g, out))
		Flush()
		tensors.ResetStats()
		var y, loss *Tensor
		AutocastFP8(func() {
			y = Linear(x, w, b)
			loss = y.Cast(Float32).Square().Sum().MulScalar(1e-3)
		})
		if early {
			loss.Item()
		}
		loss.Backward()
		Flush()
		steps = tensors.Stats().Steps
		for _, p := range []*Tensor{y, x.Grad(), w.Grad(), b.Grad()} {
			got = append(got, p.Cast(Float64).Float64s()...)
		}
		return got, steps
	}
	want, plain := run(false)
	for _, capability := range []int{89, 90} {
		device := simulate(t, fake.Options{Seed: *seed, Capability: capability})
		withRecorder(ir.NewRecorder(device), func() {
			for _, early := range []bool{false, true} {
				got, steps := run(early)
				if !early && steps >= plain {
					t.Errorf("%d steps on capability %d, %d on the CPU", steps, capability, plain)
				}
				for i, g := range got {
					// Sums that round to different neighbors may lead to different FP8 gradients.
					if w := want[i]; !(math.Abs(g-w) <= 1./64*math.Max(1, math.Abs(w))) {
						t.Fatalf("capability %d: element %d is %v, on the CPU %v", capability, i, g, w)
					}
				}
			}
		})
		if err := device.Close(); err != nil {
			t.Error(err)
		}
	}
	device := simulate(t, fake.Options{})
	defer device.Close()
	withRecorder(ir.NewRecorder(device), func() {
		var state *StateError
		err := catch(func() { AutocastFP8(func() {}) })
		if !errors.As(err, &state) || !strings.Contains(err.Error(), "cuda:0 is of compute capability 8.0, and 8-bit floats need 8.9 or more; use Autocast(BFloat16, …) instead") {
			t.Errorf("got %v", err)
		}
	})
}
