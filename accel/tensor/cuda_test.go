//go:build !race

// The race detector makes the simulation ten times slower, and looks at the same
// code in the tests of the packages below.

package tensor

import (
	"errors"
	"flag"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
	"github.com/quernlab/quern/accel/internal/ir"
)

var seed = flag.Uint64("seed", 1, "of the order in which the fake GPU runs what is not ordered; 0 for that of the calls")

// simulated keeps parsed kernels for all tests.
var simulated fake.Modules

// libraries are those that simulated GPUs use besides their own kernels.
var libraries cuda.Libraries

// withLibraries runs f on simulated GPUs that use played libraries wherever they can.
func withLibraries(f func()) {
	libraries = cuda.Libraries{CuBLASLt: fakelib.OpenCuBLASLt, CuDNN: fakelib.OpenCuDNN}
	defer func() { libraries = cuda.Libraries{} }()
	f()
}

// simulate makes a simulated GPU.
func simulate(t testing.TB, o fake.Options) *cuda.Device {
	t.Helper()
	o.Modules = &simulated
	d, err := fake.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	device, err := cuda.Open("cuda:0", d, 0, libraries)
	if err != nil {
		t.Fatal(err)
	}
	return device
}

// onCUDA runs f on a GPU that is simulated: every kernel, graph and copy.
func onCUDA(t testing.TB, f func()) {
	t.Helper()
	device := simulate(t, fake.Options{Seed: *seed})
	withRecorder(ir.NewRecorder(device), f)
	if err := device.Close(); err != nil {
		t.Error(err)
	}
}

// TestErrorsOnCUDA has data that only the GPU sees to be wrong: the error comes from
// what waits for the result, and nothing behind it is overwritten.
func TestErrorsOnCUDA(t *testing.T) {
	onCUDA(t, func() {
		w := Parameter(Ones(3, 2))
		for range 3 { // launched, and as a graph
			var index *IndexError
			late := FromInts([]int{1, -7, 5}, 3).Cast(Float32).MulScalar(1).Cast(Int32)
			err := catch(func() {
				loss := w.IndexSelect(late).Sum()
				w.ZeroGrad()
				loss.Backward()
				NoGrad(func() { w.Assign(w.Sub(w.Grad())) })
				loss.Item()
			})
			if !errors.As(err, &index) || index.Op != "IndexSelect" || index.Index != -7 || index.Size != 3 {
				t.Fatalf("got %v", err)
			}
			if got := w.Data(); !slices.Equal(got, []float32{1, 1, 1, 1, 1, 1}) {
				t.Fatalf("a step that failed has made the weights %v", got)
			}
		}
		var number *NonFiniteError
		x := New([]float32{1, 0, 3}, 3).Log().RequireFinite("the logarithm")
		if err := catch(func() { x.Data() }); !errors.As(err, &number) || number.Element != 1 || number.What != "the logarithm" {
			t.Errorf("got %v", err)
		}
	})
}

// TestOnCUDA has the simulated GPU pass the tests of the processor. Errors of data
// come late there; what tests those is left out.
func TestOnCUDA(t *testing.T) {
	defer func(all [][3]int) { trialSizes = all }(trialSizes)
	trialSizes = [][3]int{{1, 1, 1}, {2, 3, 4}, {5, 1, 7}, {9, 13, 5}, {0, 3, 2}, {3, 0, 2}, {2, 3, 0}}
	defer func(all [][3]int) { broadcastSizes = all }(broadcastSizes)
	broadcastSizes = [][3]int{{2, 3, 4}}
	for name, test := range map[string]func(*testing.T){
		"Cast":                   TestCast,
		"NaNAndInf":              TestNaNAndInf,
		"OpsAgainstFloat64":      TestOpsAgainstFloat64,
		"Gradients":              TestGradients,
		"AgainstTorch":           TestAgainstTorch,
		"Float64":                TestFloat64,
		"Float16Ops":             TestFloat16Ops,
		"Float16Gradients":       TestFloat16Gradients,
		"IndicesOfAnyType":       TestIndicesOfAnyType,
		"Dropout":                TestDropout,
		"SpecialReductions":      TestSpecialReductions,
		"ConcatOfMany":           TestConcatOfMany,
		"Recompute":              TestRecompute,
		"RunningStatistics":      TestRunningStatistics,
		"MaxPoolOfEqualElements": TestMaxPoolOfEqualElements,
		"MaskedAttention":        TestMaskedAttention,
		"UpdateIsInPlace":        TestUpdateIsInPlace,
		"UpdateLeaves":           TestUpdateLeavesWhatOthersSee,
		"MovedSource":            TestMovedSourceSaysSo,
		"GradientsAccumulate":    TestGradientsAccumulate,
		"AcrossFlushes":          TestBackwardAcrossFlushes,
		"Shared":                 TestSharedSubexpression,
		"NoGrad":                 TestNoGradAndDetach,
		"FindNonFinite":          TestFindNonFinite,
		"GradientOfSlices":       TestGradientOfSlices,
		"Autocast":               TestAutocastGradients,
		"RandomPrograms":         TestRandomPrograms,
		"GraphsAgainstTorch":     func(t *testing.T) { graphsAgainstTorch(t, Float32) },
		"Training":               TestTraining,
	} {
		t.Run(name, func(t *testing.T) { onCUDA(t, func() { test(t) }) })
	}
}

// TestLibrariesOnCUDA has products be computed by libraries, wherever they can.
func TestLibrariesOnCUDA(t *testing.T) {
	withLibraries(func() {
		for name, test := range map[string]func(*testing.T){
			"NaNAndInf":        TestNaNAndInf,
			"AgainstTorch":     func(t *testing.T) { againstTorch(t, Float32) },
			"Float16Gradients": TestFloat16Gradients,
			"Autocast":         TestAutocastGradients,
			"Training":         TestTraining,
		} {
			t.Run(name, func(t *testing.T) { onCUDA(t, func() { test(t) }) })
		}
		for name, test := range map[string]func(*testing.T){
			"SteadyStep": TestSteadyStepOnCUDA, "Float16MatMul": TestFloat16MatMulOnCUDA, "TF32": TestTF32OnCUDA, "Switch": TestSwitchOnCUDA,
		} {
			t.Run(name, test)
		}
	})
}

// TestSwitch trains on the processor, goes on on a GPU, and back.
func TestSwitchOnCUDA(t *testing.T) {
	device := simulate(t, fake.Options{Seed: *seed})
	train := func(devices ...string) []float32 {
		n := newMLP(NewGenerator(4), 20, 7, 12, 5)
		pending := n.params[0].MulScalar(2) // computed when the device is another one
		for _, name := range devices {
			if err := Use(name); err != nil {
				t.Fatal(err)
			}
			if got := Device(); got != name {
				t.Fatalf("on %s instead of %s", got, name)
			}
			for range 3 {
				n.train()
			}
		}
		return slices.Concat(n.params[0].Data(), n.params[1].Data(), pending.Data())
	}
	e := shared()
	e.enter()
	e.devices["cuda:0"] = device
	e.leave()
	defer func() {
		if err := Use("cpu"); err != nil {
			t.Error(err)
		}
		e.enter()
		delete(e.devices, "cuda:0")
		e.leave()
	}()
	want, got := train("cpu", "cpu", "cpu"), train("cpu", "cuda:0", "cpu")
	for i, w := range want {
		if g := got[i]; !(math.Abs(float64(g-w)) < 1e-4*(1+math.Abs(float64(w)))) {
			t.Fatalf("parameter %d is %v, on the processor alone %v", i, g, w)
		}
	}
	if got := train("cuda:0"); len(got) != len(want) {
		t.Errorf("%d numbers", len(got))
	}
}

func TestUseOfWhatIsNot(t *testing.T) {
	for _, name := range []string{"", "gpu", "cuda:x", "cuda:-1", "cuda:99", "CUDA"} {
		if err := Use(name); err == nil {
			t.Errorf("%q can be used", name)
		}
	}
	if got := Device(); got != "cpu" {
		t.Errorf("the device is %s now", got)
	}
}

// TestSteadyStepOnCUDA looks at what a step of a training loop asks of the GPU when
// it has come a few times: one graph, no memory, and nothing to wait for.
func TestSteadyStepOnCUDA(t *testing.T) {
	device := simulate(t, fake.Options{})
	defer device.Close()
	withRecorder(ir.NewRecorder(device), func() {
		n := newMLP(NewGenerator(4), 20, 7, 12, 5)
		data := Randn(NewGenerator(5), 20, 7).Data()
		step := func() {
			n.x.SetData(data)
			n.train().Release()
			Flush()
		}
		for range 12 {
			step()
		}
		before := device.Counts()
		const steps = 10
		for range steps {
			step()
		}
		after := device.Counts()
		if got := after.GraphLaunches - before.GraphLaunches; got != steps {
			t.Errorf("%d graphs in %d steps", got, steps)
		}
		for what, n := range map[string]int{
			"kernels":   after.Launches - before.Launches,
			"waits":     after.Syncs - before.Syncs,
			"blocks":    after.Allocs - before.Allocs,
			"updates":   after.Updates - before.Updates,
			"new plans": after.Instantiates - before.Instantiates,
		} {
			if n != 0 {
				t.Errorf("%d %s in %d steps", n, what, steps)
			}
		}
	})
}

// TestFloat16MatMulOnCUDA counts the steps of products under Autocast: the GPU
// multiplies what the casts give, and rounds its results itself.
func TestFloat16MatMulOnCUDA(t *testing.T) {
	type inputs struct{ x, w, b, images, kernel *Tensor }
	for name, tt := range map[string]struct {
		f     func(in inputs) *Tensor
		steps int
	}{
		"matmul":            {func(in inputs) *Tensor { return in.x.MatMul(in.w.Permute(1, 0)) }, 3},
		"linear":            {func(in inputs) *Tensor { return Linear(in.x, in.w, in.b) }, 4},
		"conv":              {func(in inputs) *Tensor { return Conv2D(in.images, in.kernel, nil, Window{}) }, 3},
		"result in float32": {func(in inputs) *Tensor { return in.x.MatMul(in.w.Permute(1, 0)).Softmax(1) }, 5},
	} {
		run := func() (got *Tensor, steps int) {
			g := NewGenerator(1)
			in := inputs{Randn(g, 5, 8), Randn(g, 6, 8), Randn(g, 6), Randn(g, 2, 3, 6, 6), Randn(g, 4, 3, 3, 3)}
			Flush()
			ResetStats()
			Autocast(BFloat16, func() { got = tt.f(in) })
			Flush()
			return got, Stats().Steps
		}
		want, plain := run()
		expected := want.Float64s()
		onCUDA(t, func() {
			got, steps := run()
			if steps != tt.steps || plain <= steps {
				t.Errorf("%s: %d steps, %d on the processor; want %d", name, steps, plain, tt.steps)
			}
			for i, g := range got.Float64s() {
				if w := expected[i]; !(math.Abs(g-w) <= 1./128*math.Abs(w)+1e-3) {
					t.Fatalf("%s: element %d is %v, on the processor %v", name, i, g, w)
				}
			}
		})
	}
}

// TestHalfAttentionOnCUDA compares attention under Autocast, and its gradients, with
// the processor's: the GPU has kernels for heads of 32, with and without a mask,
// and takes others in float32.
func TestFloat16AttentionOnCUDA(t *testing.T) {
	for name, tt := range map[string]struct {
		head int
		f    func(q, k, v *Tensor) *Tensor
		more int // kernels than steps: one of the sum, and of the gradient two in 16 bits, three in float32
	}{
		"causal": {32, func(q, k, v *Tensor) *Tensor { return Attention(q, k, v, true) }, 3},
		"transposed": {32, func(q, k, v *Tensor) *Tensor {
			return Attention(q.Permute(0, 2, 1, 3), k.Permute(0, 2, 1, 3), v.Permute(0, 2, 1, 3), false)
		}, 3},
		"masked": {32, func(q, k, v *Tensor) *Tensor {
			return MaskedAttention(q, k, v, AttentionMask{Lengths: FromInts([]int{3, 35}, 2).Cast(Int32)})
		}, 3},
		"heads of 24": {24, func(q, k, v *Tensor) *Tensor { return Attention(q, k, v, false) }, 4},
	} {
		t.Run(name, func(t *testing.T) {
			run := func() (got []float64, more int) {
				g := NewGenerator(3)
				var in []*Tensor
				for range 3 {
					in = append(in, Parameter(Randn(g, 2, 5, 37, tt.head)))
				}
				Flush()
				ResetStats()
				var y *Tensor
				Autocast(BFloat16, func() { y = tt.f(in[0], in[1], in[2]) })
				y.Cast(Float32).Square().Sum().Backward()
				Flush()
				more = Stats().Device.Kernels - Stats().Steps
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
						t.Fatalf("number %d is %v, on the processor %v", i, g, w)
					}
				}
			})
		})
	}
}

// TestTF32OnCUDA wants rounded factors while the switch is on, in products alone.
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
		TF32(true)
		rounded := products()
		if !slices.Equal(x.Sum(0).Data(), sums) {
			t.Error("a sum is rounded too")
		}
		TF32(false)
		if d := largest(rounded); !(d > 1e-4 && d < 5e-2) {
			t.Errorf("with TF32 the products differ by %v", d)
		}
		if d := largest(products()); d != 0 {
			t.Errorf("without TF32 again they differ by %v", d)
		}
	})
	TF32(true) // of the processor
	defer TF32(false)
	if got := New([]float32{1.0001}, 1, 1).MatMul(New([]float32{1}, 1, 1)).Data()[0]; got != 1.0001 {
		t.Errorf("the processor rounds to %v", got)
	}
}

// TestFP8OnCUDA compares Linear of 8-bit floats and its gradients with the
// processor's, with tensor cores of either kind, and counts the steps: no number is
// rounded twice, and none goes through memory in 16 bits.
func TestFP8OnCUDA(t *testing.T) {
	const n, in, out = 20, 48, 32
	run := func(early bool) (got []float64, steps int) {
		g := NewGenerator(5)
		x, w, b := Parameter(Randn(g, n, in)), Parameter(Randn(g, out, in)), Parameter(Randn(g, out))
		Flush()
		ResetStats()
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
		steps = Stats().Steps
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
					t.Errorf("%d steps on capability %d, %d on the processor", steps, capability, plain)
				}
				for i, g := range got {
					// A sum that is rounded to the other of two neighbours may make a gradient another 8-bit number.
					if w := want[i]; !(math.Abs(g-w) <= 1./64*math.Max(1, math.Abs(w))) {
						t.Fatalf("capability %d: number %d is %v, on the processor %v", capability, i, g, w)
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
		if !errors.As(err, &state) || !strings.Contains(err.Error(), "cuda:0 is of compute capability 8.0, and 8-bit floats need 8.9 or more; Autocast(BFloat16, …) does without") {
			t.Errorf("got %v", err)
		}
	})
}
