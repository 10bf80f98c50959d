package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/internal/benchfile"
	"github.com/quernlab/quern/accel/internal/cpu"
)

// pause is the pause in which the threads of the previous process go to sleep.
const pause = 20 * time.Millisecond

// countedSteps is the number of steps whose launches and waits are counted.
const countedSteps = 4

// runner is one prepared setting of one process.
type runner struct {
	*process
	benchCase
	setting  string
	steps    int // per measurement
	seconds  []float64
	excluded bool // it failed or computes other losses

	prepared chan preparation // of compileAhead; nil for a runner that is prepared when it is measured
}

// key returns the name of a runner in the result: quern-2, torch-1-compile, onnxruntime-2, and on a
// GPU quern, torch-compile.
func (r *runner) key() string {
	name := r.framework
	if slices.Contains(programs, r.setting) {
		return fmt.Sprint(r.setting, "-", r.process.threads)
	}
	if r.process.threads > 0 {
		name += fmt.Sprint("-", r.process.threads)
	}
	if r.setting != "" {
		name += "-" + r.setting
	}
	return name
}

func (r *runner) ask(ctx context.Context, q request) (reply, error) {
	q.Bench, q.Setting = r.name, r.setting
	return r.process.ask(ctx, q)
}

// counts returns what a repeated step on a GPU launches and waits for.
func (r *runner) counts(ctx context.Context) (*benchfile.Counts, error) {
	a, err := r.ask(ctx, request{Do: "count", Steps: countedSteps})
	return a.Counts, err
}

// measure runs the selected benchmarks. With an error it returns those that it completed.
func measure(ctx context.Context, o options) (result, error) {
	r := newResult(o)
	var selected []benchCase
	for _, name := range o.names {
		c, err := o.caseNamed(name)
		if err != nil {
			return r, err
		}
		selected = append(selected, c)
	}
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(folder)
	all, pci, err := startProcesses(ctx, o, folder, selected, &r)
	if err != nil {
		return r, err
	}
	defer all.close()
	if r.last, err = lastResult(o.results, r.Machine); err != nil {
		return r, err
	}
	if o.save {
		if err := r.keep(o.names); err != nil {
			return r, err
		}
	}
	m := &measurement{options: o, folder: folder, processes: all, pci: pci}
	defer m.closeAhead()
	printHeader(os.Stdout, r)
	var open []*caseMeasurement
	for _, c := range selected {
		k := &caseMeasurement{benchCase: c, figure: newFigure(c), losses: map[string][]float64{}}
		if m.compilesAhead(c) {
			if err := m.write(c); err != nil {
				return r, fmt.Errorf("%s: %w", c.name, err)
			}
			m.compileAhead(ctx, k)
		}
		open = append(open, k)
	}
	store := func(k *caseMeasurement) error {
		r.Figures[k.name] = k.finished()
		if !o.save {
			return nil
		}
		return r.save(o.results) // after each, so that no result is lost
	}
	for _, k := range open {
		if k.ahead == nil {
			if err := m.write(k.benchCase); err != nil {
				return r, fmt.Errorf("%s: %w", k.name, err)
			}
		}
		m.measureRunners(ctx, k, m.runners(k.benchCase))
		if err := errors.Join(store(k), ctx.Err()); err != nil {
			return r, fmt.Errorf("%s: %w", k.name, err)
		}
		if k.ahead == nil {
			printFigure(os.Stdout, k.benchCase, r.Figures[k.name])
		}
	}
	for _, k := range open {
		if k.ahead == nil {
			continue
		}
		m.measureRunners(ctx, k, []*runner{k.ahead})
		if err := errors.Join(store(k), ctx.Err()); err != nil {
			return r, fmt.Errorf("%s: %w", k.name, err)
		}
		printFigure(os.Stdout, k.benchCase, r.Figures[k.name])
	}
	return r, nil
}

// measurement measures cases in all processes.
type measurement struct {
	options
	processes
	folder string // of the arrays
	pci    string // PCI bus ID of the GPU, or ""

	ahead []*process // of compileAhead
	background
}

// background are the goroutines of compileAhead.
type background struct {
	sync.WaitGroup
	stop []context.CancelFunc
}

// caseMeasurement is a case while it is measured.
type caseMeasurement struct {
	benchCase
	figure figure
	losses map[string][]float64 // of the first steps, by runner
	ahead  *runner              // of PyTorch's compiler, measured last; nil if there is none
}

// finished returns the figure with what the losses show.
func (k *caseMeasurement) finished() figure {
	f := k.figure
	for key, l := range k.losses {
		if isQuern(key) && k.samples > 0 && !(l[len(l)-1] < l[0]) {
			f.Notes = append(slices.Clone(f.Notes), fmt.Sprintf("%s does not learn: its losses are %g", key, l))
		}
	}
	return f
}

// compiled is PyTorch's setting that compiles the model.
const compiled = "compile"

// compilesAhead reports whether PyTorch compiles the case in the background.
func (m *measurement) compilesAhead(c benchCase) bool {
	torch := slices.ContainsFunc(m.processes, func(p *process) bool { return p.framework == "torch" })
	return m.device != "cpu" && !m.simulated() && torch && slices.Contains(c.settings, compiled)
}

// compileAhead lets PyTorch compile a case in a process of its own while other runners are
// measured. That takes up to a minute, mostly on the CPU.
func (m *measurement) compileAhead(ctx context.Context, k *caseMeasurement) {
	p := &process{options: m.options, framework: "torch", folder: m.folder}
	m.ahead = append(m.ahead, p)
	k.ahead = &runner{process: p, benchCase: k.benchCase, setting: compiled, prepared: make(chan preparation, 1)}
	ctx, stop := context.WithCancel(ctx) // ends the process
	m.stop = append(m.stop, stop)
	m.Go(func() {
		a, err := m.prepareRunner(ctx, k.ahead)
		k.ahead.prepared <- preparation{a, err}
	})
}

// preparation is the reply of a process that prepares a case.
type preparation struct {
	reply reply
	err   error
}

// closeAhead ends the processes of compileAhead.
func (m *measurement) closeAhead() {
	for _, stop := range m.stop {
		stop()
	}
	m.Wait()
	for _, p := range m.ahead {
		p.close()
	}
}

// write writes the arrays and files of a case.
func (m *measurement) write(c benchCase) error {
	arrays := c.arrays(newGenerator())
	path := filepath.Join(m.folder, c.name)
	if err := arrays.write(path); err != nil {
		return err
	}
	if c.files != nil {
		if err := c.files(path); err != nil {
			return err
		}
	}
	if c.export != nil && m.python != "" {
		return c.export(path+".onnx", arrays)
	}
	return nil
}

// measureRunners measures runners of one case. On the CPU it interleaves all of them and the peak.
// On a GPU, whose memory they would share, it measures one after the other.
func (m *measurement) measureRunners(ctx context.Context, k *caseMeasurement, runners []*runner) {
	f, first := &k.figure, firstTolerance
	if k.half {
		first = firstToleranceHalf
	}
	size := len(runners)
	if m.device != "cpu" {
		size = 1
	}
	for group := range slices.Chunk(runners, size) {
		m.prepare(ctx, group, f, k.losses)
		f.Losses = disagreements(k.losses, first, f.Disagrees)
		for _, r := range group {
			r.excluded = r.excluded || r.name != peakBench && f.Disagrees[r.key()] != ""
		}
		power := watts(ctx, m.pci, func() { m.rounds(ctx, group, f) })
		for _, r := range group {
			switch {
			case r.excluded:
			case r.name == peakBench:
				f.Peak[r.key()] /= newTimes(r.seconds).Median
			default:
				f.Times[r.key()] = newTimes(r.seconds)
				if power > 0 {
					f.Watts[r.key()] = power
				}
			}
			if r.framework == "quern" && m.device != "cpu" && !r.excluded {
				m.count(ctx, r, f)
			}
		}
		for _, p := range slices.Concat(m.processes, m.ahead) {
			mine := func(r *runner) bool { return r.process == p }
			failed := slices.ContainsFunc(group, func(r *runner) bool { return mine(r) && f.Failed[r.key()] != "" })
			if !slices.ContainsFunc(group, mine) {
				continue
			} else if _, err := p.ask(ctx, request{Do: "drop"}); err != nil || failed {
				p.close() // after an error, a GPU may be unusable for its process
			}
		}
	}
}

// runners returns every setting of every process, with the peak of the CPU for each number of
// threads. Quern's are the first.
func (m *measurement) runners(c benchCase) []*runner {
	var all []*runner
	for _, p := range m.processes {
		settings := []string{""}
		switch {
		case p.framework == "quern" && p.threads > 0 && !slices.Contains(c.threads, p.threads), p.framework == "jax" && !c.jax:
			settings = nil
		case p.framework == "torch":
			settings = c.settings
			if m.compilesAhead(c) {
				settings = slices.DeleteFunc(slices.Clone(settings), func(s string) bool { return s == compiled })
			}
			if m.simulated() { // PyTorch computes on the CPU
				settings = settings[:min(1, len(settings))]
			}
		}
		for _, s := range settings {
			all = append(all, &runner{process: p, benchCase: c, setting: s})
		}
		if p.framework == "quern" && m.device == "cpu" {
			all = append(all, &runner{process: p, benchCase: benchCase{name: peakBench}})
		}
	}
	return all
}

// prepare prepares runners. It stores the FLOPs of the peak in f.Peak and the losses of the first
// steps by runner.
func (m *measurement) prepare(ctx context.Context, runners []*runner, f *figure, losses map[string][]float64) {
	for _, r := range runners {
		var made preparation
		if r.prepared != nil {
			made = <-r.prepared // it has a time limit
		} else {
			made.reply, made.err = m.prepareRunner(ctx, r)
		}
		a, err := made.reply, made.err
		switch {
		case err != nil:
			f.fail(r, err)
		case r.name == peakBench:
			f.Peak[r.key()] = a.Flops
		default:
			losses[r.key()] = a.Losses
		}
	}
}

// prepareRunner prepares one runner.
func (m *measurement) prepareRunner(ctx context.Context, r *runner) (reply, error) {
	r.steps = 1
	return r.ask(ctx, request{Do: "prepare", Case: filepath.Join(m.folder, r.name), Model: cmp.Or(r.model, r.name), Heads: r.heads, Half: r.half})
}

// rounds measures runners in interleaved rounds, until one fails.
func (m *measurement) rounds(ctx context.Context, runners []*runner, f *figure) {
	for round := range m.options.rounds + 1 {
		for i := range runners {
			r := runners[(i+round)%len(runners)]
			if r.excluded {
				continue
			}
			if err := m.round(ctx, r, round); err != nil {
				f.fail(r, err)
			}
		}
	}
}

// round measures one runner. The first round, 0, determines the number of its steps.
func (m *measurement) round(ctx context.Context, r *runner, round int) error {
	q := request{Do: "run", Steps: r.steps}
	if r.cold {
		q.Empty = emptyingBytes(cpu.DataCaches(), runtime.NumCPU())
	}
	a, err := r.ask(ctx, q)
	if err != nil {
		return err
	}
	each := a.Seconds / float64(r.steps)
	if round == 0 {
		r.steps = max(1, int(math.Round(m.slice/max(each, 1e-9))))
	} else {
		r.seconds = append(r.seconds, each)
	}
	time.Sleep(pause)
	return nil
}

// count counts the launches and waits of a repeated step on a GPU.
func (m *measurement) count(ctx context.Context, r *runner, f *figure) {
	var err error
	if f.Counts, err = r.counts(ctx); err != nil {
		f.fail(r, err)
		return
	}
	if f.Counts.NewPlans > 0 || f.Counts.Waits > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("a repeated step compiles %g plans and waits %g times for the device; want none", f.Counts.NewPlans, f.Counts.Waits))
	}
}

// Relative tolerances of a loss computed with sums in different orders. The first loss does not
// depend on updates, and finds models that are not the same; the rounding of 16-bit floats changes
// it more. Adam's first updates are the signs of the gradients, whatever their size, so rounding
// errors of a deep model grow to several percent within steps; the tolerance of later losses finds
// optimizers that are not the same.
const (
	firstTolerance     = 1e-3
	firstToleranceHalf = 1e-2
	laterTolerance     = 0.1
)

// disagreements compares the losses of all runners with those of Quern, and stores in disagrees
// which runners computed others. It returns Quern's, or if Quern was not measured, those of
// the first runner.
func disagreements(losses map[string][]float64, first float64, disagrees map[string]string) []float64 {
	reference := ""
	for _, key := range sortedKeys(losses) {
		if reference == "" || isQuern(key) && !isQuern(reference) {
			reference = key
		}
	}
	for key, values := range losses {
		if why := difference(reference, losses[reference], values, first); why != "" {
			disagrees[key] = why
		}
	}
	return losses[reference]
}

// difference says how losses differ from those of a reference, or returns "".
func difference(reference string, want, got []float64, first float64) string {
	if len(got) != len(want) {
		return fmt.Sprintf("it returned %d losses, %s returned %d", len(got), reference, len(want))
	}
	for i, v := range got {
		allowed := first
		if i > 0 {
			allowed = laterTolerance
		}
		if !(math.Abs(v-want[i]) <= allowed*max(math.Abs(want[i]), 1e-3)) { // also if it is NaN
			return fmt.Sprintf("the loss of step %d is %g, that of %s is %g", i+1, v, reference, want[i])
		}
	}
	return ""
}
