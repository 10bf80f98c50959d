//go:build !race

// The race detector makes the simulation ten times slower; the packages below test the same code
// with it.

package tensor

import (
	"errors"
	"flag"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

var seed = flag.Uint64("seed", 1, "seed of the order in which the fake GPU runs independent operations; 0 for the order of the calls")

// simulated caches parsed kernels for all tests.
var simulated fake.Modules

// libraries are the libraries that simulated GPUs use besides our own kernels.
var libraries cuda.Libraries

// withLibraries runs f on simulated GPUs that use fake libraries wherever they can.
func withLibraries(f func()) {
	libraries = cuda.Libraries{CuBLASLt: fakelib.OpenCuBLASLt, CuDNN: fakelib.OpenCuDNN}
	defer func() { libraries = cuda.Libraries{} }()
	f()
}

// simulate opens a simulated GPU.
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

// onCUDA runs f on a simulated GPU, which executes every kernel, graph and copy.
func onCUDA(t testing.TB, f func()) {
	t.Helper()
	device := simulate(t, fake.Options{Seed: *seed})
	withRecorder(ir.NewRecorder(device), f)
	if err := device.Close(); err != nil {
		t.Error(err)
	}
}

func TestIntegerArithmeticOnCUDA(t *testing.T) { onCUDA(t, func() { compareIntegers(t) }) }

// TestErrorsOnCUDA uses invalid data that only the GPU sees: reading the result fails, and nothing
// that depends on it is overwritten.
func TestErrorsOnCUDA(t *testing.T) {
	onCUDA(t, func() {
		w := Parameter(Ones(3, 2))
		for range 3 { // launched first, then replayed as a graph
			var index *IndexError
			late := FromInts([]int{1, -7, 5}, 3).Cast(Float32).MulScalar(1).Cast(Int32)
			err := catch(func() {
				loss := w.IndexSelect(late).Sum()
				w.ZeroGrad()
				loss.Backward()
				NoGrad(func() { w.Assign(w.Sub(w.Grad())) })
				loss.Item()
			})
			if !errors.As(err, &index) || index.Op != "IndexSelect" || index.Index != -7 || index.Element != 1 || index.Size != 3 {
				t.Fatalf("got %v", err)
			}
			if got := w.Data(); !slices.Equal(got, []float32{1, 1, 1, 1, 1, 1}) {
				t.Fatalf("a failed step has changed the weights to %v", got)
			}
		}
		var number *NonFiniteError
		x := New([]float32{1, 0, 3}, 3).Log().RequireFinite("the logarithm")
		if err := catch(func() { x.Data() }); !errors.As(err, &number) || number.Element != 1 || number.What != "the logarithm" {
			t.Errorf("got %v", err)
		}
	})
}

// TestOnCUDA runs the CPU's tests on the simulated GPU. Tests of errors in data are left out
// because a GPU reports these later.
func TestOnCUDA(t *testing.T) {
	// Fewer sizes, since a kernel takes about a thousand times longer than on a GPU; the tests of
	// package kernels have sizes beside those of tiles.
	trials, gradients, others, compositions, masks, programs := trialSizes, gradientSizes, broadcastSizes, compositionSizes, maskSizes, randomPrograms
	defer func() {
		trialSizes, gradientSizes, broadcastSizes, compositionSizes, maskSizes, randomPrograms = trials, gradients, others, compositions, masks, programs
	}()
	trialSizes = [][3]int{{1, 1, 1}, {5, 1, 7}, {9, 13, 5}, {0, 3, 2}, {3, 0, 2}, {2, 3, 0}}
	gradientSizes = [][3]int{{2, 3, 4}, {3, 1, 6}, {0, 3, 2}, {2, 3, 0}}
	broadcastSizes = [][3]int{{2, 3, 4}}
	compositionSizes = [][3]int{{5, 1, 3}, {3, 0, 2}}
	maskSizes = [2]int{9, 35}
	randomPrograms = 50
	for name, test := range map[string]func(*testing.T){
		"Cast":                   TestCast,
		"NaNAndInf":              TestNaNAndInf,
		"OpsAgainstFloat64":      TestOpsAgainstFloat64,
		"Gradients":              TestGradients,
		"AgainstTorch":           TestAgainstTorch,
		"Float64":                TestFloat64,
		"Compositions":           TestCompositions,
		"OpWithoutKernels":       TestOpWithoutKernels,
		"Float16Ops":             TestFloat16Ops,
		"Float16Gradients":       TestFloat16Gradients,
		"IndicesOfAnyType":       TestIndicesOfAnyType,
		"Dropout":                TestDropout,
		"SpecialReductions":      TestSpecialReductions,
		"Sort":                   TestSort,
		"SmallArguments":         TestSmallArguments,
		"ClassesOfAnyType":       TestClassesOfAnyType,
		"EmptyAndSingle":         TestEmptyAndSingle,
		"LateIndices":            TestLateIndices,
		"ConcatOfMany":           TestConcatOfMany,
		"Exchange":               TestExchange,
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

// TestLibrariesOnCUDA runs tests with libraries wherever they can be used.
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

// TestSwitchOnCUDA trains on the CPU, continues on a GPU, and returns to the CPU.
func TestSwitchOnCUDA(t *testing.T) {
	device := simulate(t, fake.Options{Seed: *seed})
	train := func(devices ...string) []float32 {
		n := newMLP(NewGenerator(4), 20, 7, 12, 5)
		pending := n.params[0].MulScalar(2) // recorded here, computed on another device
		for _, name := range devices {
			if err := tensors.SetDevice(name); err != nil {
				t.Fatal(err)
			}
			if got := tensors.Device(); got != name {
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
		if err := tensors.SetDevice("cpu"); err != nil {
			t.Error(err)
		}
		e.enter()
		delete(e.devices, "cuda:0")
		e.leave()
	}()
	want, got := train("cpu", "cpu", "cpu"), train("cpu", "cuda:0", "cpu")
	for i, w := range want {
		if g := got[i]; !(math.Abs(float64(g-w)) < 1e-4*(1+math.Abs(float64(w)))) {
			t.Fatalf("parameter %d is %v, on the CPU alone %v", i, g, w)
		}
	}
	if got := train("cuda:0"); len(got) != len(want) {
		t.Errorf("%d numbers", len(got))
	}
}

func TestSetDeviceUnavailable(t *testing.T) {
	for _, name := range []string{"", "gpu", "cuda:x", "cuda:-1", "cuda:99", "CUDA"} {
		if err := tensors.SetDevice(name); err == nil {
			t.Errorf("SetDevice(%q) succeeded", name)
		}
	}
	if got := tensors.Device(); got != "cpu" {
		t.Errorf("the device is %s now", got)
	}
}

// TestSteadyStepOnCUDA counts the driver calls of a training step that has run a few times: one
// graph launch, no allocation and no synchronization.
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

// TestRecurrenceOnCUDA compares the kernels with steps of other ops, in each type.
func TestRecurrenceOnCUDA(t *testing.T) {
	for d, tolerance := range map[DType]float64{Float32: 1e-5, BFloat16: .04, Float16: .005} {
		t.Run(d.String(), func(t *testing.T) {
			onCUDA(t, func() {
				eachRecurrence(t, func(t *testing.T, cell ir.Cell, variant string) {
					compareWithSteps(t, cell, [3]int{3, 5, 9}, variant, d, tolerance)
				})
			})
		})
	}
}
