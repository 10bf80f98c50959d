package accel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

func digits(t testing.TB) (train, test *data.Dataset) {
	t.Helper()
	train, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	return train, test
}

func mlp(hidden int) *nn.SequentialLayer {
	return nn.Sequential(nn.Flatten(), nn.Dense(hidden), nn.ReLU(), nn.Dense(10))
}

// weights returns the bits of all parameters of a model.
func weights(model any) []uint32 {
	var bits []uint32
	for _, p := range nn.Parameters(model) {
		for _, v := range p.Data() {
			bits = append(bits, math.Float32bits(v))
		}
	}
	return bits
}

// must fails the test if Fit failed.
func must(t *testing.T, run *accel.Run, err error) *accel.Run {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestDigits(t *testing.T) {
	train, test := digits(t)
	epochs := 20
	if testing.Short() {
		epochs = 10
	}
	accel.Seed(1)
	model := mlp(128)
	run, err := accel.Fit(t.Context(), model, train, accel.Epochs(epochs), accel.AdamW(3e-3), accel.Validate(test), accel.Quiet())
	must(t, run, err)
	t.Log(run.Summary())
	if !(run.Accuracy() >= 0.95) {
		t.Errorf("accuracy %v, want at least 0.95", run.Accuracy())
	}
	result, err := accel.Evaluate(t.Context(), model, test)
	if err != nil {
		t.Fatal(err)
	}
	if result.Loss() != run.Loss() || result.Accuracy() != run.Accuracy() || result.Len() != 360 {
		t.Errorf("Evaluate gives %v, the run %v and %v", result, run.Loss(), run.Accuracy())
	}
	if n := len(run.Steps); n != epochs*23 || len(run.Epochs) != epochs || len(run.Validations) != epochs || run.Examples != epochs*1437 {
		t.Errorf("%d steps, %d epochs, %d checks, %d examples", n, len(run.Epochs), len(run.Validations), run.Examples)
	}
	if first, last := run.Epochs[0], run.Epochs[epochs-1]; !(last.Loss < first.Loss/4) || !(last.Accuracy > first.Accuracy) {
		t.Errorf("from %+v to %+v", first, last)
	}
}

// TestSeed requires identical bits from equal seeds for any number of workers, with every
// source of randomness in use.
func TestSeed(t *testing.T) {
	train, _ := digits(t)
	train = train.First(200)
	fit := func(seed uint64, workers int) []uint32 {
		accel.Seed(seed)
		model := nn.Sequential(nn.Flatten(), nn.Dense(16), nn.ReLU(), nn.Dropout(0.3), nn.Dense(10))
		run, err := accel.Fit(t.Context(), model, train, accel.Epochs(2), accel.BatchSize(32), accel.Workers(workers), accel.Quiet())
		must(t, run, err)
		return weights(model)
	}
	want := fit(7, 1)
	for _, workers := range []int{0, 1, 4} {
		if !slices.Equal(fit(7, workers), want) {
			t.Errorf("another result with %d workers", workers)
		}
	}
	if slices.Equal(fit(8, 1), want) {
		t.Error("two seeds give one result")
	}
}

// TestAccumulate compares accumulated small batches with large ones. 70 examples in batches of
// 24 leave a last batch of 22; in batches of 8 they leave a group of 8, 8 and 6.
func TestAccumulate(t *testing.T) {
	train, _ := digits(t)
	train = train.First(70)
	fit := func(options ...accel.Option) (*accel.Run, []float32) {
		accel.Seed(1)
		model := mlp(12)
		run, err := accel.Fit(t.Context(), model, train, append(options, accel.Epochs(2), accel.SGD(0.1, 0.9), accel.Quiet())...)
		must(t, run, err)
		var all []float32
		for _, p := range nn.Parameters(model) {
			all = append(all, p.Data()...)
		}
		return run, all
	}
	large, want := fit(accel.BatchSize(24))
	small, got := fit(accel.BatchSize(8), accel.Accumulate(3))
	if len(large.Steps) != 6 || len(small.Steps) != 6 {
		t.Fatalf("%d and %d steps", len(large.Steps), len(small.Steps))
	}
	for i := range want {
		if !(math.Abs(float64(got[i]-want[i])) <= 1e-6) {
			t.Fatalf("weight %d\n want %v\n got  %v", i, want[i], got[i])
		}
	}
	for i := range large.Steps {
		if l, s := large.Steps[i], small.Steps[i]; !(math.Abs(l.Loss-s.Loss) <= 1e-6) || l.Accuracy != s.Accuracy {
			t.Errorf("step %d: %+v and %+v", i+1, l, s)
		}
	}
}

// TestCancel cancels the context in the middle of the seventh step.
func TestCancel(t *testing.T) {
	train, test := digits(t)
	before := goroutines()
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	model := nn.Sequential(nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
		if calls++; calls == 7 {
			cancel()
		}
		return x
	}), mlp(8))
	shown := capture(t)
	run, err := accel.Fit(ctx, model, train, accel.Epochs(1000), accel.Validate(test), accel.Live(accel.Loss, accel.GPUUtil))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("want context.Canceled, got %v", err)
	}
	if n := len(run.Steps); n != 7 || len(run.Epochs) != 1 || run.Examples != 7*64 {
		t.Errorf("%d steps, %d epochs and %d examples in the partial run", n, len(run.Epochs), run.Examples)
	}
	if !strings.Contains(run.Summary(), "interrupted in step") {
		t.Errorf("summary %q", run.Summary())
	}
	if last := (*shown)[len(*shown)-1]; last.Data["image/png"] == nil {
		t.Errorf("the last figure is not whole: %v", last.Data["text/plain"])
	}
	waitForGoroutines(t, before)
	if _, err := accel.Evaluate(ctx, model, test); !errors.Is(err, context.Canceled) {
		t.Errorf("Evaluate: %v", err)
	}
	if _, err := accel.Predict(ctx, model, tensor.Zeros(1, 1, 8, 8)); !errors.Is(err, context.Canceled) {
		t.Errorf("Predict: %v", err)
	}
	// The same model can be trained again.
	if _, err := accel.Fit(t.Context(), model, train, accel.Steps(1), accel.Quiet()); err != nil {
		t.Error(err)
	}
}

// goroutines returns the number of goroutines after the runtime has started its own, which
// stay.
func goroutines() int {
	tensor.Zeros(1).AddScalar(1).Item()
	return runtime.NumGoroutine()
}

// waitForGoroutines waits until the goroutines of the test have ended.
func waitForGoroutines(t *testing.T, before int) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

// TestEarlyStop overfits ten examples, so that the validation loss rises soon.
func TestEarlyStop(t *testing.T) {
	train, test := digits(t)
	accel.Seed(3)
	model := mlp(32)
	run, err := accel.Fit(t.Context(), model, train.First(10), accel.Epochs(500), accel.AdamW(0.01),
		accel.Validate(test), accel.EarlyStopping(3), accel.Quiet())
	must(t, run, err)
	best, last := run.Validations[run.Best], run.Validations[len(run.Validations)-1]
	if len(run.Validations) != run.Best+1+3 || len(run.Epochs) == 500 {
		t.Errorf("%d checks, the best is %d", len(run.Validations), run.Best)
	}
	if run.Loss() != best.Loss || !(best.Loss < last.Loss) {
		t.Errorf("loss %v, best %v, last %v", run.Loss(), best.Loss, last.Loss)
	}
	result, err := accel.Evaluate(t.Context(), model, test)
	if err != nil {
		t.Fatal(err)
	}
	if result.Loss() != best.Loss || result.Accuracy() != best.Accuracy {
		t.Errorf("the model has loss %v, the best weights %v", result.Loss(), best.Loss)
	}
	for _, want := range []string{"stopped early", "weights of epoch"} {
		if !strings.Contains(run.Summary(), want) {
			t.Errorf("the summary does not say %q:\n%s", want, run.Summary())
		}
	}
}

func TestStepsAndSchedule(t *testing.T) {
	train, test := digits(t)
	run, err := accel.Fit(t.Context(), mlp(8), train, accel.Steps(30), accel.SGD(0.1, 0), accel.WarmupCosine(10),
		accel.Validate(test), accel.ValidateEvery(20), accel.Quiet())
	must(t, run, err)
	if len(run.Steps) != 30 || len(run.Epochs) != 2 {
		t.Errorf("%d steps in %d epochs", len(run.Steps), len(run.Epochs))
	}
	var at []int
	for _, c := range run.Validations {
		at = append(at, c.Step)
	}
	if !slices.Equal(at, []int{20, 30}) {
		t.Errorf("checks after steps %v", at)
	}
	for step, want := range map[int]float64{0: 0.01, 9: 0.1, 10: 0.1, 20: 0.05} {
		if got := run.Steps[step].LearningRate; !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("rate of step %d: want %v, got %v", step, want, got)
		}
	}
	both, err := accel.Fit(t.Context(), mlp(8), train, accel.Steps(1000), accel.Epochs(1), accel.Quiet())
	if must(t, both, err); len(both.Steps) != 23 {
		t.Errorf("%d steps in one epoch", len(both.Steps))
	}
}

// line returns 200 points of the plane y = 2a - b + 0.5.
func line(t *testing.T) *data.Dataset {
	t.Helper()
	var x, y [][]float32
	for i := range 200 {
		a, b := float32(i%20)/10-1, float32(i/20)/5-1
		x, y = append(x, []float32{a, b}), append(y, []float32{2*a - b + 0.5})
	}
	set, err := data.FromTargets(x, y)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestRegression(t *testing.T) {
	set := line(t)
	accel.Seed(1)
	model := nn.Dense(1)
	run, err := accel.Fit(t.Context(), model, set, accel.Epochs(40), accel.SGD(0.1, 0.9), accel.Quiet())
	must(t, run, err)
	if !(run.Loss() < 1e-6) || !math.IsNaN(run.Accuracy()) {
		t.Errorf("loss %v, accuracy %v", run.Loss(), run.Accuracy())
	}
	for i, want := range []float64{2, -1, 0.5} {
		got := append(model.Weight.Float64s(), model.Bias.Float64s()...)[i]
		if !(math.Abs(got-want) <= 1e-2) {
			t.Errorf("parameter %d: want %v, got %v", i, want, got)
		}
	}
	result, err := accel.Evaluate(t.Context(), model, set)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(result.Accuracy()) || result.ConfusionMatrix() != nil || len(result.Report().MIMEBundle()) != 1 {
		t.Errorf("result %v", result)
	}
	if text := run.String() + result.String(); strings.Contains(text, "accuracy") || strings.Contains(text, "NaN") {
		t.Errorf("the run says %q", text)
	}
}

func TestResult(t *testing.T) {
	// The model returns its input, so each example contains its own prediction.
	set, err := data.FromSlices([][]float32{{9, 0, 0}, {0, 9, 0}, {0, 9, 0}, {0, 0, 9}}, []int{0, 1, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	result, err := accel.Evaluate(t.Context(), nn.Sequential(), set.Named("four"))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(result.ConfusionMatrix()); got != "[[1 0 0] [0 1 0] [0 1 1]]" || result.Accuracy() != 0.75 {
		t.Errorf("counts %v, accuracy %v", got, result.Accuracy())
	}
	// -ln softmax: three are correct by a margin of 9, one is wrong by 9.
	if right := math.Log(1 + 2*math.Exp(-9)); !(math.Abs(result.Loss()-(right+9.0/4)) <= 1e-5) {
		t.Errorf("loss %v", result.Loss())
	}
	shown, metadata := display.Render(result)
	if text := shown["text/plain"].(string); !strings.HasPrefix(text, "four: loss 2.250, accuracy 75.0 %, 4 examples, ") {
		t.Errorf("text %q", text)
	}
	if svg, _ := shown["image/svg+xml"].(string); !strings.Contains(svg, "accuracy 75.0 %") || metadata["image/png"] == nil {
		t.Errorf("no confusion matrix in %d formats", len(shown))
	}
}

func TestMinimize(t *testing.T) {
	train, _ := digits(t)
	smooth := func(logits, y *tensor.Tensor) *tensor.Tensor { return nn.CrossEntropy(logits, y).MulScalar(2) }
	accel.Seed(1)
	twice, err := accel.Fit(t.Context(), mlp(8), train, accel.Steps(1), accel.Minimize(smooth), accel.Quiet())
	must(t, twice, err)
	accel.Seed(1)
	once, err := accel.Fit(t.Context(), mlp(8), train, accel.Steps(1), accel.Quiet())
	must(t, once, err)
	if a, b := twice.Steps[0].Loss, once.Steps[0].Loss; !(math.Abs(a-2*b) <= 1e-5) {
		t.Errorf("losses %v and %v", a, b)
	}
}

// close32 reports whether values differ by no more than the rounding of additions.
func close32(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) <= 1e-5 })
}

func TestAfterStep(t *testing.T) {
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	layer := nn.Dense(10)
	var counts []int
	wrong := errors.New("wrong")
	run, err := accel.Fit(t.Context(), nn.Sequential(nn.Flatten(), layer), train, accel.Steps(9), accel.Quiet(), accel.AfterStep(func(updates int) error {
		counts = append(counts, updates)
		tensor.NoGrad(func() { layer.Bias.Assign(layer.Bias.MulScalar(0)) })
		if updates == 5 {
			return wrong
		}
		return nil
	}))
	if !errors.Is(err, wrong) || !slices.Equal(counts, []int{1, 2, 3, 4, 5}) || len(run.Steps) != 5 { // the update has been made
		t.Errorf("%v after %v and %d steps", err, counts, len(run.Steps))
	}
	for _, v := range layer.Bias.Data() {
		if v != 0 {
			t.Errorf("the bias is %v", layer.Bias)
			break
		}
	}
	if _, err := accel.Fit(t.Context(), nn.Sequential(nn.Flatten(), layer), train, accel.AfterStep(nil)); err == nil {
		t.Error("no function is taken")
	}
}
