package prof_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// measured returns a profile of a small model.
func measured(t *testing.T, options ...prof.Option) *prof.Report {
	t.Helper()
	r, err := prof.Run(t.Context(), training(t, 32, nn.Flatten(), nn.Dense(48), nn.ReLU(), nn.Dropout(0.1), nn.Dense(10)), options...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(rows []prof.Row) []string {
	var all []string
	for _, r := range rows {
		all = append(all, r.Name)
	}
	return all
}

func TestReport(t *testing.T) {
	r := measured(t, prof.Warmup(2), prof.Active(4))
	if len(r.Steps) != 4 || r.Device != "cpu" {
		t.Fatalf("%d steps on %q", len(r.Steps), r.Device)
	}
	// Times: no op is outside its step or longer than it, and the parts add up.
	for _, o := range r.Ops {
		if s := r.Steps[o.Step]; o.Begin < s.Begin || o.End > s.End || o.End < o.Begin {
			t.Errorf("%v of step %d is outside of %v", o, o.Step, s)
		}
	}
	b := r.Breakdown()
	sum := b.Forward + b.Backward + b.Update + b.Waiting + b.Planning + b.Copying + b.Profiling + b.Host
	if d := (sum - r.StepTime()).Abs(); d > time.Microsecond {
		t.Errorf("the parts of %v add up to %v", r.StepTime(), sum)
	}
	if b.Forward <= 0 || b.Backward <= 0 || b.Update <= 0 || b.Planning != 0 {
		t.Errorf("%+v", b)
	}
	// Layers have their names in the model, and every step has the same ops.
	layers := names(r.Layers().Rows)
	for _, want := range []string{"1 Dense(48)", "4 Dense(10)", "AdamW"} {
		if !slices.Contains(layers, want) {
			t.Errorf("%q is none of the layers %q", want, layers)
		}
	}
	if int(r.Counts.Launches)*4 != len(r.Ops) || r.Counts.Lists != 1 || r.Counts.Syncs != 0 || r.Counts.Planned != 0 {
		t.Errorf("%+v for %d ops", r.Counts, len(r.Ops))
	}
	// x [32 1 8 8] as float32 and y [32] as int32 go to the device.
	if want := float64(32*64*4 + 32*4); r.Counts.ToDevice != want || r.Counts.ToHost != 0 {
		t.Errorf("%v bytes to the device, want %v; %v back", r.Counts.ToDevice, want, r.Counts.ToHost)
	}
	rows := r.Rows()
	var self time.Duration
	for _, row := range rows {
		self += row.Self
		if row.Total < row.Self {
			t.Errorf("%s: total %v, self %v", row.Name, row.Total, row.Self)
		}
	}
	total := 4 * r.StepTime()
	if math.Abs(self.Seconds()/total.Seconds()-1) > 0.01 {
		t.Errorf("the rows' own times add up to %v of %v", self, total)
	}
	for _, row := range rows {
		if row.Name == "1 Dense(48): Linear+ReLU" || row.Name == "1 Dense(48): Linear" {
			if flops := 4 * (2.*32*64*48 + 32*48); math.Abs(row.FLOPs-flops) > 32*48*4 || row.Calls != 4 || !strings.HasPrefix(row.Shapes, "[32 64] [48 64]") {
				t.Errorf("%+v, want %v FLOPs", row, flops)
			}
		}
	}
}

// Gaps and ops add up to each step.
func TestGaps(t *testing.T) {
	r := measured(t)
	for k, s := range r.Steps {
		var sum time.Duration
		at := s.Begin
		for _, g := range r.Gaps() {
			if g.Step != k {
				continue
			}
			if g.Begin < at || g.End <= g.Begin || g.End > s.End {
				t.Errorf("step %d: gap %+v", k, g)
			}
			at = g.End
			sum += g.End - g.Begin
		}
		for _, o := range r.Ops {
			if o.Step == k {
				sum += o.End - o.Begin
			}
		}
		if sum != s.End-s.Begin {
			t.Errorf("step %d has %v, gaps and ops %v", k, s.End-s.Begin, sum)
		}
	}
}

// block is a custom module.
type block struct{ up, down nn.Module }

func (b *block) Forward(x *nn.Tensor) *nn.Tensor {
	return x.Add(b.down.Forward(b.up.Forward(x).GELU()))
}

type network struct {
	in    nn.Module
	body  []nn.Module
	tail  *nn.SequentialLayer
	scale *nn.Tensor
}

func (n *network) Forward(x *nn.Tensor) *nn.Tensor {
	x = n.in.Forward(x.Flatten(1))
	for _, m := range n.body {
		x = m.Forward(x)
	}
	return n.tail.Forward(x.Mul(n.scale))
}

func TestLayersOfOwnTypes(t *testing.T) {
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	model := &network{nn.Dense(16), []nn.Module{&block{nn.Dense(32), nn.Dense(16)}}, nn.Sequential(nn.LayerNorm(), nn.ReLU(), nn.Dense(10)), tensor.Parameter(tensor.Ones(16))}
	opt := optim.SGD(model, 0.1, optim.Momentum(0.9))
	it := train.Batches(64)
	r, err := prof.Run(t.Context(), func() error {
		it.Next()
		b := it.Batch()
		opt.ZeroGrad()
		loss := nn.CrossEntropy(model.Forward(b.X), b.Y)
		if loss.Item() < 0 { // a wait in the middle of a step
			return errors.New("negative")
		}
		loss.Backward()
		opt.Step()
		return nil
	}, prof.Warmup(1), prof.Active(2))
	if err != nil {
		t.Fatal(err)
	}
	layers := names(r.Layers().Rows)
	for _, want := range []string{"in", "body.0.up", "body.0.down", "tail.0 LayerNorm()", "tail.1 ReLU()", "tail.2 Dense(10)", "SGD"} {
		if !slices.Contains(layers, want) {
			t.Errorf("%q is none of the layers %q", want, layers)
		}
	}
	backward := map[string]bool{}
	for _, o := range r.Ops {
		if o.Phase == prof.Backward {
			backward[o.Layer] = true
		}
	}
	if !backward["body.0.up"] || !backward["in"] || !backward["tail.2 Dense(10)"] {
		t.Errorf("backward are %v", backward)
	}
	if r.Counts.Syncs != 1 || r.Counts.Lists != 2 || r.Counts.ToHost != 4 {
		t.Errorf("%+v", r.Counts)
	}
	if len(r.Memory()) == 0 {
		t.Error("no memory")
	}
}

// Without an optimizer the names come from functions that set the mode of the model.
func TestLayersOfPredict(t *testing.T) {
	model := &block{nn.Dense(32), nn.Dense(16)}
	x := tensor.Ones(8, 16)
	r, err := prof.Run(t.Context(), func() error {
		_, err := accel.Predict(t.Context(), model, x)
		return err
	}, prof.Warmup(1), prof.Active(1))
	if err != nil {
		t.Fatal(err)
	}
	if layers := names(r.Layers().Rows); !slices.Contains(layers, "up") || !slices.Contains(layers, "down") {
		t.Errorf("the layers are %q", layers)
	}
}

func TestMemory(t *testing.T) {
	r := measured(t)
	parameters := 4 * (64*48 + 48 + 48*10 + 10)
	for _, m := range r.Memory() {
		if m.Bytes[prof.Parameters] < parameters || m.Bytes[prof.Parameters] > parameters+1024 {
			t.Errorf("%d bytes of parameters, want %d", m.Bytes[prof.Parameters], parameters)
		}
		if s := m.Bytes[prof.State]; s < 2*parameters || s > 2*parameters+2048 { // AdamW stores two values for each
			t.Errorf("%d bytes of state, want %d", s, 2*parameters)
		}
	}
	most := map[prof.MemoryKind]int{}
	for _, m := range r.Memory() {
		for kind, bytes := range m.Bytes {
			most[kind] = max(most[kind], bytes)
		}
	}
	if most[prof.Activations] < 4*32*48 || most[prof.Gradients] < 4*32*10 || most[prof.Inputs] < 32*64*4 {
		t.Errorf("at most %v", most)
	}
}

// The peak over a step is at least what its largest list takes at once. The backward pass has the activations and gradients,
// and the update no activations.
func TestMemoryUse(t *testing.T) {
	r := measured(t)
	use, most := r.MemoryUse(), 0
	for _, m := range r.Memory() {
		most = max(most, m.Total())
	}
	if use.Forward <= 0 || use.Update <= 0 || most != max(use.Forward, use.Backward, use.Update) {
		t.Errorf("%+v, and the figure has at most %d bytes", use, most)
	}
	if use.Peak < most || use.Reserved < use.Allocated || use.Allocated < 3*4*(64*48+48+48*10+10) {
		t.Errorf("%+v, and the figure has at most %d bytes", use, most)
	}
	for _, want := range []string{"memory: allocated ", ", reserved ", ", peak over a step ", "; forward ", "; backward ", "; update "} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("%q is missing in\n%s", want, r)
		}
	}
}

func TestSpans(t *testing.T) {
	step := training(t, 32, nn.Flatten(), nn.Dense(10))
	r, err := prof.Run(t.Context(), func() error {
		defer prof.Span("all")()
		end := prof.Span("nothing")
		end()
		return step()
	}, prof.Active(2))
	if err != nil {
		t.Fatal(err)
	}
	var found bool
	for _, row := range r.Rows() {
		if row.Name == "span all" {
			found = true
			if row.Calls != 2 || row.Self >= row.Total || row.Total > 2*r.StepTime() {
				t.Errorf("%+v of %v", row, r.Steps)
			}
		}
	}
	if !found {
		t.Errorf("%v", names(r.Rows()))
	}
	prof.Span("outside of a profile")()
}

// The self time of spans is subtracted from the program's: the self times of all rows add up to
// that of the steps, as in PyTorch's table.
func TestSpansAddUp(t *testing.T) {
	step := training(t, 32, nn.Flatten(), nn.Dense(10))
	r, err := prof.Run(t.Context(), func() error {
		defer prof.Span("all")()
		for range 3 {
			end := prof.Span("part")
			for begin := time.Now(); time.Since(begin) < time.Millisecond; {
			}
			end()
		}
		return step()
	}, prof.Active(3))
	if err != nil {
		t.Fatal(err)
	}
	var self time.Duration
	for _, row := range r.Rows() {
		self += row.Self
	}
	if total := 3 * r.StepTime(); math.Abs(self.Seconds()/total.Seconds()-1) > 0.01 {
		t.Errorf("the rows' own times add up to %v of %v:\n%v", self, total, r.Table(prof.SelfCPU, 0))
	}
}

func TestRunRefuses(t *testing.T) {
	ok := training(t, 32, nn.Flatten(), nn.Dense(10))
	broken := errors.New("broken")
	calls := 0
	canceled, cancel := context.WithCancel(t.Context())
	shape := new(*tensor.ShapeError)
	for _, row := range []struct {
		name    string
		ctx     context.Context
		step    func() error
		options []prof.Option
		is      error
		as      any
		steps   int
	}{
		{"no step", t.Context(), nil, nil, nil, nil, 0},
		{"no active steps", t.Context(), ok, []prof.Option{prof.Active(0)}, nil, nil, 0},
		{"warm-up below 0", t.Context(), ok, []prof.Option{prof.Warmup(-1)}, nil, nil, 0},
		{"error in the warm-up", t.Context(), func() error { return broken }, nil, broken, nil, 0},
		{"error in the third step", t.Context(), func() error {
			if calls++; calls > 2 {
				return broken
			}
			return ok()
		}, []prof.Option{prof.Warmup(0)}, broken, nil, 2},
		{"a shape that does not fit", t.Context(), func() error { tensor.Ones(2, 3).MatMul(tensor.Ones(2, 3)); return nil }, nil, nil, shape, 0},
		{"interrupted", canceled, func() error { cancel(); return ok() }, []prof.Option{prof.Warmup(0)}, context.Canceled, nil, 1},
		{"a profile within a profile", t.Context(), func() error {
			_, err := prof.Run(context.Background(), ok)
			return err
		}, []prof.Option{prof.Warmup(0)}, prof.ErrBusy, nil, 0},
	} {
		r, err := prof.Run(row.ctx, row.step, row.options...)
		if err == nil || r == nil {
			t.Errorf("%s: %v, %v", row.name, r, err)
			continue
		}
		if row.is != nil && !errors.Is(err, row.is) || row.as != nil && !errors.As(err, row.as) {
			t.Errorf("%s: %v", row.name, err)
		}
		if len(r.Steps) != row.steps {
			t.Errorf("%s: %d steps, want %d", row.name, len(r.Steps), row.steps)
		}
		if row.steps == 0 && (r.String() != "no steps" || r.Report().MIMEBundle()["text/plain"] != "no steps" || len(r.Hints()) != 1 || r.Save("x.json") == nil || r.SavePprof("x") == nil) {
			t.Errorf("%s: %v", row.name, r)
		}
		_, _, _, _ = r.Timeline().SVG(), r.MemoryFigure().SVG(), r.Table(prof.SelfCPU, 3).String(), r.Layers().String()
		t.Logf("%s: %v", row.name, err)
	}
	measured(t) // and all is as before
	if accel.Stats().Flushes == 0 {
		t.Error("no statistics")
	}
}

// Other goroutines may compute meanwhile; their work is in the profile.
func TestProfileAmongOthers(t *testing.T) {
	stop, done := make(chan struct{}), make(chan error, 1)
	began := make(chan struct{})
	go func() {
		x := tensor.Ones(16, 16)
		model := nn.Sequential(nn.Dense(8), nn.Sequential(nn.ReLU(), nn.Dense(4)))
		for k := 0; ; k++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if _, err := accel.Predict(context.Background(), model, x); err != nil {
				done <- err
				return
			}
			if k == 0 {
				close(began)
			}
		}
	}()
	<-began
	for range 5 {
		if r := measured(t, prof.Warmup(1), prof.Active(3)); len(r.Steps) != 3 || r.String() == "" || r.Layers().String() == "" {
			t.Error("no report")
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A profile of long steps shows its progress.
func TestRunIsMeasured(t *testing.T) {
	meter, ctx := display.Measure(t.Context(), "test", 1)
	t.Cleanup(meter.End)
	var parts []float64
	if _, err := prof.Run(ctx, func() error {
		parts = append(parts, meter.Last().Done)
		return nil
	}, prof.Warmup(2), prof.Active(2)); err != nil {
		t.Fatal(err)
	}
	if want := []float64{0, .25, .5, .75}; !slices.Equal(parts, want) {
		t.Errorf("%v, want %v", parts, want)
	}
}
