package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/quernlab/quern/accel"
)

// State is the state in which a trial ended.
type State string

// The states of a trial.
const (
	Finished    State = "finished"
	Stopped     State = "stopped"   // stopped early by Halving
	Diverged    State = "diverged"  // its value or a loss was not finite
	OutOfMemory State = "too large" // out of memory
)

// Trial is one call of the objective. It must only be used in the goroutine of the objective.
type Trial struct {
	Number   int       // from 1
	State    State     // empty while it runs
	Value    float64   // result of the objective; the last report of a stopped trial; NaN if the trial diverged or ran out of memory
	Settings []Setting // in the order of the requests
	Reports  []Report  // intermediate values, in order
	Seconds  float64   // of the objective

	random        *rand.Rand
	search        *Search
	stopped       bool
	sampler       sampler
	gridPositions []gridPosition       // of Grid
	gridStart     []gridPosition       // with which the trial began
	ranges        map[string]dimension // of the requests so far
	began         time.Time
}

// Setting is the value of a trial for a name.
type Setting struct {
	Name string // as in the request
	// Value is a float64, an int or a string.
	Value any
}

// Report is an intermediate value of a trial after this many units of work, such as epochs.
type Report struct {
	Unit  int     // from 1
	Value float64 // of the objective so far, such as a validation loss
}

// Float returns a number in a range, including both ends.
func (t *Trial) Float(name string, low, high float64) float64 {
	return t.request(name, dimension{kind: number, low: low, high: high}).(float64)
}

// LogFloat returns a number in a range of positive numbers, uniformly distributed on a
// logarithmic scale: a learning rate, for instance.
func (t *Trial) LogFloat(name string, low, high float64) float64 {
	return t.request(name, dimension{kind: logNumber, low: low, high: high}).(float64)
}

// Int returns an integer in a range, including both ends.
func (t *Trial) Int(name string, low, high int) int {
	return t.request(name, dimension{kind: whole, low: float64(low), high: float64(high)}).(int)
}

// Choice returns one of the given strings.
func (t *Trial) Choice(name string, words ...string) string {
	return t.request(name, dimension{kind: choice, words: slices.Clone(words), high: float64(len(words) - 1)}).(string)
}

// request returns the setting of a name, which stays the same within a trial. An invalid range, or
// another one than before in the trial, ends the search with a [*SettingError].
func (t *Trial) request(name string, d dimension) any {
	if err := d.check(); err != nil {
		panic(&SettingError{Name: name, Trial: t.Number, Reason: err.Error()})
	}
	if before, ok := t.ranges[name]; ok && (before.low != d.low || before.high != d.high) && before.like(d) {
		panic(&SettingError{Name: name, Trial: t.Number, Reason: fmt.Sprintf("its range is %g to %g here, but was %g to %g before in the same trial: use two names for two settings", d.low, d.high, before.low, before.high)})
	}
	for _, earlier := range []map[string]dimension{t.ranges, t.search.space} {
		if before, ok := earlier[name]; ok && !before.like(d) {
			panic(&SettingError{Name: name, Trial: t.Number, Reason: fmt.Sprintf("its range is %v here, but was %v before", d, before)})
		}
	}
	if t.ranges == nil {
		t.ranges = map[string]dimension{}
	}
	t.ranges[name] = d
	if v := t.Get(name); v != nil {
		return v
	}
	v := d.value(t.sampler.sample(t, name, d))
	t.Settings = append(t.Settings, Setting{name, v})
	return v
}

// Get returns the setting of a name, or nil if it was not requested.
func (t *Trial) Get(name string) any {
	for _, s := range t.Settings {
		if s.Name == name {
			return s.Value
		}
	}
	return nil
}

// Report records the value after one more unit of work, such as an epoch, and returns whether
// the trial should continue. False means that the trial is behind others or that the budget of
// the search is used up; the objective should then return its current value.
func (t *Trial) Report(value float64) bool {
	r := Report{Unit: len(t.Reports) + 1, Value: value}
	t.Reports = append(t.Reports, r)
	s := t.search
	s.running = len(t.Reports)
	if s.halving != nil && !s.halving.promotes(s, t) || s.budget > 0 && units(s.before(t))+len(t.Reports) >= s.budget {
		t.stopped = true
	}
	s.screen.offer(s)
	return !t.stopped
}

// Watch returns an option of accel.Fit that reports the loss of each validation or, without
// [accel.Validate], the mean training loss of each epoch but the last, and ends training when
// [Trial.Report] returns false.
func (t *Trial) Watch() accel.Option {
	seen := 0
	return accel.StopWhen(func(r *accel.Run) bool {
		more := true
		if len(r.Validations) > 0 {
			for ; seen < len(r.Validations); seen++ {
				more = t.Report(r.Validations[seen].Loss)
			}
		} else {
			for ; seen < len(r.Epochs); seen++ {
				more = t.Report(r.Epochs[seen].Loss)
			}
		}
		return !more
	})
}

// Seed returns a number that differs from trial to trial and is reproducible.
func (t *Trial) Seed() uint64 { return t.search.seed<<32 + uint64(t.Number) }

// String returns the trial in one line.
func (t *Trial) String() string {
	text := fmt.Sprintf("trial %d: %s", t.Number, formatValue(t.Value))
	if t.State != Finished && t.State != "" {
		text += " (" + string(t.State) + ")"
	}
	if len(t.Settings) > 0 {
		text += " with " + t.settings()
	}
	return text
}

// settings returns the settings as text.
func (t *Trial) settings() string {
	text := ""
	for i, s := range t.Settings {
		if i > 0 {
			text += ", "
		}
		text += s.String()
	}
	return text
}

// String returns the setting as "rate 0.01".
func (s Setting) String() string { return s.Name + " " + s.text() }

func (s Setting) text() string {
	switch v := s.Value.(type) {
	case nil:
		return "–" // it was not asked for
	case float64:
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprint(s.Value)
}

func formatValue(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf("%.4g", v)
}
