package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pause is the pause in which the threads of the previous process go to sleep.
const pause = 20 * time.Millisecond

// runner is one prepared setting of one process.
type runner struct {
	*process
	bench, setting string
	steps          int // per measurement
	seconds        []float64
}

// key returns the name of a runner in the result: quern-2, torch-1-compile.
func (r *runner) key() string {
	name := fmt.Sprintf("%s-%d", r.framework, r.threads)
	if r.framework == "torch" {
		name += "-" + r.setting
	}
	return name
}

func (r *runner) request(do string) request {
	return request{Do: do, Bench: r.bench, Setting: r.setting, Steps: r.steps}
}

// measure runs the selected benchmarks.
func measure(ctx context.Context, o options) (result, error) {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(folder)
	r := newResult(o)
	all, err := startProcesses(ctx, o, folder, r.Versions)
	if err != nil {
		return result{}, err
	}
	defer all.close()
	printHeader(os.Stdout, r)
	for _, name := range o.names {
		c, ok := caseNamed(name)
		if !ok {
			return result{}, fmt.Errorf("there is no benchmark %q; the benchmarks are %v", name, caseNames())
		}
		if r.Figures[name], err = measureCase(o, folder, all, c); err != nil {
			return result{}, err
		}
		printFigure(os.Stdout, c, r.Figures[name])
	}
	return r, nil
}

// measureCase measures one case in all processes, and the peak, in interleaved rounds.
func measureCase(o options, folder string, all processes, c benchCase) (figure, error) {
	file := filepath.Join(folder, c.name)
	if err := c.arrays(newGenerator()).write(file); err != nil {
		return figure{}, err
	}
	f := figure{
		Description: c.description, Flops: c.flops, Bytes: c.bytes,
		Times: map[string]times{}, Peak: map[string]float64{},
		Failed: map[string]string{}, Disagrees: map[string]string{},
	}
	runners, losses, err := prepare(all, c, file, f)
	if err != nil {
		return figure{}, err
	}
	f.Losses = disagreements(losses, f.Disagrees)
	excluded := func(r *runner) bool {
		return r.bench != peakBench && (f.Failed[r.key()] != "" || f.Disagrees[r.key()] != "")
	}
	runners = slices.DeleteFunc(runners, excluded)
	for round := range o.rounds + 1 { // the first round determines the number of steps
		for i := range runners {
			r := runners[(i+round)%len(runners)]
			if excluded(r) {
				continue
			}
			a, err := r.ask(r.request("run"))
			if err != nil && r.framework != "quern" {
				f.Failed[r.key()] = err.Error()
				continue
			} else if err != nil {
				return figure{}, err
			}
			each := a.Seconds / float64(r.steps)
			if round == 0 {
				r.steps = max(1, int(math.Round(o.slice/max(each, 1e-9))))
			} else {
				r.seconds = append(r.seconds, each)
			}
			time.Sleep(pause)
		}
	}
	for _, r := range slices.DeleteFunc(runners, excluded) {
		if r.bench == peakBench {
			f.Peak[r.key()] /= newTimes(r.seconds).Median
		} else {
			f.Times[r.key()] = newTimes(r.seconds)
		}
	}
	for _, s := range all {
		if _, err := s.ask(request{Do: "drop"}); err != nil && s.framework == "quern" {
			return figure{}, err
		}
	}
	return f, nil
}

// prepare prepares every setting of every process, with the peak for each number of threads,
// whose FLOPs it stores in f.Peak. It returns the losses of the first steps by runner. What
// another framework cannot do is stored in f.Failed; an error of Quern ends the run.
func prepare(all processes, c benchCase, file string, f figure) ([]*runner, map[string][]float64, error) {
	var runners []*runner
	losses := map[string][]float64{}
	for _, s := range all {
		wanted := []*runner{{process: s, bench: c.name}}
		switch {
		case s.framework == "quern" && !slices.Contains(c.threads, s.threads), s.framework == "jax" && !c.jax:
			wanted = nil
		case s.framework == "torch":
			wanted = nil
			for _, name := range c.settings {
				wanted = append(wanted, &runner{process: s, bench: c.name, setting: name})
			}
		}
		if s.framework == "quern" {
			wanted = append(wanted, &runner{process: s, bench: peakBench})
		}
		for _, r := range wanted {
			q := r.request("prepare")
			q.Case = file
			a, err := r.ask(q)
			if err != nil && r.framework != "quern" {
				f.Failed[r.key()] = err.Error()
				continue
			} else if err != nil {
				return nil, nil, err
			}
			r.steps = 1
			runners = append(runners, r)
			if r.bench == peakBench {
				f.Peak[r.key()] = a.Flops
			} else {
				losses[r.key()] = a.Losses
			}
		}
	}
	return runners, losses, nil
}

// Relative tolerances of a loss computed with sums in different orders. The first loss does not
// depend on updates, and finds models that are not the same. Adam's first updates are the signs
// of the gradients, whatever their size, so rounding errors of a deep model grow to several
// percent within steps; the tolerance of later losses finds optimizers that are not the same.
const (
	firstTolerance = 1e-3
	laterTolerance = 0.1
)

// disagreements compares the losses of all runners with those of Quern, and stores in disagrees
// which runners computed others. It returns Quern's, or if Quern was not measured, those of
// the first runner.
func disagreements(losses map[string][]float64, disagrees map[string]string) []float64 {
	reference := ""
	for _, key := range sortedKeys(losses) {
		if reference == "" || strings.HasPrefix(key, "quern") && !strings.HasPrefix(reference, "quern") {
			reference = key
		}
	}
	for key, values := range losses {
		if why := difference(reference, losses[reference], values); why != "" {
			disagrees[key] = why
		}
	}
	return losses[reference]
}

// difference says how losses differ from those of a reference, or returns "".
func difference(reference string, want, got []float64) string {
	if len(got) != len(want) {
		return fmt.Sprintf("it returned %d losses, %s returned %d", len(got), reference, len(want))
	}
	for i, v := range got {
		allowed := firstTolerance
		if i > 0 {
			allowed = laterTolerance
		}
		if !(math.Abs(v-want[i]) <= allowed*max(math.Abs(want[i]), 1e-3)) { // also if it is NaN
			return fmt.Sprintf("the loss of step %d is %g, that of %s is %g", i+1, v, reference, want[i])
		}
	}
	return ""
}
