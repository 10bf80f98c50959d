package accel_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prune"
	"github.com/quernlab/quern/accel/quantize"
	"github.com/quernlab/quern/accel/tensor"
)

// flowers returns a table whose classes follow from its columns.
func flowers(t *testing.T, header string, rows ...string) *data.Dataset {
	t.Helper()
	set, err := data.ReadCSV(strings.NewReader(header+"\n"+strings.Repeat(strings.Join(rows, "\n")+"\n", 20)), "kind")
	if err != nil {
		t.Fatal(err)
	}
	return set.Named(header)
}

// TestMismatchedDatasets requires an error if a model is evaluated on classes or columns
// in another order.
func TestMismatchedDatasets(t *testing.T) {
	train := flowers(t, "long,wide,kind", "1,0,lily", "0,1,rose")
	classify := func() nn.Module { return nn.Sequential(nn.Dense(8), nn.Tanh(), nn.Dense(3)) }
	regression, err := data.ReadCSVTargets(strings.NewReader("a,b,c\n1,2,3\n4,5,6\n"), "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	swapped, err := data.ReadCSVTargets(strings.NewReader("a,b,c\n1,2,3\n4,5,6\n"), "c", "b")
	if err != nil {
		t.Fatal(err)
	}
	numbers := func(labels ...int) *data.Dataset {
		set, err := data.FromSlices(slices.Repeat([][]float32{{1, 0}}, len(labels)), labels)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	for _, row := range []struct {
		name        string
		train, test *data.Dataset
		want        string // in the error; "" for none
	}{
		{"the same", train, flowers(t, "long,wide,kind", "1,0,lily", "0,1,rose"), ""},
		{"the label in another column", train, flowers(t, "kind,long,wide", "lily,1,0", "rose,0,1"), ""},
		{"columns", train, flowers(t, "wide,long,kind", "0,1,lily", "1,0,rose"), `column 0 is "wide" in wide,long,kind, but "long" in long,wide,kind`},
		{"other columns", train, flowers(t, "long,high,kind", "0,1,lily", "1,0,rose"), `column 1 is "high"`},
		{"classes", train, flowers(t, "long,wide,kind", "1,0,rose", "0,1,tulip"), `class 0 is "rose"`},
		{"a class that training does not have", train, flowers(t, "long,wide,kind", "1,0,lily", "0,1,rose", "0,1,tulip"), `class 2 is "tulip" in long,wide,kind, but none`},
		{"without the last class", train, flowers(t, "long,wide,kind", "1,0,lily"), ""},
		{"without the first class", train, flowers(t, "long,wide,kind", "1,0,rose"), `class 0 is "rose"`},
		{"numbers for names", train, flowers(t, "long,wide,kind", "1,0,0", "1,0,1"), `class 0 is "0"`},
		{"fewer numbers", numbers(0, 1, 2), numbers(0, 1), ""},
		{"more numbers", numbers(0, 1), numbers(0, 1, 2), ""},
		{"targets", regression, swapped, `target 0 is "c" in`},
		{"classes for targets", regression, numbers(0), "has one class per example"},
	} {
		t.Run(row.name, func(t *testing.T) {
			model := classify()
			if row.train.Targets() > 0 {
				model = nn.Dense(2)
			}
			check := func(what string, err error) {
				t.Helper()
				var mismatch *data.MismatchError
				if row.want == "" && err != nil || row.want != "" && (!errors.As(err, &mismatch) || !strings.Contains(err.Error(), row.want)) {
					t.Errorf("%s: want %q, got %v", what, row.want, err)
				}
			}
			run, err := accel.Fit(t.Context(), model, row.train, accel.Epochs(1), accel.Quiet(), accel.Validate(row.test))
			check("Validate", err)
			if row.want != "" && len(run.Steps) > 0 {
				t.Errorf("%d steps were made", len(run.Steps))
			}
			if row.name == "classes for targets" {
				return // the model has the shape for targets
			}
			if _, err := accel.Evaluate(t.Context(), model, row.test); row.want != "" && err != nil {
				t.Errorf("a model that was not trained: %v", err)
			}
			if _, err = accel.Fit(t.Context(), model, row.train, accel.Epochs(1), accel.Quiet()); err != nil {
				t.Fatal(err)
			}
			_, err = accel.Evaluate(t.Context(), model, row.test)
			check("Evaluate", err)
			if _, err = accel.PredictDataset(t.Context(), model, row.test); strings.Contains(row.want, "column") {
				check("PredictDataset", err)
			} else if err != nil {
				t.Errorf("PredictDataset: %v", err)
			}
			if alike, err := row.test.Like(row.train); err == nil {
				if _, err := accel.Evaluate(t.Context(), model, alike); err != nil {
					t.Errorf("after Like: %v", err)
				}
			} else if slices.Contains([]string{"columns", "targets", "without the first class"}, row.name) {
				t.Errorf("Like: %v", err)
			}
		})
	}
}

// TestDerivedFrom requires the accuracy on the data set in the order of the training set.
func TestDerivedFrom(t *testing.T) {
	train := flowers(t, "long,wide,kind", "1,0,lily", "0,1,rose")
	test := flowers(t, "wide,kind,long", "1,rose,0") // its columns have another order, and class rose is 0
	accel.Seed(1)
	model := nn.Sequential(nn.Dense(8), nn.Tanh(), nn.Dense(2))
	if _, err := accel.Fit(t.Context(), model, train, accel.Epochs(20), accel.AdamW(0.02), accel.Quiet()); err != nil {
		t.Fatal(err)
	}
	alike, err := test.Like(train)
	if err != nil {
		t.Fatal(err)
	}
	result, err := accel.Evaluate(t.Context(), model, alike)
	if err != nil || result.Accuracy() != 1 || alike.Label(0) != 1 || !slices.Equal(alike.Example(0), []float32{0, 1}) {
		t.Errorf("%v, %v; label %d, example %v", result, err, alike.Label(0), alike.Example(0))
	}
}

// TestEvaluateByTheTrainingsLoss requires Evaluate to use the loss of the training.
func TestEvaluateByTheTrainingsLoss(t *testing.T) {
	train, test := digits(t)
	halved := func(p, y *tensor.Tensor) *tensor.Tensor { return nn.CrossEntropy(p, y).MulScalar(0.5).AddScalar(7) }
	accel.Seed(1)
	model := mlp(8)
	before, err := accel.Evaluate(t.Context(), model, test)
	if err != nil || before.Loss() > 5 {
		t.Fatalf("before any training: %v, %v", before, err)
	}
	run, err := accel.Fit(t.Context(), model, train, accel.Epochs(1), accel.Minimize(halved), accel.Validate(test), accel.Quiet())
	must(t, run, err)
	want := run.Validations[0].Loss
	loss := func(m nn.Module, options ...accel.Option) float64 {
		t.Helper()
		result, err := accel.Evaluate(t.Context(), m, test, options...)
		if err != nil {
			t.Fatal(err)
		}
		return result.Loss()
	}
	if got := loss(model); got != want {
		t.Errorf("Evaluate gives %v, validation gave %v", got, want)
	}
	if got := loss(model, accel.Minimize(nn.CrossEntropy)); math.Abs(got-2*(want-7)) > 1e-6 {
		t.Errorf("Minimize(nn.CrossEntropy): %v", got)
	}
	if _, err := accel.FindLR(t.Context(), model, train); err != nil { // trains with another loss, and restores everything
		t.Fatal(err)
	}
	if got := loss(model); got != want {
		t.Errorf("after FindLR: %v, want %v", got, want)
	}
	small, err := quantize.Static(t.Context(), model, train)
	if err != nil {
		t.Fatal(err)
	}
	report, err := small.Report(t.Context(), test)
	if err != nil || report.Loss[0] < 7 || math.Abs(report.Loss[1]-report.Loss[0]) > 0.1 {
		t.Errorf("quantized: %v, %v", report, err)
	}
	other, err := prune.Copy(model, func() nn.Module { return mlp(8) })
	if err != nil {
		t.Fatal(err)
	}
	if got := loss(other); got != want {
		t.Errorf("a copy: %v, want %v", got, want)
	}
	other = mlp(8)
	if err := nn.SetState(other, prune.CloneState(model)); err != nil {
		t.Fatal(err)
	}
	if got := loss(other); got > 5 {
		t.Errorf("of a model with these weights nothing is known, but the loss is %v", got)
	}
	if got := loss(other, accel.DerivedFrom(model)); got != want {
		t.Errorf("DerivedFrom(model): %v, want %v", got, want)
	}
	path := t.TempDir() + "/model"
	if err := nn.Save(path, model); err != nil {
		t.Fatal(err)
	}
	if err := nn.Load(path, model); err != nil {
		t.Fatal(err)
	}
	if got := loss(model); got > 5 {
		t.Errorf("of loaded weights nothing is known, but the loss is %v", got)
	}
	for _, wrong := range []accel.Option{accel.Epochs(2), accel.Quiet(), accel.Minimize(nil), accel.DerivedFrom(nil)} {
		if _, err := accel.Evaluate(t.Context(), model, test, wrong); err == nil {
			t.Errorf("Evaluate takes %v", wrong)
		}
	}
	if _, err := accel.Fit(t.Context(), model, train, accel.DerivedFrom(model)); err == nil {
		t.Error("Fit takes Like")
	}
}

// TestNotFiniteExamples requires the error to name the example, wherever in the step it is.
func TestNotFiniteExamples(t *testing.T) {
	nan := float32(math.NaN())
	x := slices.Repeat([][]float32{{1, 2, 3}}, 40)
	y := slices.Repeat([][]float32{{1}}, 40)
	broken := slices.Clone(x)
	broken[17], broken[23] = []float32{1, nan, 3}, []float32{float32(math.Inf(1)), 2, 3}
	wanted := slices.Clone(y)
	wanted[5] = []float32{nan}
	set := func(x, y [][]float32) *data.Dataset {
		s, err := data.FromTargets(x, y)
		if err != nil {
			t.Fatal(err)
		}
		return s.Named("table")
	}
	for _, row := range []struct {
		name     string
		set      *data.Dataset
		options  []accel.Option
		examples []int
		want     string
	}{
		{"input", set(broken, y), []accel.Option{accel.BatchSize(40)}, []int{17, 23}, "of table"},
		{"alone", set(broken[17:18], y[17:18]), nil, []int{0}, "example 0 of table: number 1 is NaN"},
		{"target", set(x, wanted), []accel.Option{accel.BatchSize(40)}, []int{5}, "example 5 of table: target 0 is NaN"},
		{"accumulated", set(x, wanted), []accel.Option{accel.BatchSize(10), accel.Accumulate(4)}, []int{5}, "example 5 of table: target 0 is NaN"},
		{"float16", set(x, wanted), []accel.Option{accel.BatchSize(40), accel.AMP(accel.FP16), accel.Epochs(100)}, []int{5}, "example 5 of table: target 0 is NaN"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := accel.Fit(t.Context(), nn.Dense(1), row.set, append(row.options, accel.Quiet())...)
			var diverged *accel.DivergedError
			if !errors.As(err, &diverged) {
				t.Fatalf("want a DivergedError, got %v", err)
			}
			slices.Sort(diverged.Examples)
			if !slices.Equal(diverged.Examples, row.examples) || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "learning rate") {
				t.Errorf("examples %v, want %v: %v", diverged.Examples, row.examples, err)
			}
		})
	}
	result, err := accel.Evaluate(t.Context(), nn.Dense(1), set(broken, y))
	if err != nil || !strings.Contains(result.String(), "(example 17 of table: number 1 is NaN; one more example is not finite)") {
		t.Errorf("Evaluate: %v, %v", result, err)
	}
}

// hidden is a model with layers that the optimizer cannot find.
type hidden struct {
	Head nn.Module
	Body func(*tensor.Tensor) *tensor.Tensor
}

func (h *hidden) Forward(x *tensor.Tensor) *tensor.Tensor { return h.Head.Forward(h.Body(x)) }

// TestMissingParameters requires an error for models of which a part would silently not be
// trained.
func TestMissingParameters(t *testing.T) {
	train, test := digits(t)
	capture := func(uses bool) nn.Module {
		layer := nn.Dense(16)
		if uses {
			return nn.Lambda(layer.Forward, layer)
		}
		return nn.Lambda(layer.Forward)
	}
	scale := tensor.Parameter(tensor.Ones(1))
	recomputed := nn.Sequential(nn.Flatten(), nn.Dense(16), capture(false), nn.Dense(10))
	frozen := nn.Dense(16)
	nn.Freeze(frozen)
	teacher := mlp(8)
	distil := accel.Minimize(func(p, y *tensor.Tensor) *tensor.Tensor { // the teacher needs no gradient, but is not frozen
		return nn.CrossEntropy(p, y).Add(teacher.Forward(tensor.Zeros(1, 64)).Sum().MulScalar(0))
	})
	for _, row := range []struct {
		name    string
		model   nn.Module
		options []accel.Option
		want    string
	}{
		{"Lambda", nn.Sequential(nn.Flatten(), capture(false), nn.Dense(10)), nil, "nn.Parameters finds 2 parameters in the model, but the model also computes with 2 parameters that it does not find, of shape [16 64] [16]:"},
		{"Lambda that names it", nn.Sequential(nn.Flatten(), capture(true), nn.Dense(10)), nil, ""},
		{"all of it", nn.Sequential(nn.Flatten(), capture(false)), nil, "finds 0 parameters"},
		{"a tensor", nn.Sequential(nn.Flatten(), nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.Mul(scale) }), nn.Dense(10)), nil, "1 parameter that"},
		{"a struct", &hidden{nn.Dense(10), nn.Sequential(nn.Flatten(), nn.Dense(16)).Forward}, nil, "2 parameters"},
		{"Recompute", nn.Recompute(nn.Flatten(), capture(false), nn.Dense(10)), nil, "2 parameters"},
		{"within Recompute", nn.Sequential(nn.Flatten(), nn.Recompute(nn.Dense(8), nn.Recompute(capture(false))), nn.Dense(10)), nil, "2 parameters"},
		{"accel.Recompute", recomputed, []accel.Option{accel.Recompute()}, "2 parameters"},
		{"bfloat16", nn.Sequential(nn.Flatten(), capture(false), nn.Dense(10)), []accel.Option{accel.AMP(accel.BF16)}, "2 parameters"},
		{"frozen", nn.Sequential(nn.Flatten(), nn.Lambda(frozen.Forward), nn.Dense(10)), nil, ""},
		{"a loss's", mlp(8), []accel.Option{distil}, ""},
		{"Recompute, all seen", nn.Sequential(nn.Flatten(), nn.Recompute(nn.Dense(16), nn.ReLU()), capture(true), nn.Dense(10)), []accel.Option{accel.Recompute()}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := accel.Evaluate(t.Context(), row.model, test.First(1)); err != nil { // so that Recompute recomputes
				t.Fatal(err)
			}
			run, err := accel.Fit(t.Context(), row.model, train.First(100), append(row.options, accel.Steps(2), accel.Quiet())...)
			var unseen *accel.MissingParametersError
			if row.want == "" && err != nil || row.want != "" && (!errors.As(err, &unseen) || !strings.Contains(err.Error(), row.want) || len(run.Steps) > 0) {
				t.Errorf("want %q, got %v", row.want, err)
			}
		})
	}
}

// TestOptionsGivenTwice requires an error if an option that can be set once is given twice.
func TestOptionsGivenTwice(t *testing.T) {
	train, test := digits(t)
	for want, options := range map[string][]accel.Option{
		"accel: AdamW(0.001) and SGD(0.1, 0.9) exclude each other: a training has one optimizer":         {accel.AdamW(1e-3), accel.SGD(0.1, 0.9)},
		"accel: AdamW(0.001) and AdamW(0.01) exclude each other: a training has one optimizer":           {accel.AdamW(1e-3), accel.AdamW(1e-2)},
		"accel: Nesterov(0.1, 0.9) and LAMB(0.1) exclude each other: a training has one optimizer":       {accel.Nesterov(0.1, 0.9), accel.LAMB(0.1)},
		"accel: OneCycleLR() and WarmupCosine(3) exclude each other: a training has one schedule":        {accel.OneCycleLR(), accel.WarmupCosine(3)},
		"accel: StepLR(5, 0.1) and ReduceLROnPlateau(3, 0.5) exclude each other: a training has one sch": {accel.StepLR(5, 0.1), accel.ReduceLROnPlateau(3, 0.5), accel.Validate(test)},
		"accel: Minimize is given twice":                            {accel.Minimize(nn.CrossEntropy), accel.Minimize(nn.MSE)},
		"accel: Validate(digits, test) and Validate(digits, train)": {accel.Validate(test), accel.Validate(train)},
	} {
		run, err := accel.Fit(t.Context(), mlp(4), train, append(options, accel.Quiet(), accel.Steps(1))...)
		if err == nil || !strings.HasPrefix(err.Error(), want) || len(run.Steps) > 0 {
			t.Errorf("want %s\ngot  %v", want, err)
		}
	}
}

// TestDropoutProbability requires a probability in [0, 1].
func TestDropoutProbability(t *testing.T) {
	train, _ := digits(t)
	for _, share := range []float64{1.5, -0.1, math.NaN(), math.Inf(1)} {
		model := nn.Sequential(nn.Flatten(), nn.Dropout(share), nn.Dense(10))
		run, err := accel.Fit(t.Context(), model, train, accel.Steps(1), accel.Quiet())
		if err == nil || !strings.Contains(err.Error(), "layer 1, Dropout") || len(run.Steps) > 0 {
			t.Errorf("Dropout(%v): %v", share, err)
		}
		if _, err := accel.Evaluate(t.Context(), model, train); err == nil {
			t.Errorf("Dropout(%v) is evaluated", share)
		}
	}
	for _, share := range []float64{0, 0.5, 1} {
		if _, err := accel.Fit(t.Context(), nn.Sequential(nn.Flatten(), nn.Dropout(share), nn.Dense(10)), train, accel.Steps(1), accel.Quiet()); err != nil {
			t.Errorf("Dropout(%v): %v", share, err)
		}
	}
}
