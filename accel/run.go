package accel

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/gpu"
)

// Run is what happened during training. It shows itself: a figure of loss and
// accuracy, and in text its summary. After [Live], whose figure is on the page
// already, it shows a table of the epochs and where the time went instead;
// [Run.Figure] draws it again.
type Run struct {
	Dataset string   // the name of the training set
	Options []string // the options as they were given
	Seed    uint64   // of the order of the examples

	Steps       []Step       // every update of the parameters
	Epochs      []Epoch      // every pass over the set; the last may be incomplete
	Validations []Validation // every validation
	// Best is the index in Checks of the lowest loss, or -1 without validation.
	Best int
	// Notes says in words what happened by rule: precision that was not to be
	// had, an early end, weights that were restored.
	Notes []string

	Examples int    // seen in training, on all ranks, counted again in each epoch
	Ranks    int    // processes that trained together; 1 without DataParallel
	Time     Timing // where the time went
	// Use is how busy the machine was, if Live asked for it.
	Utilization gpu.History
	// Others are the same of the GPUs of further ranks on this machine.
	OtherUtilization []gpu.History

	device     string   // that computed
	nccl       string   // what added up gradients on the GPUs of ranks; "" where the hosts did
	streamSeed uint64   // of the random numbers
	outputs    []string // those of Options that only show or keep the run
	peakBytes  int

	planned  int // updates that were to be made
	finished bool
	restored bool     // the weights are those of the best check
	classes  bool     // the set has classes, no targets
	metrics  []Metric // to draw besides loss and accuracy
	drawn    bool     // Live has put the figure on the page

	began       time.Time
	epochStarts []time.Time // and at last the end
}

// Step is one update of the parameters.
type Step struct {
	Epoch        int     // from 1
	Loss         float64 // mean over the examples of the step
	Accuracy     float64 // share of right answers, NaN for regression
	LearningRate float64
	Seconds      float64 // since the start of training
	// Skipped says that the gradients of float16 were infinite or NaN, so that
	// the parameters were left as they are.
	Skipped bool
	// LossScale is by what the loss of the step was multiplied for its gradients;
	// 0 without AMP(FP16).
	LossScale float64
}

// Epoch is one pass over the training set.
type Epoch struct {
	Steps    int     // updates since the start of training, at the end of the epoch
	Loss     float64 // mean over the examples of the epoch, as they were met
	Accuracy float64 // likewise; NaN for regression
	Seconds  float64 // of this epoch, with its validation

	began, ended time.Time // in this process; zero of those before it was resumed
}

// Validation is one validation.
type Validation struct {
	Step     int // updates before it
	Epoch    int // from 1
	Loss     float64
	Accuracy float64 // NaN for regression
}

// Timing says where the time of a run went.
type Timing struct {
	Total      time.Duration
	Waiting    time.Duration // for batches
	Computing  time.Duration // forward, backward and update
	Validating time.Duration
	// Exchanging is the part of Computing in which this rank waited for the gradients
	// of others, and for what layers measure over all ranks; Exchanged is how long they
	// were on their way, most of it while gradients were computed where there is much to
	// compute. What GPUs add up by themselves is not in either: prof.Run measures that.
	CommunicationWait, Communication time.Duration
}

// Loss returns the validation loss of the model as training has left it, or without
// validation the mean training loss of the last epoch. It is NaN when nothing
// was measured.
func (r *Run) Loss() float64 {
	loss, _ := r.outcome()
	return loss
}

// Accuracy returns the share of right answers that belongs to [Run.Loss], from 0 to
// 1. It is NaN for regression.
func (r *Run) Accuracy() float64 {
	_, accuracy := r.outcome()
	return accuracy
}

func (r *Run) outcome() (loss, accuracy float64) {
	switch {
	case len(r.Validations) > 0:
		c := r.Validations[len(r.Validations)-1]
		if r.restored {
			c = r.Validations[r.Best]
		}
		return c.Loss, c.Accuracy
	case len(r.Epochs) > 0:
		e := r.Epochs[len(r.Epochs)-1]
		return e.Loss, e.Accuracy
	}
	return math.NaN(), math.NaN()
}

// ExamplesPerSecond returns the speed of training without validation.
func (r *Run) ExamplesPerSecond() float64 {
	return float64(r.Examples) / (r.Time.Total - r.Time.Validating).Seconds()
}

// String returns the run in one line.
func (r *Run) String() string {
	if r == nil || len(r.Steps) == 0 {
		return "no steps"
	}
	parts := []string{plural(len(r.Epochs), "epoch") + ", " + plural(len(r.Steps), "step")}
	loss, accuracy := r.outcome()
	which := "training"
	if len(r.Validations) > 0 {
		which = "validation"
	}
	parts = append(parts, fmt.Sprintf("%s loss %s", which, number(loss)))
	if !math.IsNaN(accuracy) {
		parts = append(parts, "accuracy "+percent(accuracy))
	}
	if r.Best >= 0 && r.Best < len(r.Validations)-1 {
		best := r.Validations[r.Best]
		parts = append(parts, fmt.Sprintf("best %s in epoch %d", number(best.Loss), best.Epoch))
	}
	return strings.Join(append(parts, seconds(r.Time.Total)), ", ")
}

func (r *Run) share(d time.Duration) string {
	if r.Time.Total <= 0 {
		return percent(0)
	}
	return fmt.Sprintf("%.0f %%", 100*d.Seconds()/r.Time.Total.Seconds())
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// number has four digits that count, so that the decimal points of a column stand below
// each other: 0.3400 and not 0.34.
func number(v float64) string {
	text := fmt.Sprintf("%.4g", v)
	if size := math.Abs(v); size >= 1e-3 && size < 1000 && !strings.Contains(text, "e") {
		text = strings.TrimSuffix(fmt.Sprintf("%#.4g", v), ".")
	}
	return text
}

// seconds returns a duration as a person says it.
func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// quantity returns a number without more digits than a reader wants.
func quantity(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case v >= 1e6:
		return fmt.Sprintf("%.2f M", v/1e6)
	case v >= 1e4:
		return display.Integer(int(math.Round(v/100)) * 100)
	}
	return fmt.Sprintf("%.0f", v)
}

// note says in words what was done by rule.
func (r *Run) note(format string, values ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, values...))
}

// checked reports whether the newest step has been validated.
func (r *Run) checked() bool {
	n := len(r.Validations)
	return n > 0 && r.Validations[n-1].Step == len(r.Steps)
}

// noteError says with what error the training ended.
func (r *Run) noteError(err error) {
	var diverged *DivergedError
	switch {
	case errors.As(err, &diverged):
		r.note("stopped: the loss of step %d is %v", diverged.Step, diverged.Loss)
	case interrupted(err):
		r.note("interrupted in step %d of %d: %v", len(r.Steps)+1, r.planned, err)
	case err != nil:
		r.note("failed in step %d of %d", len(r.Steps)+1, r.planned)
	}
}
