package accel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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

// weights are all parameters of a model, bit by bit.
func weights(model any) []uint32 {
	var bits []uint32
	for _, p := range nn.Parameters(model) {
		for _, v := range p.Data() {
			bits = append(bits, math.Float32bits(v))
		}
	}
	return bits
}

// must fails the test if Fit does.
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
	if n := len(run.Steps); n != epochs*23 || len(run.Epochs) != epochs || len(run.Checks) != epochs || run.Examples != epochs*1437 {
		t.Errorf("%d steps, %d epochs, %d checks, %d examples", n, len(run.Epochs), len(run.Checks), run.Examples)
	}
	if first, last := run.Epochs[0], run.Epochs[epochs-1]; !(last.Loss < first.Loss/4) || !(last.Accuracy > first.Accuracy) {
		t.Errorf("from %+v to %+v", first, last)
	}
}

// TestSeed demands equal bits from equal seeds, for any number of workers, with
// everything random in use.
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

// TestAccumulate compares groups of small batches with large ones. 70 examples
// in batches of 24 leave a last one of 22, and of 8 a group of 8, 8 and 6.
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

// TestCancel ends the context in the midst of the seventh step.
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
		t.Errorf("the last picture is not whole: %v", last.Data["text/plain"])
	}
	waitForGoroutines(t, before)
	if _, err := accel.Evaluate(ctx, model, test); !errors.Is(err, context.Canceled) {
		t.Errorf("Evaluate: %v", err)
	}
	if _, err := accel.Predict(ctx, model, tensor.Zeros(1, 1, 8, 8)); !errors.Is(err, context.Canceled) {
		t.Errorf("Predict: %v", err)
	}
	// The same model can be trained on.
	if _, err := accel.Fit(t.Context(), model, train, accel.Steps(1), accel.Quiet()); err != nil {
		t.Error(err)
	}
}

// goroutines is how many there are once the engine has started its own, which
// stay.
func goroutines() int {
	tensor.Zeros(1).AddScalar(1).Item()
	return runtime.NumGoroutine()
}

// waitForGoroutines waits until those that the test started have ended.
func waitForGoroutines(t *testing.T, before int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

// TestDiverged wants the step, what was the first to be no number, and the weights
// of before the step.
func TestDiverged(t *testing.T) {
	train, test := digits(t)
	poisoned := func() *data.Dataset {
		function := data.Lambda("poison", func(x []float32, _ []int, _ *rand.Rand) { x[0] = float32(math.Inf(1)) })
		set, err := train.First(64).Map(function)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	broken := mlp(8)
	first, err := train.First(1).Tensors()
	if err != nil {
		t.Fatal(err)
	}
	broken.Forward(first.X)
	tensor.NoGrad(func() { bias := nn.Parameters(broken)[3]; bias.Assign(bias.MulScalar(math.NaN())) })
	result, err := accel.Evaluate(t.Context(), broken, test)
	if err != nil || !strings.Contains(result.String(), "loss NaN, accuracy") || !strings.Contains(result.String(), "(3.bias is not finite)") {
		t.Errorf("evaluated: %v, %v", result, err)
	}
	cnn := nn.Sequential(nn.Conv2D(4, 3), nn.BatchNorm(), nn.ReLU(), nn.Flatten(), nn.Sequential(nn.Dense(10)))
	overflow := nn.Lambda(func(x *accel.Tensor) *accel.Tensor { return x.MulScalar(1e30).Square() })
	for _, row := range []struct {
		name    string
		model   nn.Module
		set     *data.Dataset
		options []accel.Option
		want    string
	}{
		{"rate", mlp(8), train, []accel.Option{accel.SGD(1e30, 0)}, "the output of Linear in layer 3, Dense(10)"},
		{"images", cnn, train, []accel.Option{accel.SGD(1e36, 0)}, ""},
		{"accumulated", mlp(8), train, []accel.Option{accel.SGD(1e30, 0), accel.Accumulate(3)}, "the output of Linear in layer 3, Dense(10)"},
		{"input", mlp(8), poisoned(), nil, "example 35 of digits, train: number 0 is +Inf after its transforms; 63 more examples are not finite"},
		{"parameter", broken, train, nil, "3.bias"},
		{"function", nn.Sequential(mlp(8), overflow), train, nil, "the output of Square in layer 1, Lambda()"},
		{"recompute", nn.Recompute(nn.Sequential(mlp(8), overflow)), train, nil, "the output of Square in layer 0.1, Lambda()"},
	} {
		t.Run(row.name, func(t *testing.T) {
			accel.Seed(1)
			run, err := accel.Fit(t.Context(), row.model, row.set, append(row.options, accel.Validate(test), accel.Quiet())...)
			var diverged *accel.DivergedError
			if !errors.As(err, &diverged) {
				t.Fatalf("want a DivergedError, got %v", err)
			}
			if n := len(run.Steps); n != diverged.Step || n > 5 || !(math.IsNaN(diverged.Loss) || math.IsInf(diverged.Loss, 0)) {
				t.Errorf("%d steps, %+v", n, diverged)
			}
			if row.want != "" && diverged.Tensor != row.want || diverged.Tensor == "" || !strings.Contains(err.Error(), diverged.Tensor) {
				t.Errorf("got  %v\nwant %s", err, row.want)
			}
			if !strings.Contains(run.Summary(), "stopped: the loss of step") {
				t.Errorf("summary %q", run.Summary())
			}
			for _, p := range nn.State(row.model) {
				for _, v := range p.Float64s() {
					if v-v != 0 && row.name != "parameter" {
						t.Fatalf("%s has %v after it", p.Name, v)
					}
				}
			}
		})
	}
}

// TestEarlyStop trains ten examples by heart, so that the validation loss
// rises soon.
func TestEarlyStop(t *testing.T) {
	train, test := digits(t)
	accel.Seed(3)
	model := mlp(32)
	run, err := accel.Fit(t.Context(), model, train.First(10), accel.Epochs(500), accel.AdamW(0.01),
		accel.Validate(test), accel.EarlyStopping(3), accel.Quiet())
	must(t, run, err)
	best, last := run.Checks[run.Best], run.Checks[len(run.Checks)-1]
	if len(run.Checks) != run.Best+1+3 || len(run.Epochs) == 500 {
		t.Errorf("%d checks, the best is %d", len(run.Checks), run.Best)
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
		accel.Validate(test), accel.EvalEvery(20), accel.Quiet())
	must(t, run, err)
	if len(run.Steps) != 30 || len(run.Epochs) != 2 {
		t.Errorf("%d steps in %d epochs", len(run.Steps), len(run.Epochs))
	}
	var at []int
	for _, c := range run.Checks {
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

// line is 200 points of the plane y = 2a - b + 0.5.
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
	if !math.IsNaN(result.Accuracy()) || result.Counts() != nil || len(result.MIMEBundle()) != 1 {
		t.Errorf("result %v", result)
	}
	if text := run.String() + result.String(); strings.Contains(text, "accuracy") || strings.Contains(text, "NaN") {
		t.Errorf("the run says %q", text)
	}
}

func TestResult(t *testing.T) {
	// The model repeats its input, so each example says its own answer.
	set, err := data.FromSlices([][]float32{{9, 0, 0}, {0, 9, 0}, {0, 9, 0}, {0, 0, 9}}, []int{0, 1, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	result, err := accel.Evaluate(t.Context(), nn.Sequential(), set.Named("four"))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(result.Counts()); got != "[[1 0 0] [0 1 0] [0 1 1]]" || result.Accuracy() != 0.75 {
		t.Errorf("counts %v, accuracy %v", got, result.Accuracy())
	}
	// -ln softmax: three are right by a margin of 9, one is wrong by 9.
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
	smooth := func(logits, y *accel.Tensor) *accel.Tensor { return nn.CrossEntropy(logits, y).MulScalar(2) }
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

func TestPredict(t *testing.T) {
	train, _ := digits(t)
	model := nn.Sequential(mlp(16), nn.Dropout(0.5)) // drops nothing here
	b, err := train.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	y, err := accel.Predict(t.Context(), model, b.X) // in three parts
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(y.Shape(), []int{1437, 10}) || y.RequiresGrad() {
		t.Errorf("shape %v, gradient %v", y.Shape(), y.RequiresGrad())
	}
	result, err := accel.Evaluate(t.Context(), model, train)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, c := range y.ArgMax(1).Ints() {
		if c == train.Label(i) {
			right++
		}
	}
	if got := float64(right) / 1437; got != result.Accuracy() {
		t.Errorf("Predict is right in %v, Evaluate says %v", got, result.Accuracy())
	}
	ofSet, err := accel.PredictSet(t.Context(), model, train)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ofSet.Data(), y.Data()) {
		t.Error("PredictSet differs from Predict")
	}
	for _, n := range []int{1, 512, 513} {
		some, err := accel.Predict(t.Context(), model, b.X.Slice(0, 0, n))
		if err != nil {
			t.Fatal(err)
		}
		if some.Size(0) != n || !close32(some.Data(), y.Data()[:10*n]) {
			t.Errorf("%d examples give another output, of shape %v", n, some.Shape())
		}
	}
	if none, err := accel.Predict(t.Context(), model, tensor.Zeros(0, 1, 8, 8)); err == nil && none.Size(0) != 0 {
		t.Errorf("no examples gave %v", none.Shape())
	}
}

// close32 tells whether numbers differ by no more than the order of additions.
func close32(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) <= 1e-5 })
}

// capture collects what is shown until the test ends.
func capture(t *testing.T) *[]display.Message {
	t.Helper()
	var got []display.Message
	previous := display.SetSink(display.SinkFunc(func(m display.Message) { got = append(got, m) }))
	t.Cleanup(func() { display.SetSink(previous) })
	return &got
}

func TestWhatIsShown(t *testing.T) {
	train, test := digits(t)
	train = train.First(100)
	fit := func(options ...accel.Option) []display.Message {
		shown := capture(t)
		before := goroutines()
		run, err := accel.Fit(t.Context(), mlp(4), train, append(options, accel.Epochs(2), accel.Validate(test))...)
		must(t, run, err)
		waitForGoroutines(t, before)
		return *shown
	}
	if shown := fit(accel.Quiet()); len(shown) != 0 {
		t.Errorf("Quiet shows %v", shown)
	}
	line := fit()
	if n := len(line); n < 2 || line[0].Kind != display.KindDisplay {
		t.Fatalf("progress: %v", line)
	}
	if text := line[len(line)-1].Data["text/plain"].(string); !strings.HasPrefix(text, "2 epochs, 4 steps, validation loss") {
		t.Errorf("the last line is %q", text)
	}
	for name, live := range map[string]accel.Option{
		"default": accel.Live(),
		"all":     accel.Live(accel.Loss, accel.Accuracy, accel.LearningRate, accel.GPUUtil, accel.GPUMem, accel.Power),
		"rate":    accel.Live(accel.LearningRate),
	} {
		t.Run(name, func(t *testing.T) {
			shown := fit(live)
			for i, m := range shown {
				kind := display.KindUpdate
				if i == 0 {
					kind = display.KindDisplay
				}
				if m.Kind != kind || m.ID != shown[0].ID {
					t.Errorf("message %d is %s of %s", i, m.Kind, m.ID)
				}
			}
			last := shown[len(shown)-1].Data
			if last["image/svg+xml"] == nil || last["image/png"] == nil {
				t.Errorf("the last picture has %d formats", len(last))
			}
		})
	}
}

func TestRunShowsItself(t *testing.T) {
	var none *accel.Run
	for _, r := range []*accel.Run{none, {}} {
		if data, _ := display.Render(r); len(data) != 1 || data["text/plain"] != "no steps" {
			t.Errorf("a run without steps: %v", data)
		}
	}
	train, test := digits(t)
	run, err := accel.Fit(t.Context(), mlp(4), train, accel.Epochs(1), accel.Validate(test), accel.AMP(), accel.Quiet())
	must(t, run, err)
	data, metadata := display.Render(run)
	for _, format := range []string{"image/svg+xml", "image/png"} {
		if data[format] == nil {
			t.Errorf("no %s", format)
		}
	}
	if metadata["image/png"] == nil {
		t.Error("no size of the PNG")
	}
	text := data["text/plain"].(string)
	for _, want := range []string{"1 epoch, 23 steps, validation loss", "accuracy", "examples/s", "waiting for data", "AMP: computed in float32"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	if want := []string{"Epochs(1)", "Validate(digits, test)", "AMP()", "Quiet()"}; !slices.Equal(run.Options, want) {
		t.Errorf("options %q", run.Options)
	}
}

// TestRunAfterLive wants a table where the figure is on the page already.
func TestRunAfterLive(t *testing.T) {
	train, test := digits(t)
	capture(t)
	run, err := accel.Fit(t.Context(), mlp(4), train.First(100), accel.Epochs(25), accel.Validate(test), accel.Live())
	must(t, run, err)
	data, metadata := display.Render(run)
	if len(data) != 2 || len(metadata) > 0 {
		t.Errorf("formats %v, metadata %v", data, metadata)
	}
	page := data["text/html"].(string)
	for _, want := range []string{"<th", "validation accuracy", "waiting for data", "25 epochs, 50 steps", "best"} {
		if !strings.Contains(page, want) {
			t.Errorf("the table has no %q:\n%s", want, page)
		}
	}
	if rows := strings.Count(page, "<tr>"); rows < 9 || rows > 12 {
		t.Errorf("%d rows for 25 epochs", rows)
	}
	if text := data["text/plain"].(string); !strings.Contains(text, "seconds") || !strings.HasSuffix(text, run.Summary()) {
		t.Errorf("text\n%s", text)
	}
	if figure := run.Figure().MIMEBundle(); figure["image/png"] == nil {
		t.Error("Figure draws nothing")
	}
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
	if !errors.Is(err, wrong) || !slices.Equal(counts, []int{1, 2, 3, 4, 5}) || len(run.Steps) != 4 {
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
