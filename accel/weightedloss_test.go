package accel_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// rareClasses returns examples of three classes, of which the last two are rare and unevenly distributed.
func rareClasses(t testing.TB, n int) *data.Dataset {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	x, y := make([][]float32, n), make([]int, n)
	for i := range x {
		x[i] = []float32{float32(r.NormFloat64()), float32(r.NormFloat64())}
		switch {
		case i < n/20:
			y[i] = 1
		case i%31 == 0:
			y[i] = 2
		}
	}
	set, err := data.FromSlices(x, y)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// masked is a loss of one's own with a mask: it leaves out examples whose first logit is below the second.
func masked(logits, classes *tensor.Tensor) *tensor.Tensor {
	each := logits.LogSoftmax(1).Mul(classes.OneHot(3)).Sum(1).Neg()
	return nn.WeightedMean(each, classes.Greater(tensor.FromInts([]int{0})).AddScalar(0.1))
}

// weightedLosses divide by something else than the number of examples.
var weightedLosses = map[string]nn.Loss{
	"class weights":     nn.CrossEntropyLoss(nn.ClassWeights(0.01, 19, 3)),
	"smoothed":          nn.CrossEntropyLoss(nn.ClassWeights(1, 19, 3), nn.LabelSmoothing(0.1)),
	"an ignored class":  nn.CrossEntropyLoss(nn.IgnoreIndex(0)),
	"weights and index": nn.CrossEntropyLoss(nn.ClassWeights(1, 19, 3), nn.IgnoreIndex(2)),
	"NLL": func(x, y *tensor.Tensor) *tensor.Tensor {
		return nn.NLLLoss(nn.ClassWeights(1, 19, 3))(x.LogSoftmax(1), y)
	},
	"in a function": func(x, y *tensor.Tensor) *tensor.Tensor {
		return nn.CrossEntropyLoss(nn.ClassWeights(1, 19, 3))(x, y).MulScalar(2)
	},
	"a mask":              masked,
	"no class has weight": nn.CrossEntropyLoss(nn.ClassWeights(0, 0, 1)),
}

// TestWeightedLossesDoNotDependOnBatches compares what is measured in batches with the loss of all examples
// at once.
func TestWeightedLossesDoNotDependOnBatches(t *testing.T) {
	set := rareClasses(t, 1300) // Evaluate has batches of 512, the last one is smaller
	all, err := set.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	for name, loss := range weightedLosses {
		accel.Seed(3)
		model := nn.Sequential(nn.Dense(3))
		result, err := accel.Evaluate(t.Context(), model, set, accel.Minimize(loss), accel.Metrics(metrics.Mean("loss", metrics.LowerIsBetter, loss)))
		if err != nil {
			t.Fatal(err)
		}
		want := loss(model.Forward(all.X), all.Y).Item()
		if got := result.Loss(); math.Abs(got-want) > 1e-5*want {
			t.Errorf("%s: Evaluate has a loss of %v, but all examples have %v", name, got, want)
		}
		if got := result.Metrics()[0].Value; math.Abs(got-want) > 1e-5*want {
			t.Errorf("%s: metrics.Mean is %v, but all examples have %v", name, got, want)
		}
		// One update with the examples in one batch, and in several, the last of which is smaller.
		train := func(options ...accel.Option) (*accel.Run, []float64) {
			accel.Seed(3)
			model := nn.Sequential(nn.Dense(3))
			options = append(options, accel.Minimize(loss), accel.SGD(0.5, 0), accel.Steps(2), accel.Validate(set), accel.Quiet())
			run, err := accel.Fit(t.Context(), model, set, options...)
			must(t, run, err)
			return run, nn.Parameters(model)[0].Float64s()
		}
		one, whole := train(accel.BatchSize(1300))
		many, parts := train(accel.BatchSize(90), accel.Accumulate(15))
		if e := distance(whole, parts); !(e < 1e-5) {
			t.Errorf("%s: weights of accumulated batches differ by %v", name, e)
		}
		for i := range one.Steps {
			if a, b := one.Steps[i].Loss, many.Steps[i].Loss; math.Abs(a-b) > 1e-5*math.Abs(a) {
				t.Errorf("%s: step %d has a loss of %v in one batch and of %v in many", name, i, a, b)
			}
		}
		if a, b := one.Validations[len(one.Validations)-1].Loss, many.Validations[len(many.Validations)-1].Loss; math.Abs(a-b) > 1e-5*math.Abs(a) {
			t.Errorf("%s: validation has a loss of %v and %v", name, a, b)
		}
	}
	// The mean loss of an epoch, with a learning rate that changes nothing.
	loss := weightedLosses["class weights"]
	accel.Seed(3)
	model := nn.Sequential(nn.Dense(3))
	run, err := accel.Fit(t.Context(), model, set, accel.Minimize(loss), accel.SGD(1e-30, 0), accel.Epochs(1), accel.BatchSize(64), accel.Quiet())
	must(t, run, err)
	if got, want := run.Epochs[0].Loss, loss(model.Forward(all.X), all.Y).Item(); math.Abs(got-want) > 1e-5*want {
		t.Errorf("the mean loss of an epoch is %v, that of its examples %v", got, want)
	}
}

// distance is the largest difference, relative to the largest value.
func distance(a, b []float64) float64 {
	largest, difference := 0.0, 0.0
	for i := range a {
		largest, difference = max(largest, math.Abs(a[i])), max(difference, math.Abs(a[i]-b[i]))
	}
	return difference / largest
}

// TestSoftTargets trains with probabilities, and evaluates on classes.
func TestSoftTargets(t *testing.T) {
	set := rareClasses(t, 300)
	all, err := set.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	soft, err := data.FromTensors(all.X, all.Y.OneHot(3).MulScalar(0.94).AddScalar(0.02))
	if err != nil {
		t.Fatal(err)
	}
	accel.Seed(1)
	model := nn.Sequential(nn.Dense(3))
	run, err := accel.Fit(t.Context(), model, soft, accel.Minimize(nn.CrossEntropy), accel.Epochs(3), accel.SGD(0.1, 0), accel.Validate(set), accel.Quiet())
	must(t, run, err)
	result, err := accel.Evaluate(t.Context(), model, set, accel.Minimize(nn.CrossEntropy), accel.Metrics(metrics.F1()))
	if err != nil {
		t.Fatal(err)
	}
	if want := nn.CrossEntropy(model.Forward(all.X), all.Y).Item(); math.Abs(result.Loss()-want) > 1e-5 || math.Abs(run.Loss()-want) > 1e-5 {
		t.Errorf("the loss is %v, the validation loss %v, want %v", result.Loss(), run.Loss(), want)
	}
	if right := model.Forward(all.X).ArgMax(1).Eq(all.Y).Mean().Item(); math.Abs(result.Accuracy()-right) > 1e-6 {
		t.Errorf("the accuracy is %v, want %v", result.Accuracy(), right)
	}
	var mismatch *data.MismatchError
	if _, err := accel.Evaluate(t.Context(), model, set); !errors.As(err, &mismatch) || !strings.Contains(err.Error(), "Minimize(nn.CrossEntropy)") {
		t.Errorf("without a loss: %v", err)
	}
	// Classes that have other names are still an error.
	named, err := set.WithClasses("a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	classes := nn.Sequential(nn.Dense(3))
	run, err = accel.Fit(t.Context(), classes, named, accel.Steps(1), accel.Quiet())
	must(t, run, err)
	other, err := set.WithClasses("b", "a", "c")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := accel.Evaluate(t.Context(), classes, other, accel.Minimize(nn.CrossEntropy)); !errors.As(err, &mismatch) {
		t.Errorf("classes in another order: %v", err)
	}
}

// TestLossWithoutWeight requires Evaluate, Fit and a validation to have a loss of 0, as the loss has, where no example has a weight.
func TestLossWithoutWeight(t *testing.T) {
	set, err := data.FromSlices([][]float32{{1, 2}, {3, 4}, {5, 6}}, []int{0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	model, weightless := nn.Sequential(nn.Dense(2)), set.First(2)
	for name, loss := range map[string]nn.Loss{
		"weights":  nn.CrossEntropyLoss(nn.ClassWeights(0, 1)),
		"smoothed": nn.CrossEntropyLoss(nn.ClassWeights(0, 1), nn.LabelSmoothing(0.2)),
		"index":    nn.CrossEntropyLoss(nn.IgnoreIndex(0)),
	} {
		result, err := accel.Evaluate(t.Context(), model, weightless, accel.Minimize(loss))
		if err != nil || result.Loss() != 0 {
			t.Errorf("%s: Evaluate returns %v, %v", name, result, err)
		}
		run, err := accel.Fit(t.Context(), model, weightless, accel.Minimize(loss), accel.Validate(weightless), accel.Epochs(1), accel.Quiet())
		if err != nil || run.Steps[0].Loss != 0 || run.Validations[0].Loss != 0 {
			t.Errorf("%s: Fit returns %v, %v", name, run, err)
		}
	}
}
