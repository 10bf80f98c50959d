//go:build !race

// The race detector makes the simulation ten times slower, and looks at the same
// code in the tests of the packages below.

package tensor

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/ir"
)

var seed = flag.Uint64("seed", 1, "of the order in which the fake GPU runs what is not ordered; 0 for that of the calls")

// simulated keeps parsed kernels for all tests.
var simulated fake.Modules

// onCUDA runs f on a GPU that is simulated: every kernel, graph and copy.
func onCUDA(t testing.TB, f func()) {
	t.Helper()
	d, err := fake.Open(fake.Options{Seed: *seed, Modules: &simulated})
	if err != nil {
		t.Fatal(err)
	}
	device, err := cuda.Open(d, 0)
	if err != nil {
		t.Fatal(err)
	}
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
				loss := w.Gather(late).Sum()
				w.ZeroGrad()
				loss.Backward()
				NoGrad(func() { w.Assign(w.Sub(w.Grad())) })
				loss.Item()
			})
			if !errors.As(err, &index) || index.Op != "Gather" || index.Index != -7 || index.Size != 3 {
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
		if err := catch(func() { New([]float32{1}, 1).Cast(Float64).Exp().Data() }); err == nil || !strings.Contains(err.Error(), "there is no Exp of float64") {
			t.Errorf("got %v", err)
		}
	})
}

// TestOnCUDA has the simulated GPU pass the tests of the processor. Errors of data
// come late there, and most functions of float64 do not come at all; what tests
// those is left out.
func TestOnCUDA(t *testing.T) {
	defer func(all [][3]int) { trialSizes = all }(trialSizes)
	trialSizes = [][3]int{{1, 1, 1}, {2, 3, 4}, {5, 1, 7}, {9, 13, 5}, {0, 3, 2}, {3, 0, 2}, {2, 3, 0}}
	for name, test := range map[string]func(*testing.T){
		"Cast":                   TestCast,
		"NaNAndInf":              TestNaNAndInf,
		"OpsAgainstFloat64":      TestOpsAgainstFloat64,
		"Gradients":              TestGradients,
		"AgainstTorch":           func(t *testing.T) { againstTorch(t, Float32) },
		"HalfOps":                TestHalfOps,
		"HalfGradients":          TestHalfGradients,
		"IndicesOfAnyType":       TestIndicesOfAnyType,
		"Dropout":                TestDropout,
		"SpecialReductions":      TestSpecialReductions,
		"ConcatOfMany":           TestConcatOfMany,
		"Checkpoint":             TestCheckpoint,
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
		"Training":               TestTraining,
	} {
		t.Run(name, func(t *testing.T) { onCUDA(t, func() { test(t) }) })
	}
}
