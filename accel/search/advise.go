package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// Advice is what accel.Advise measured. It displays itself as a table of the trials with a
// recommendation.
type Advice struct {
	Dataset string  // name of the training set
	Trials  []Trial // the first is the unchanged training
	Memory  []Trial // changes that save memory
}

// Trial is a change of a training and its measured speed.
type Trial struct {
	Change    string    // as Go code; empty for the unchanged training
	Speeds    []float64 // examples per second in each round
	PeakBytes int       // peak memory of tensors
	Err       error     // why the trial failed
	Note      string    // side effects of the change
}

// Speed returns the median of the examples per second; NaN if the trial failed.
func (t Trial) Speed() float64 {
	if len(t.Speeds) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(t.Speeds))
	return s[len(s)/2]
}

const (
	adviceRounds  = 3
	adviceSeconds = 0.25 // target duration of one trial
	maxTrialSteps = 200

	minSpeedup = 1.1 // a smaller speedup is not worth a change
)

// Advise tries changes that may make a training faster or smaller, as accel.Advise describes it.
func Advise(ctx context.Context, t Training) (*Advice, error) {
	a := &Advice{}
	if err := interrupt.RequireContext(ctx, "accel: Advise"); err != nil {
		return a, err
	}
	o, err := t.Settings(nil)
	if err != nil {
		return a, err
	}
	if err := loop.Touch(ctx, t.Model, t.Dataset); err != nil {
		return a, fmt.Errorf("accel: Advise: %w", err)
	}
	defer loop.KeepRandom()()
	a.Dataset = t.Dataset.Name()
	start := loop.CopyWeights(t.Model)
	sizes := &BatchSizeSearch{}
	meter := display.NewMeter("batch sizes", batchTries(t.Dataset))
	err = sizes.find(ctx, t, func(tries float64, size string) { meter.Set(tries, size) })
	meter.End()
	if err != nil {
		return a, fmt.Errorf("accel: Advise: %w", err)
	}
	adviser := &adviser{ctx: ctx, training: t, batch: o.BatchSize}
	err = adviser.run(a, o, sizes.Size)
	return a, errors.Join(err, start.Restore(t.Model))
}

// adviser runs the trials for one model.
type adviser struct {
	ctx      context.Context
	training Training
	batch    int
	steps    int
}

// change is a change to be tried.
type change struct {
	tried *Trial
	set   *data.Dataset
	make  func(*loop.Settings) // nil for none
	batch int
}

func (v *adviser) run(a *Advice, o *loop.Settings, size int) error {
	train := v.training.Dataset
	faster := []change{{tried: &Trial{}, set: train, batch: v.batch}}
	if size > 0 && size != v.batch {
		faster = append(faster, change{&Trial{Change: fmt.Sprintf("BatchSize(%d)", size), Note: "fewer updates per epoch: compare the resulting loss"}, train, func(c *loop.Settings) { c.BatchSize = size }, size})
	}
	workers := 2 * max(1, o.Workers)
	faster = append(faster, change{&Trial{Change: fmt.Sprintf("Workers(%d)", workers)}, train, func(c *loop.Settings) { c.Workers = workers }, v.batch})
	resident := &Trial{Change: "train.OnDevice()"}
	on, err := train.OnDevice()
	if err != nil {
		resident.Err, on = err, nil
	}
	faster = append(faster, change{resident, on, nil, v.batch})
	if !o.Amp && !o.TrainsOnCPU() { // the CPU has no 16-bit matrix multiplication
		faster = append(faster, change{&Trial{Change: "AMP()", Note: "16-bit matrix multiplication"}, train, func(c *loop.Settings) { c.Amp, c.Precision = true, 0 }, v.batch})
	}
	gpus, _ := tensors.GPUs() // Devices reports why there are none
	for _, g := range gpus {
		if g.Device != tensors.Device() {
			faster = append(faster, change{&Trial{Change: fmt.Sprintf("On(%q)", g.Device), Note: g.Name}, train, func(c *loop.Settings) { c.Device = g.Device }, v.batch})
		}
	}
	smaller := change{&Trial{Change: "Recompute()"}, train, func(c *loop.Settings) { c.Recompute = true }, v.batch}
	err = v.measure(append(faster, smaller))
	for _, t := range faster {
		a.Trials = append(a.Trials, *t.tried)
	}
	a.Memory = []Trial{*smaller.tried}
	return err
}

// measure runs the trials in interleaved rounds.
func (v *adviser) measure(trials []change) error {
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

// pace determines the number of steps of a trial.
func (v *adviser) pace(t change) error {
	speed, _, err := v.try(t, trySteps)
	if err != nil {
		return fmt.Errorf("accel: Advise: %w", err)
	}
	v.steps = min(max(int(adviceSeconds*speed/float64(v.batch)), trySteps), maxTrialSteps)
	return nil
}

// try trains for some steps, after warm-up steps that plan and allocate. Larger batches take
// fewer steps, so that each trial sees about the same number of examples.
func (v *adviser) try(t change, steps int) (speed float64, peak int, err error) {
	steps = max(trySteps, steps*v.batch/t.batch)
	run, err := v.training.fit(v.ctx, t.set, func(c *loop.Settings) {
		if t.make != nil {
			t.make(c)
		}
		c.Steps = tryWarmUp + steps
		c.Accumulate, c.NeedsValidation, c.Schedule = 1, false, nil
	})
	if err := unlessDiverged(err); err != nil {
		return 0, 0, err
	}
	return speedAfter(run, tryWarmUp), run.Card().PeakBytes, nil
}

// better reports whether each round with the change was faster than each round without.
func (a *Advice) better(t Trial) bool {
	base := a.Trials[0].Speeds
	return len(t.Speeds) > 0 && len(base) > 0 && slices.Min(t.Speeds) > slices.Max(base) && t.Speed() > minSpeedup*a.Trials[0].Speed()
}

// unsure reports whether the median was faster, but not each round.
func (a *Advice) unsure(t Trial) bool {
	return len(t.Speeds) > 0 && !a.better(t) && t.Speed() > minSpeedup*a.Trials[0].Speed()
}

// Recommendation says which change to use, in a sentence.
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
			text := fmt.Sprintf("%s: %.1f× the examples per second", t.Change, t.Speed()/base.Speed())
			if t.Note != "" {
				text += " (" + t.Note + ")"
			}
			on = append(on, text)
		}
	}
	sentence := "No trial was faster."
	switch {
	case len(on) > 0:
		sentence = "Use " + strings.Join(on, "; ") + "."
	case len(perhaps) > 0:
		sentence = "No trial was clearly faster."
	}
	if len(perhaps) > 0 {
		sentence += " Perhaps faster: " + strings.Join(perhaps, ", ") + "; not every round was faster, so measure again while the machine is otherwise idle."
	}
	for _, t := range a.Memory {
		if t.Err == nil && len(t.Speeds) > 0 && t.PeakBytes < base.PeakBytes*9/10 {
			sentence += fmt.Sprintf(" If memory is short: %s needs %s instead of %s, at %.2f× the speed.", t.Change, quantity.Bytes(t.PeakBytes), quantity.Bytes(base.PeakBytes), t.Speed()/base.Speed())
		}
	}
	return sentence
}

// Report returns the table.
func (a *Advice) Report() *display.Report {
	out := new(display.Report).Table("change", "examples/s", "", "memory", "")
	var base float64
	for i, x := range append(slices.Clone(a.Trials), a.Memory...) {
		if i == 0 {
			base = x.Speed()
		}
		row := []any{x.Change, quantity.Rate(x.Speed()), fmt.Sprintf("%.2f×", x.Speed()/base), quantity.Bytes(x.PeakBytes), ""}
		switch {
		case i == 0:
			row[0], row[2] = "unchanged", ""
		case x.Err != nil:
			row[1], row[2], row[3], row[4] = "–", "", "", x.Err.Error()
		case a.better(x):
			row[4] = "faster"
		case a.unsure(x):
			row[4] = "perhaps"
		}
		out.Row(row...)
	}
	return out.Text(a.Recommendation())
}

// String returns the table as text.
func (a *Advice) String() string { return a.Report().String() }
