package cells

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/interp"
)

// watched is an output that reports when a text has been written.
type watched struct {
	mu    sync.Mutex
	text  strings.Builder
	want  string
	found chan struct{} // closed when the text contains want
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if w.found != nil && strings.Contains(w.text.String(), w.want) {
		close(w.found)
		w.found = nil
	}
	return len(p), nil
}

// watch forgets what was written and returns a channel that is closed when text is written.
func (w *watched) watch(text string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := make(chan struct{})
	w.text.Reset()
	w.want, w.found = text, found
	return found
}

func (w *watched) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.text.String()
	w.text.Reset()
	return text
}

// interrupted is a session whose cells are interrupted in functions that compiled code calls.
type interrupted struct {
	*notebook
	out *watched
}

func newInterrupted(t *testing.T) *interrupted {
	out := &watched{}
	return &interrupted{&notebook{t: t, session: newSession(t, out)}, out}
}

type interruptedCell struct{ name, src string }

// assigned interrupts each cell in code of the cell that returns and in code that does not, and then checks what is assigned.
func (n *interrupted) assigned(t *testing.T, cells []interruptedCell, check func()) {
	for _, c := range cells {
		t.Run(c.name, func(t *testing.T) {
			for _, h := range holds[:2] {
				t.Run(h.name, func(t *testing.T) {
					n.t = t
					n.hold(h.body)
					n.interruptAt(c.src)
					check()
				})
			}
		})
	}
}

// must executes a cell, which has to succeed, and returns its output.
func (n *interrupted) must(src string) string {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), limit)
	defer cancel()
	n.cell++
	n.out.take()
	if _, err := n.session.Execute(ctx, n.cell, src); err != nil {
		var e *interp.Error
		errors.As(err, &e)
		n.t.Fatalf("%s\n%v\n%s\n%s", src, err, strings.Join(e.Traceback, "\n"), n.out.take())
	}
	return n.out.take()
}

// interruptAt executes a cell and interrupts it when it has printed "begun".
func (n *interrupted) interruptAt(src string) {
	n.t.Helper()
	n.cell++
	begun, ended := n.out.watch("begun"), make(chan error, 1)
	go func() {
		_, err := n.session.Execute(context.Background(), n.cell, src)
		ended <- err
	}()
	var err error
	select {
	case <-begun:
		n.session.Interrupt()
		select {
		case err = <-ended:
		case <-time.After(limit):
			n.t.Fatalf("%s\nwas not interrupted", src)
		}
	case err = <-ended:
		n.t.Fatalf("%s\nended before the interrupt: %v\n%s", src, err, n.out.take())
	}
	var e *interp.Error
	if !errors.As(err, &e) || e.Name != "interrupted" || e.Stuck {
		n.t.Fatalf("%s\nended with %v\n%s", src, err, n.out.take())
	}
}

// holds are bodies of functions that end only after an interrupt, on their own or not.
var holds = []struct{ name, body string }{
	{"returns", "<-done"},
	{"loops", "for { held++ }"},
	{"waits", "<-make(chan int)"},
	{"sleeps", "time.Sleep(time.Hour)"},
	{"recovers", "defer func() { recover() }(); for { held++ }"},
	{"goroutine", "var wg sync.WaitGroup; wg.Go(func() { for { held++ } }); wg.Wait()"},
}

const declarations = `
train, test, err := data.Digits()
train, test = train.First(256), test.First(64)
mlp := func() nn.Module { return nn.Sequential(nn.Flatten(), nn.Dense(8), nn.ReLU(), nn.Dense(10)) }
var held int
var hold func(done <-chan struct{})
var calls atomic.Int64

// at holds in its nth call. It reads ctx before the interrupt, after which the next cell sets it.
func at(n int64) {
	if calls.Add(1) == n {
		done := ctx.Done()
		fmt.Println("begun")
		hold(done)
	}
}

type net struct{ inner nn.Module; n int64 }
func (m *net) Forward(x *nn.Tensor) *nn.Tensor { at(m.n); return m.inner.Forward(x) }

type watcher struct{ accel.NopObserver; begin, step, validation, epoch, end int64 }
func (w *watcher) Begin(*accel.Training) error { if w.begin > 0 { at(w.begin) }; return nil }
func (w *watcher) Step(*accel.Training, accel.Step) error { if w.step > 0 { at(w.step) }; return nil }
func (w *watcher) Validation(*accel.Training, accel.Validation) error { if w.validation > 0 { at(w.validation) }; return nil }
func (w *watcher) Epoch(*accel.Training, accel.Epoch) error { if w.epoch > 0 { at(w.epoch) }; return nil }
func (w *watcher) End(*accel.Training, error) { if w.end > 0 { at(w.end) } }

var run *accel.Run
check := func() {
	_, e := accel.Fit(context.Background(), mlp(), train, accel.Epochs(1), accel.Quiet())
	fmt.Println(run != nil, err, err == context.Canceled, e)
	if run != nil { fmt.Println("steps", len(run.Steps)) }
}`

// An interrupt during a function of the cell that Fit calls ends Fit, which returns the run so far.
// The next Fit works at once.
func TestInterruptInFit(t *testing.T) {
	n := newInterrupted(t)
	n.must(declarations)
	rows := []struct{ name, model, options, steps string }{
		{"Forward", "&net{mlp(), 3}", "", "2 or 3"},
		{"AfterStep", "mlp()", "accel.AfterStep(func(int) error { at(3); return nil })", "3"},
		{"Minimize", "mlp()", "accel.Minimize(func(p, y *nn.Tensor) *nn.Tensor { at(3); return nn.CrossEntropy(p, y) })", "2 or 3"},
		{"StopWhen", "mlp()", "accel.StopWhen(func(*accel.Run) bool { at(3); return false })", "3"},
		{"Step", "mlp()", "accel.Observe(&watcher{step: 3})", "4"},
		{"Begin", "mlp()", "accel.Observe(&watcher{begin: 1})", "0"},
		{"Epoch", "mlp()", "accel.Observe(&watcher{epoch: 1})", "16"},
		{"Validation", "mlp()", "accel.Validate(test), accel.Observe(&watcher{validation: 1})", "16"},
		{"End", "mlp()", "accel.Steps(3), accel.Observe(&watcher{end: 1})", "3"},
		{"Validate", "&net{mlp(), 17}", "accel.Validate(test)", "16"},
		{"metric", "mlp()", "accel.Validate(test), accel.Metrics(metrics.Mean(\"m\", metrics.HigherIsBetter, func(p, y *nn.Tensor) *nn.Tensor { at(1); return p.Sum() }))", "16"},
		{"Optimizer", "mlp()", "accel.Optimizer(\"o\", func(m any, options ...optim.Option) *optim.Optimizer { at(1); return optim.SGD(m, 0.1) })", "0"},
		{"optim.Custom", "mlp()", "accel.Optimizer(\"o\", func(m any, options ...optim.Option) *optim.Optimizer { return optim.Custom(\"c\", m, 0.1, func(u *optim.Update) *nn.Tensor { at(11); return u.Parameter.Sub(u.Gradient.MulScalar(0.1)) }) })", "2 or 3"},
		{"Schedule", "mlp()", "accel.Schedule(\"s\", func(int) optim.Schedule { return optim.ScheduleFunc(\"s\", func(step int) float64 { if step == 2 { at(1) }; return 1 }) })", "2 or 3"},
		{"nn.Lambda", "nn.Sequential(mlp(), nn.Lambda(func(x *nn.Tensor) *nn.Tensor { at(3); return x }))", "", "2 or 3"},
	}
	for k, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			for i, h := range holds {
				if k > 1 && i > 1 { // what the functions of the first rows do does not depend on who calls them
					continue
				}
				t.Run(h.name, func(t *testing.T) {
					n.t = t
					n.hold(h.body)
					n.interruptAt("run, err = accel.Fit(context.Background(), " + row.model + ", train, accel.BatchSize(16), accel.Epochs(1000), accel.Quiet(), " + row.options + ")")
					want := "true context canceled true <nil>"
					if row.name == "End" && h.name == "returns" {
						want = "true <nil> false <nil>"
					}
					found, steps, _ := strings.Cut(n.must("check()"), "\nsteps ")
					if steps = strings.TrimSpace(steps); found != want || !slices.Contains(strings.Split(row.steps, " or "), steps) {
						t.Errorf("got %s and %s steps, want %s and %s", found, steps, want, row.steps)
					}
				})
			}
		})
	}
}

// hold sets what functions of the cell do when they hold.
func (n *interrupted) hold(body string) {
	n.t.Helper()
	n.must("hold = func(done <-chan struct{}) { " + body + " }\ncalls.Store(0)\nrun, err = nil, nil")
}

// Other calls return what they have as well, and their error is the same as without functions of the
// cell.
func TestInterruptInCalls(t *testing.T) {
	interruptCalls(t, []interruptedCall{
		{"a transform, without a worker", "run, err = accel.Fit(ctx, mlp(), augmented(33), accel.BatchSize(16), accel.Workers(0), accel.Epochs(1000), accel.Quiet())", "len(run.Steps) == 2 || len(run.Steps) == 3", "true true", "true true"},
		{"Evaluate", "result, err = accel.Evaluate(ctx, &net{fitted, 1}, test)", "result == nil", "true true", "false false"},
		{"PredictDataset", "y, err = accel.PredictDataset(ctx, fitted, train, accel.BatchSize(16), accel.Progress(func(done, all int) { at(2) }))", "y == nil", "true true", "true true"},
		{"Predict", "y, err = accel.Predict(ctx, &net{fitted, 1}, tensor.Zeros(2, 8, 8))", "y == nil", "true true", "false false"},
		{"FindLR", "rates, err = accel.FindLR(ctx, &net{mlp(), 5}, train)", "len(rates.Losses) > 2", "true true", "true true"},
		{"FindBatchSize", "sizes, err = accel.FindBatchSize(ctx, &net{mlp(), 12}, train)", "len(sizes.Trials)", "true 1", "true 1"},
		{"Advise", "advice, err = accel.Advise(ctx, &net{mlp(), 5}, train)", "advice != nil", "true true", "true true"},
		{"Compare", "compared, err = accel.Compare(ctx, func() nn.Module { at(2); return mlp() }, train, accel.NewVariant(\"a\", accel.Epochs(1)), accel.NewVariant(\"b\", accel.Epochs(1)))", "len(compared.Variants[0].Runs)", "true 1", "true 1"},
		{"tune.Run", "search, err = tune.Run(ctx, func(t *tune.Trial) (float64, error) { at(3); return t.Float(\"x\", 0, 1), nil }, tune.Quiet())", "len(search.Trials)", "true 2", "true 2"},
		{"tune.Run with a training", "search, err = tune.Run(ctx, func(t *tune.Trial) (float64, error) { t.Float(\"x\", 0, 1); r, err := accel.Fit(ctx, &net{mlp(), 10}, train, accel.Epochs(2), accel.Quiet()); return float64(len(r.Steps)), err }, tune.Quiet())", "len(search.Trials)", "true 1", "true 1"},
		{"tune.Compare", "tuned, err = tune.Compare(ctx, func(t *tune.Trial) (float64, error) { at(6); return t.Float(\"x\", 0, 1), nil }, []tune.Variant{tune.NewVariant(\"a\"), tune.NewVariant(\"b\")}, tune.Trials(5))", "len(tuned.Variants[0].Searches)", "true 1", "true 1"},
		{"active.Query", "_, err = active.Query(ctx, fitted, pool, picks{}, 2)\n_, err = active.Query(ctx, fitted, pool, picks{}, 2)", "pool.Len()", "true 20", "false 20"},
		{"active.Ask", "err = active.Ask(ctx, active.NewPool(train, 20, 1), []int{0, 1, 2, 3, 4, 5, 6}, asker{})", "1", "true 1", "true 1"},
		{"active.Compare, a model", "curves, err = active.Compare(ctx, func() nn.Module { at(3); return mlp() }, train, test, []active.Strategy{active.Random()}, active.Initial(20), active.Batch(20), active.Budget(40))", "len(curves.Strategies[0].Curves)", "true 1", "true 1"},
		{"active.Compare, a strategy", "curves, err = active.Compare(ctx, mlp, train, test, []active.Strategy{picks{}}, active.Initial(20), active.Batch(20), active.Budget(40))", "len(curves.Strategies[0].Curves)", "true 1", "true 1"},
		{"baseline.Compare", "baselines, err = baseline.Compare(ctx, train, test, baseline.Majority(), method{})", "len(baselines.Rows)", "true 1", "true 1"},
		{"prof.Run", "report, err = prof.Run(ctx, func() error { at(5); return nil })", "len(report.Steps)", "true 1", "true 2"},
		{"quantize.Static", "quantized, err = quantize.Static(ctx, &net{fitted, 2}, train)", "quantized == nil", "true true", "true true"},
		{"prune.Compare", "pruned, err = prune.Compare(ctx, &net{fitted, 2}, fitted, test)", "pruned == nil", "true true", "true true"},
		{"explain.PermutationImportance", "importance, err = explain.PermutationImportance(ctx, &net{onTable, 4}, table, 2)", "importance == nil", "true true", "true true"},
		{"explain.Saliency", "maps, err = explain.Saliency(ctx, &net{fitted, 1}, test, 0, 1)", "maps == nil", "true true", "false false"},
		{"explain.GradientFlow", "flow, err = explain.GradientFlow(ctx, &net{fitted, 1}, test, nn.CrossEntropy)", "flow == nil", "true true", "false false"},
		{"explain.WorstMistakes", "mistakes, err = explain.WorstMistakes(ctx, &net{fitted, 1}, test, 3)", "mistakes == nil", "true true", "false false"},
		{"Fit of baseline.Method", "fit, err = baseline.Linear().Fit(ctx, augmented(3))", "fit == nil", "true true", "true true"},
		{"Generate", "tokens, err = accel.Generate(ctx, &net{nn.Sequential(nn.Embedding(5, 4), nn.Dense(5)), 4}, []int{1, 2}, 100)", "len(tokens)", "true 5", "true 6"},
	})
}

// A worker goes on beside the next cell.
func TestInterruptInWorker(t *testing.T) {
	interruptCalls(t, []interruptedCall{
		{"a transform, in a worker", "run, err = accel.Fit(ctx, mlp(), augmented(1000), accel.BatchSize(16), accel.Epochs(1000), accel.Quiet())", "len(run.Steps) > 50", "true true", "true true"},
		{"Evaluate with a transform", "result, err = accel.Evaluate(ctx, fitted, augmented(100))", "result == nil", "true true", "false false"},
	})
}

// Methods return what they have like functions, whoever calls them and in whatever way.
func TestInterruptInMethods(t *testing.T) {
	n := newInterrupted(t)
	n.must(declarations)
	n.must(`layer := &net{mlp(), -1}
_, err = accel.Fit(ctx, layer, train, accel.Epochs(1), accel.Quiet())
if err != nil { panic(err) }
m, err := quantize.Static(ctx, layer, train)
if err != nil { panic(err) }
layer.n = 1
value := *m
var report *quantize.Report

type reporter interface { Report(context.Context, *data.Dataset, ...accel.Option) (*quantize.Report, error) }
type named struct { *quantize.Model; name string }
type holder struct { reporter }
var r reporter = m
function := m.Report
func reported(r reporter) (*quantize.Report, error) { return r.Report(ctx, test) }
func generic[T reporter](r T) (*quantize.Report, error) { return r.Report(ctx, test) }
func busy() { for n := 0; ; n++ {} }
func sum() int { s := 0; for i := range 100 { s += i }; return s }
`)
	n.assigned(t, []interruptedCell{
		{"variable", "report, err = m.Report(ctx, test)"},
		{"another context", "report, err = m.Report(context.Background(), test, accel.Minimize(nn.CrossEntropy))"},
		{"value", "report, err = value.Report(ctx, test)"},
		{"result of a call", "report, err = func() *quantize.Model { return m }().Report(ctx, test)"},
		{"several arguments of a call", "arguments := func() (context.Context, *data.Dataset) { return ctx, test }\nreport, err = m.Report(arguments())"},
		{"method value", "f := m.Report\nreport, err = f(ctx, test)"},
		{"method value of an earlier cell", "report, err = function(ctx, test)"},
		{"method expression", "report, err = (*quantize.Model).Report(m, ctx, test)"},
		{"interface of the cell", "report, err = r.Report(ctx, test)"},
		{"method value of an interface", "f := r.Report\nreport, err = f(ctx, test)"},
		{"parameter of interface type", "report, err = reported(m)"},
		{"type parameter", "report, err = generic(m)"},
		{"any", "var x any = m\nreport, err = x.(reporter).Report(ctx, test)"},
		{"embedded pointer", "report, err = named{m, \"q\"}.Report(ctx, test)"},
		{"embedded pointer in an interface", "report, err = reported(named{m, \"q\"})"},
		{"embedded interface", "report, err = reported(holder{m})"},
		{"function of the VM", "report, err = func() (*quantize.Report, error) { sum(); return r.Report(ctx, test) }()"},
		{"loop", "for range 3 { report, err = m.Report(ctx, test) }"},
		{"goroutine", "done := make(chan bool)\ngo func() { defer close(done); report, err = m.Report(ctx, test) }()\n<-done"},
		{"goroutine beside others", "var wg sync.WaitGroup\nwg.Go(func() { report, err = m.Report(ctx, test) })\nwg.Go(busy)\nwg.Wait()"},
		{"deferred function", "func() { defer func() { report, err = m.Report(ctx, test) }() }()"},
		{"deferred call", "err = context.Canceled\nfunc() { defer m.Report(ctx, test) }()"},
		{"go statement", "go m.Report(ctx, test)\nerr = context.Canceled\n<-make(chan int)"},
		{"reflection", "out := reflect.ValueOf(m).MethodByName(\"Report\").Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(test)})\nerr, _ = out[1].Interface().(error)"},
	}, func() {
		out := n.must("fmt.Println(errors.Is(err, context.Canceled), report == nil)\ncalls.Store(1)\nreport, err = m.Report(ctx, test)\nfmt.Println(report != nil, err)\nreport = nil")
		if out != "true true\ntrue <nil>\n" {
			n.t.Errorf("got %s", out)
		}
	})
}

type interruptedCall struct{ name, call, show, unwound, returned string }

func interruptCalls(t *testing.T, rows []interruptedCall) {
	n := newInterrupted(t)
	n.must(declarations)
	n.must(`augmented := func(at int) *data.Dataset {
	s, err := train.Map(data.Lambda("mine", func(x []float32, shape []int, r *rand.Rand) { hit(at) }))
	if err != nil { panic(err) }
	return s
}
func hit(n int) { at(int64(n)) }
fitted := mlp()
_, err = accel.Fit(ctx, fitted, train, accel.Epochs(1), accel.Quiet())
if err != nil { panic(err) }

type picks struct{}
func (picks) Select(ctx context.Context, c *active.Candidates, n int) ([]int, error) { at(2); return active.Random().Select(ctx, c, n) }
func (picks) String() string { return "picks" }

type asker struct{}
func (asker) Ask(ctx context.Context, q *active.Question) (int, error) { at(3); return 1, nil }

type method struct{}
func (method) Fit(ctx context.Context, s *data.Dataset) (nn.Module, error) { at(1); return fitted, nil }
func (method) String() string { return "mine" }

pool := active.NewPool(train, 20, 1)
var search *tune.Search
var compared *accel.Comparison
var curves *active.Comparison
var baselines *baseline.Comparison
var tuned *tune.Comparison
var report *prof.Report
var tokens []int
var result *accel.Result
var y *nn.Tensor
var rates *accel.LRSearch
var sizes *accel.BatchSizeSearch
var advice *accel.Advice
var quantized *quantize.Model
var pruned *prune.Report
var importance *explain.Importance
var maps *explain.Heatmaps
var flow *explain.Gradients
var mistakes *explain.Mistakes
var precision *quantize.Report
var fit nn.Module
table, err := data.FromSlices([][]float32{{1, 2}, {2, 1}, {3, 4}, {4, 3}}, []int{0, 1, 0, 1})
if err != nil { panic(err) }
onTable := nn.Dense(2)
`)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			for i, want := range []string{row.returned, row.unwound} {
				t.Run(holds[i].name, func(t *testing.T) {
					n.t = t
					n.hold(holds[i].body)
					n.interruptAt(row.call)
					// Without an error it was the last function, and the call had nothing left to do.
					out := n.must("fmt.Println(errors.Is(err, context.Canceled), " + row.show + ")\ncheck()")
					if !strings.HasPrefix(out, want+"\n") || !strings.Contains(out, " <nil>\n") {
						t.Errorf("got %s, want %s", out, want)
					}
				})
			}
		})
	}
}

// The results are assigned wherever the call is, and code after it does not replace them.
func TestInterruptedCallIsAssigned(t *testing.T) {
	n := newInterrupted(t)
	n.must(declarations)
	n.must("fit := func() (*accel.Run, error) { return accel.Fit(context.Background(), &net{mlp(), 3}, train, accel.BatchSize(16), accel.Epochs(1000), accel.Quiet()) }\n" +
		"func trained() (r *accel.Run, err error) { r, err = fit(); return r, err }\n" +
		"func busy() { for n := 0; ; n++ {} }")
	n.assigned(t, []interruptedCell{
		{"statement", "run, err = fit()"},
		{"declaration", "run, err := fit()\n_ = run"},
		{"loop", "for range 3 { run, err = fit() }"},
		{"function", "run, err = trained()"},
		{"condition", "if run, err = fit(); err != nil { panic(err) }"},
		{"goroutine", "done := make(chan bool)\ngo func() { defer close(done); run, err = fit() }()\n<-done"},
		{"goroutine of a group", "var wg sync.WaitGroup\nwg.Go(func() { run, err = fit() })\nwg.Wait()"},
		{"goroutine beside others", "var wg sync.WaitGroup\nwg.Go(func() { run, err = fit() })\nwg.Go(busy)\nwg.Wait()"},
		{"function value", "call := accel.Fit\nrun, err = call(ctx, &net{mlp(), 3}, train, accel.BatchSize(16), accel.Epochs(1000), accel.Quiet())"},
	}, func() {
		if out := n.must("check()"); !strings.HasPrefix(out, "true context canceled true <nil>\nsteps ") || strings.Contains(out, "steps 0") {
			n.t.Errorf("got %s", out)
		}
	})
}

// Fields, elements and what pointers refer to are assigned like variables.
func TestInterruptAssignsTargets(t *testing.T) {
	n := newInterrupted(t)
	n.must(declarations)
	n.must(`type kept struct{ run *accel.Run; err error }
var k kept
at1 := &k
m := map[string]*accel.Run{}
values := map[any]any{}
runs := make([]*accel.Run, 2)
var array [2]*accel.Run
pointer := new(*accel.Run)
first := func() int { return 0 }
options := []accel.Option{accel.BatchSize(16), accel.Epochs(1000), accel.Quiet()}
watched := append([]accel.Option{accel.Observe(&watcher{step: 3})}, options...)
after := false
var ended chan bool`)
	const call = "accel.Fit(ctx, &net{mlp(), 3}, train, accel.BatchSize(16), accel.Epochs(1000), accel.Quiet())"
	for _, row := range []struct{ name, src, run, err string }{
		{"fields", "k.run, k.err = " + call, "k.run", "k.err"},
		{"a field of a pointer", "at1.run, err = " + call, "k.run", "err"},
		{"nothing for the error", "err = context.Canceled\nk.run, _ = " + call, "k.run", "err"},
		{"element of a map", "m[\"a\"], err = " + call, "m[\"a\"]", "err"},
		{"element of a map of any", "values[1], values[2] = " + call, "values[1]", "values[2].(error)"},
		{"element of a slice", "runs[first()], err = " + call, "runs[0]", "err"},
		{"element of an array", "array[1], err = " + call, "array[1]", "err"},
		{"dereference", "*pointer, err = " + call, "*pointer", "err"},
		{"several options", "k.run, err = accel.Fit(ctx, &net{mlp(), 3}, train, options...)", "k.run", "err"},
		{"loop", "for i := range runs { runs[i], err = " + call + " }", "runs[0]", "err"},
		{"function", "func() { m[\"b\"], k.err = " + call + " }()", "m[\"b\"]", "k.err"},
		{"condition", "if k.run, k.err = " + call + "; k.err != nil { panic(k.err) }", "k.run", "k.err"},
		// The next cell waits for the goroutine, which ends after its cell.
		{"goroutine", "ended = make(chan bool)\nvar wg sync.WaitGroup\nwg.Go(func() { defer close(ended); runs[1], err = " + call + " })\nwg.Wait()",
			"func() *accel.Run { <-ended; return runs[1] }()", "err"},
		{"two statements", "k.run, err = " + call + "\nafter = true", "k.run", "err"},
		{"block with a compiled model", "{\n\tk.run, k.err = accel.Fit(ctx, mlp(), train, watched...)\n\tafter = true\n}", "k.run", "k.err"},
		{"function with a compiled model", "func() {\n\tk.run, k.err = accel.Fit(ctx, mlp(), train, watched...)\n\tafter = true\n}()", "k.run", "k.err"},
		{"two statements of a block", "{\n\tk.run, k.err = " + call + "\n\tafter = true\n}", "k.run", "k.err"},
	} {
		n.assigned(t, []interruptedCell{{row.name, row.src}}, func() {
			out := n.must("r, _ := any(" + row.run + ").(*accel.Run)\nfmt.Println(r != nil, errors.Is(" + row.err + ", context.Canceled), after)\nk, runs, array, *pointer = kept{}, make([]*accel.Run, 2), [2]*accel.Run{}, nil\nafter = false\nclear(m)\nclear(values)")
			if out != "true true false\n" {
				n.t.Errorf("got %s", out)
			}
		})
	}
}

// An interrupt ends kernels, although their calls take no context. The devices can be used again.
func TestInterruptInKernels(t *testing.T) {
	n := newInterrupted(t)
	n.must(`func endless(t kernel.Thread, x []float32) {
	for x[t.Global()] == 1 {
		t.SyncWarp()
	}
}
k, err := kernel.Compile(endless)
err`)
	n.must(`func wait(t kernel.Thread, x, y []float32) {
	for x[0] == 1 {
		t.SyncWarp()
	}
	y[t.Global()] = x[t.Global()]
}
func waitGradient(t kernel.Thread, dy, dx []float32) { dx[t.Global()] = dy[t.Global()] }
waitKernel, err := kernel.Compile(wait)
gradientKernel, err := kernel.Compile(waitGradient)
op, err := kernel.Op(waitKernel, kernel.Gradient(gradientKernel), kernel.Threads(func(shape []int) kernel.Shape { return kernel.Grid(64, 32) }),
	kernel.Context(func() context.Context { fmt.Println("begun"); return context.Background() }))
set, err := data.FromTensors(tensor.Ones(1, 64), tensor.Ones(1, 64))
recorded := tensor.Ones(1)
err`)
	for _, device := range []string{"cpu", "simulated"} {
		for _, call := range []string{
			"err = k.Launch(kernel.Grid(64, 32), tensor.Ones(64))",
			"launch := k.Launch\nerr = launch(kernel.Grid(64, 32), tensor.Ones(64))",
			"_, err = kernel.Check(k, kernel.Grid(64, 32), tensor.Ones(64))",
		} {
			n.must("accel.SetDevice(\"" + device + "\")")
			n.interruptAt("fmt.Println(\"begun\")\n" + call)
			if got := n.must("fmt.Print(tensor.Ones(3).Sum().Item(), k.Launch(kernel.Grid(64, 32), tensor.Zeros(64)))"); got != "3 <nil>" {
				t.Errorf("%s: %s: %s", device, call, got)
			}
		}
		// The kernel of an op, which runs where the result is needed.
		for _, call := range []string{
			"op.Apply(tensor.Ones(64)).Data()",
			"tensor.Synchronize()", // recorded in another cell
			"var wg sync.WaitGroup\nwg.Go(func() { op.Apply(tensor.Ones(64)).Data() })\nwg.Wait()",
			"_, err = accel.Fit(context.Background(), op, set, accel.Minimize(nn.MSE), accel.Quiet())",
		} {
			if call == "tensor.Synchronize()" {
				n.must("recorded = op.Apply(tensor.Ones(64))")
			}
			n.interruptAt(call)
			if got := n.must("fmt.Print(op.Apply(tensor.Zeros(64)).AddScalar(1).Sum().Item())"); !strings.Contains(got, "\n64") {
				t.Errorf("%s: %s: %s", device, call, got)
			}
		}
	}
	n.must("accel.SetDevice(\"cpu\")")
}
