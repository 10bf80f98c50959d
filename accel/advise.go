package accel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// Advice is what [Advise] measured. It shows itself: a table of what was tried and
// a sentence that says what to switch on.
type Advice struct {
	Dataset string
	Trials  []Trial // the first is the training as it was given
	Memory  []Trial // what saves memory, and what it costs
}

// Trial is a change of a training, and its speed.
type Trial struct {
	Change    string // as it is written in Go; empty for none
	Speeds    []float64
	PeakBytes int    // the most that tensors took at once
	Err       error  // why it could not be tried
	Note      string // what else it changes
}

// Speed returns the median of examples a second; NaN where it could not be tried.
func (t Trial) Speed() float64 {
	if len(t.Speeds) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(t.Speeds))
	return s[len(s)/2]
}

const (
	adviceRounds  = 3
	adviceSeconds = 0.25 // that one try should take
	mostSteps     = 200

	worthwhile = 1.1 // times faster; less is not worth a change
)

// Advise tries on a user's own model what may make its training faster, or smaller:
// a batch of another size, more workers, the data set on the device, 16-bit floats,
// Recompute, and each GPU of the machine. Each change is tried by itself, in three
// rounds of a fraction of a second, interleaved with the training as it was given. It is
// advised only if every round with it was faster than every round without; a change
// whose median alone was faster is named, with a perhaps.
//
// What is measured is speed and memory. What another batch size or precision does
// to learning, [Compare] measures. Options are those of [Fit]. The model gets back
// the weights that it had.
func Advise(ctx context.Context, model nn.Module, train *data.Dataset, given ...Option) (*Advice, error) {
	a := &Advice{}
	o, err := newOptions(given)
	if err != nil {
		return a, err
	}
	if err := touch(ctx, model, train); err != nil {
		return a, fmt.Errorf("accel: Advise: %w", err)
	}
	a.Dataset = train.Name()
	start := copyWeights(model)
	sizes := &BatchSizeSearch{}
	meter := display.NewMeter("batch sizes", batchTries(train))
	err = findBatchSize(ctx, model, train, given, sizes, func(tries float64, size string) { meter.Set(tries, size) })
	meter.End()
	if err != nil {
		return a, fmt.Errorf("accel: Advise: %w", err)
	}
	adviser := &adviser{ctx: ctx, model: model, given: given, batch: o.batchSize}
	err = adviser.run(a, train, o, sizes.Size)
	return a, errors.Join(err, start.restore(model))
}

// adviser measures trainings of one model.
type adviser struct {
	ctx   context.Context
	model nn.Module
	given []Option
	batch int
	steps int
}

// trial is a change to be tried.
type trial struct {
	tried *Trial
	set   *data.Dataset
	add   []Option
	batch int
}

func (v *adviser) run(a *Advice, train *data.Dataset, o *options, size int) error {
	faster := []trial{{tried: &Trial{}, set: train, batch: v.batch}}
	if size > 0 && size != v.batch {
		faster = append(faster, trial{&Trial{Change: fmt.Sprintf("BatchSize(%d)", size), Note: "other steps: measure what is learned"}, train, []Option{BatchSize(size)}, size})
	}
	workers := 2 * max(1, o.workers)
	faster = append(faster, trial{&Trial{Change: fmt.Sprintf("Workers(%d)", workers)}, train, []Option{Workers(workers)}, v.batch})
	resident := &Trial{Change: "train.OnDevice()"}
	on, err := train.OnDevice()
	if err != nil {
		resident.Err, on = err, nil
	}
	faster = append(faster, trial{resident, on, nil, v.batch})
	if !o.amp && !o.trainsOnCPU() { // which has no 16-bit products, and would take no notice
		faster = append(faster, trial{&Trial{Change: "AMP()", Note: "16-bit products"}, train, []Option{AMP()}, v.batch})
	}
	gpus, _ := tensor.GPUs() // why there are none, Devices says
	for _, g := range gpus {
		if g.Device != tensor.Device() {
			faster = append(faster, trial{&Trial{Change: fmt.Sprintf("On(%q)", g.Device), Note: g.Name}, train, []Option{On(g.Device)}, v.batch})
		}
	}
	smaller := trial{&Trial{Change: "Recompute()"}, train, []Option{Recompute()}, v.batch}
	err = v.measure(append(faster, smaller))
	for _, t := range faster {
		a.Trials = append(a.Trials, *t.tried)
	}
	a.Memory = []Trial{*smaller.tried}
	return err
}

// measure runs the trials in interleaved rounds.
func (v *adviser) measure(trials []trial) error {
	meter := display.NewMeter("tries", float64(adviceRounds*len(trials)))
	done := 0
	defer func() { meter.Set(float64(done), ""); meter.End() }()
	for round := range adviceRounds {
		for _, t := range trials {
			done++
			if t.tried.Err != nil {
				continue
			}
			meter.Set(float64(done-1), t.tried.Change)
			if round == 0 && t.tried == trials[0].tried {
				if err := v.pace(t); err != nil {
					return err
				}
			}
			speed, peak, err := v.try(t, v.steps)
			if ended := v.ctx.Err(); ended != nil {
				return ended
			}
			if t.tried.Err = err; err != nil {
				if t.tried == trials[0].tried {
					return fmt.Errorf("accel: Advise: %w", err)
				}
				continue
			}
			t.tried.Speeds = append(t.tried.Speeds, speed)
			t.tried.PeakBytes = max(t.tried.PeakBytes, peak)
		}
	}
	return nil
}

// pace finds how many steps a try takes.
func (v *adviser) pace(t trial) error {
	speed, _, err := v.try(t, trySteps)
	if err != nil {
		return fmt.Errorf("accel: Advise: %w", err)
	}
	v.steps = min(max(int(adviceSeconds*speed/float64(v.batch)), trySteps), mostSteps)
	return nil
}

// try trains for some steps after those that plan and allocate. Larger batches take
// fewer steps, so that each try sees about as many examples.
func (v *adviser) try(t trial, steps int) (speed float64, peak int, err error) {
	steps = max(trySteps, steps*v.batch/t.batch)
	options := slices.Concat(v.given, t.add, []Option{Steps(tryWarmUp + steps), Quiet(), plain("", func(c *options) {
		c.alone()
		c.epochs, c.accumulate, c.watches = 0, 1, false
		c.schedule = nil
	})})
	run, err := Fit(v.ctx, v.model, t.set, options...)
	var diverged *DivergedError
	if err != nil && !errors.As(err, &diverged) {
		return 0, 0, err
	}
	return speedAfter(run, tryWarmUp), run.peakBytes, nil
}

// better reports whether each turn of a change was faster than each without.
func (a *Advice) better(t Trial) bool {
	base := a.Trials[0].Speeds
	return len(t.Speeds) > 0 && len(base) > 0 && slices.Min(t.Speeds) > slices.Max(base) && t.Speed() > worthwhile*a.Trials[0].Speed()
}

// unsure reports whether a change was faster in the middle, but not in each turn.
func (a *Advice) unsure(t Trial) bool {
	return len(t.Speeds) > 0 && !a.better(t) && t.Speed() > worthwhile*a.Trials[0].Speed()
}

// Recommendation says what to switch on.
func (a *Advice) Recommendation() string {
	if len(a.Trials) == 0 || len(a.Trials[0].Speeds) == 0 {
		return "nothing was measured"
	}
	base := a.Trials[0]
	var on, perhaps []string
	for _, t := range a.Trials[1:] {
		if a.unsure(t) {
			perhaps = append(perhaps, fmt.Sprintf("%s (%.1f×)", t.Change, t.Speed()/base.Speed()))
		}
		if a.better(t) {
			text := fmt.Sprintf("%s: %.1f× as many examples a second", t.Change, t.Speed()/base.Speed())
			if t.Note != "" {
				text += " (" + t.Note + ")"
			}
			on = append(on, text)
		}
	}
	sentence := "Nothing that was tried makes a step faster."
	switch {
	case len(on) > 0:
		sentence = "Switch on " + strings.Join(on, "; ") + "."
	case len(perhaps) > 0:
		sentence = "Nothing that was tried is faster for sure."
	}
	if len(perhaps) > 0 {
		sentence += " Perhaps faster: " + strings.Join(perhaps, ", ") + ", but not each turn was faster than each without: measure again while the machine does nothing else."
	}
	for _, t := range a.Memory {
		if t.Err == nil && len(t.Speeds) > 0 && t.PeakBytes < base.PeakBytes*9/10 {
			sentence += fmt.Sprintf(" If memory is short, %s takes %s instead of %s, at %.2f× the speed.", t.Change, size(t.PeakBytes), size(base.PeakBytes), t.Speed()/base.Speed())
		}
	}
	return sentence
}

func (a *Advice) table() table {
	t := table{headings: []string{"change", "examples/s", "", "memory", ""}}
	var base float64
	for i, x := range append(slices.Clone(a.Trials), a.Memory...) {
		if i == 0 {
			base = x.Speed()
		}
		row := []string{x.Change, quantity(x.Speed()), fmt.Sprintf("%.2f×", x.Speed()/base), size(x.PeakBytes), ""}
		switch {
		case i == 0:
			row[0], row[2] = "as it is", ""
		case x.Err != nil:
			row[1], row[2], row[3], row[4] = "–", "", "", x.Err.Error()
		case a.better(x):
			row[4] = "faster"
		case a.unsure(x):
			row[4] = "perhaps"
		}
		t.rows = append(t.rows, row)
	}
	t.below = a.Recommendation()
	return t
}

// size returns a number of bytes as a person says it.
func size(bytes int) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.0f KiB", float64(bytes)/(1<<10))
}

// String returns the table in text.
func (a *Advice) String() string { return a.table().text() }

// MIMEBundle shows the table.
func (a *Advice) MIMEBundle() map[string]any { return a.table().bundle() }
