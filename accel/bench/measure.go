package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// rest is the pause in which the threads of the previous process go to sleep.
const rest = 20 * time.Millisecond

// runner is one prepared setting of one process.
type runner struct {
	*side
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
	all, err := startSides(ctx, o, folder)
	if err != nil {
		return result{}, err
	}
	defer all.close()
	r := newResult(o)
	if r.Versions, err = all.versions(); err != nil {
		return result{}, err
	}
	for _, name := range o.names {
		c, ok := caseNamed(name)
		if !ok {
			return result{}, fmt.Errorf("there is no benchmark %q; the benchmarks are %v", name, caseNames())
		}
		if r.Figures[name], err = measureCase(o, folder, all, c); err != nil {
			return result{}, err
		}
	}
	return r, nil
}

// measureCase measures one case in all processes, and the peak, in interleaved rounds.
func measureCase(o options, folder string, all sides, c benchCase) (figure, error) {
	file := filepath.Join(folder, c.name)
	if err := c.arrays(newGenerator()).write(file); err != nil {
		return figure{}, err
	}
	f := figure{Words: c.words, Flops: c.flops, Bytes: c.bytes, Times: map[string]times{}, Peak: map[string]float64{}}
	runners, losses, err := prepare(all, c, file, f.Peak)
	if err != nil {
		return figure{}, err
	}
	if f.Losses, err = agree(losses); err != nil {
		return figure{}, fmt.Errorf("%s: %w", c.name, err)
	}
	for round := range o.rounds + 1 { // the first round determines the number of steps
		for i := range runners {
			r := runners[(i+round)%len(runners)]
			a, err := r.ask(r.request("run"))
			if err != nil {
				return figure{}, err
			}
			each := a.Seconds / float64(r.steps)
			if round == 0 {
				r.steps = max(1, int(math.Round(o.slice/max(each, 1e-9))))
			} else {
				r.seconds = append(r.seconds, each)
			}
			time.Sleep(rest)
		}
	}
	for _, r := range runners {
		if r.bench == peakBench {
			f.Peak[r.key()] /= newTimes(r.seconds).Median
		} else {
			f.Times[r.key()] = newTimes(r.seconds)
		}
	}
	for _, s := range all {
		if _, err := s.ask(request{Do: "drop"}); err != nil {
			return figure{}, err
		}
	}
	return f, nil
}

// prepare prepares every setting of every process, with the peak for each number of threads,
// whose FLOPs it stores in peaks. It returns the losses of the first steps by runner.
func prepare(all sides, c benchCase, file string, peaks map[string]float64) ([]*runner, map[string][]float64, error) {
	var runners []*runner
	losses := map[string][]float64{}
	for _, s := range all {
		wanted := []*runner{{side: s, bench: c.name}}
		switch {
		case s.framework == "quern" && !slices.Contains(c.threads, s.threads), s.framework == "jax" && !c.jax:
			wanted = nil
		case s.framework == "torch":
			wanted = nil
			for _, name := range c.settings {
				wanted = append(wanted, &runner{side: s, bench: c.name, setting: name})
			}
		}
		if s.framework == "quern" {
			wanted = append(wanted, &runner{side: s, bench: peakBench})
		}
		for _, r := range wanted {
			q := r.request("prepare")
			q.Case = file
			a, err := r.ask(q)
			if err != nil {
				return nil, nil, err
			}
			r.steps = 1
			runners = append(runners, r)
			if r.bench == peakBench {
				peaks[r.key()] = a.Flops
			} else {
				losses[r.key()] = a.Losses
			}
		}
	}
	return runners, losses, nil
}

// Tolerances of a loss computed with sums in different orders: for the first step, and after
// updates. Adam's first updates are the signs of the gradients, whatever their size, so
// rounding errors grow early.
const (
	tolerance        = 1e-3
	updatedTolerance = 2e-2
)

// agree checks that all processes computed the same losses, and returns those of one.
func agree(losses map[string][]float64) ([]float64, error) {
	var first []float64
	var name string
	for _, key := range sortedKeys(losses) {
		if first == nil {
			first, name = losses[key], key
		}
		if len(losses[key]) != len(first) {
			return nil, fmt.Errorf("%s returned %d losses, but %s returned %d", name, len(first), key, len(losses[key]))
		}
		for i, v := range losses[key] {
			allowed := tolerance
			if i > 0 {
				allowed = updatedTolerance
			}
			if !(math.Abs(v-first[i]) <= allowed*max(math.Abs(first[i]), 1e-3)) {
				return nil, fmt.Errorf("the losses differ: step %d gives %g on %s and %g on %s", i+1, first[i], name, v, key)
			}
		}
	}
	return first, nil
}
