package history

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/gpu"
	"github.com/quernlab/quern/internal/quantity"
)

// Run is the history of a training. It displays itself as a figure of loss and accuracy, and in
// text as its summary. If [Live] has already drawn the figure, Run displays a table of the
// epochs and of where the time went instead; [Run.Figure] draws the figure again.
type Run struct {
	Dataset string   // the name of the training set
	Options []string // the options as they were given
	Seed    uint64   // of the order of the examples

	Steps       []Step       // every update of the parameters
	Epochs      []Epoch      // every pass over the data set; the last may be incomplete
	Validations []Validation // every validation
	// Best is the index in Validations of the lowest loss, or see BestBy; -1 without validation.
	Best int
	// Notes describe in words what Fit did on its own: a precision that the device does not
	// support, an early end, weights that were restored; and typical mistakes, as accel.Check lists them.
	Notes []string

	Planned  int    // number of updates that were planned
	Examples int    // examples trained on by all ranks; each epoch counts again
	Ranks    int    // number of processes that trained together; 1 without DataParallel
	Time     Timing // where the time went
	// Utilization is how busy the machine was, if Live or Track recorded it.
	Utilization gpu.History
	// OtherUtilization is the same for the GPUs of the other ranks on this machine.
	OtherUtilization []gpu.History

	state runState
	drawn bool // Live has displayed the figure
}

// Setup is what is known of a training before its first step, for [NewRecorder].
type Setup struct {
	Dataset string   // name of the training set
	Classes bool     // the examples have classes, not targets
	Options []string // as Go code, for Run.Options
	Outputs []string // those of the options that only show or save the run
	Seed    uint64   // of the order of the examples
	Planned int      // number of updates
	Live    []Metric // what the figure shows besides loss and accuracy
	Average bool     // validations measure an average of the parameters
	Watts   float64  // power that is assumed where no device reports it; 0 for none

	Ranks, LocalRanks int // processes that train together, and those of them on this machine
}

// runState is what else is known of a run. Its fields are exported for package gob.
type runState struct {
	Setup
	Findings    []string // the notes on typical mistakes, which the figure shows too
	Device      string   // the device that computed
	NCCL        string   // the library that added the gradients on the GPUs of the ranks; "" if the CPUs did
	StreamSeed  uint64   // of the random numbers
	PeakBytes   int
	Finished    bool
	Restored    bool // the weights are those of the best validation
	Diverged    bool // it ended with a DivergedError
	Began       time.Time
	EpochStarts []time.Time // and finally the end
}

// Step is one update of the parameters.
type Step struct {
	Epoch        int     // from 1
	Loss         float64 // mean over the examples of the step
	Accuracy     float64 // share of correct predictions; NaN if the outputs are no scores of classes, or a prediction is NaN
	LearningRate float64 // of this update
	Seconds      float64 // since the start of training
	// Skipped reports that the float16 gradients overflowed, so that the parameters were not
	// updated.
	Skipped bool
	// LossScale is the factor by which the loss was multiplied before the backward pass; 0
	// without AMP(FP16).
	LossScale float64
	// GradNorm is the total L2 norm of the gradients before they were clipped; 0 without RecordGradNorm.
	GradNorm float64
}

// Epoch is one pass over the training set.
type Epoch struct {
	Steps int // updates since the start of training, at the end of the epoch
	// Loss is the mean over the examples of the epoch, each measured when it was trained on. It leaves out steps that were
	// skipped with a loss that is not finite; it is NaN if there are no others.
	Loss     float64
	Accuracy float64 // as Loss; NaN for regression
	Seconds  float64 // of this epoch, including its validation

	began, ended time.Time // in this process; zero for epochs before the training was resumed
}

// Validation is one validation.
type Validation struct {
	Step     int           // updates before the validation
	Epoch    int           // from 1
	Loss     float64       // mean over the examples of the validation set
	Accuracy float64       // NaN for regression
	Metrics  []MetricValue // values of option Metrics
}

// Metric returns the value of the metric of option Metrics with a name, such as "F1 (macro)". It is NaN if there is none.
func (v Validation) Metric(name string) float64 { return valueOf(v.Metrics, name) }

// Timing is where the time of a run went.
type Timing struct {
	Total      time.Duration // from the start to the end of the training
	Waiting    time.Duration // for batches
	Computing  time.Duration // forward, backward and update
	Validating time.Duration // on the validation set
	// CommunicationWait is the part of Computing in which this rank waited for other ranks: for
	// their gradients and for the statistics of SyncBatchNorm. Communication is the total time
	// of these transfers, most of which overlaps with the backward pass. Neither includes what
	// GPUs reduce by themselves (NCCL); prof.Run measures that.
	CommunicationWait, Communication time.Duration
}

// Loss returns the validation loss of the model with the weights that training left it with; with EMA
// it is that of their average.
// Without validation it is the mean training loss of the last epoch. It is NaN if nothing was
// measured, and if the training ended with a [*DivergedError].
func (r *Run) Loss() float64 {
	loss, _ := r.outcome()
	return loss
}

// Accuracy returns the accuracy that belongs to [Run.Loss], from 0 to 1. It is NaN for
// regression.
func (r *Run) Accuracy() float64 {
	_, accuracy := r.outcome()
	return accuracy
}

// Metrics returns the values of the metrics of option Metrics that belong to [Run.Loss].
func (r *Run) Metrics() []MetricValue {
	if len(r.Validations) == 0 || r.state.Diverged {
		return nil
	}
	return slices.Clone(r.final().Metrics)
}

// Metric returns the value among [Run.Metrics] with a name, such as "F1 (macro)". It is NaN if
// there is none.
func (r *Run) Metric(name string) float64 { return valueOf(r.Metrics(), name) }

// hasAccuracy reports whether the accuracy is shown: that of a data set with classes, unless no step has one.
func (r *Run) hasAccuracy() bool {
	known := func(s Step) bool { return !math.IsNaN(s.Accuracy) }
	return r.state.Classes && (len(r.Steps) == 0 || slices.ContainsFunc(r.Steps, known))
}

// final returns the validation of the weights that training left the model with.
func (r *Run) final() Validation {
	if r.state.Restored {
		return r.Validations[r.Best]
	}
	return r.Validations[len(r.Validations)-1]
}

func (r *Run) outcome() (loss, accuracy float64) {
	switch {
	case r.state.Diverged: // what was measured before says nothing of the model
	case len(r.Validations) > 0:
		c := r.final()
		return c.Loss, c.Accuracy
	case len(r.Epochs) > 0:
		e := r.Epochs[len(r.Epochs)-1]
		return e.Loss, e.Accuracy
	}
	return math.NaN(), math.NaN()
}

// Diverged reports whether the training ended with a [*DivergedError].
func (r *Run) Diverged() bool { return r.state.Diverged }

// ExamplesPerSecond returns the training throughput, without the time of validation.
func (r *Run) ExamplesPerSecond() float64 {
	return float64(r.Examples) / (r.Time.Total - r.Time.Validating).Seconds()
}

// String describes the run in one line.
func (r *Run) String() string {
	if r == nil || len(r.Steps) == 0 {
		return "no steps"
	}
	parts := []string{quantity.Plural(len(r.Epochs), "epoch") + ", " + quantity.Plural(len(r.Steps), "step")}
	loss, accuracy := r.outcome()
	which := "training"
	if len(r.Validations) > 0 {
		which = "validation"
	}
	if r.state.Average && which == "validation" {
		which = "validation (EMA)"
	}
	if r.state.Diverged {
		parts = append(parts, "diverged")
	} else {
		parts = append(parts, fmt.Sprintf("%s loss %s", which, quantity.Number(loss)))
	}
	if !math.IsNaN(accuracy) {
		parts = append(parts, "accuracy "+quantity.Percent(accuracy))
	}
	for _, v := range r.Metrics() {
		parts = append(parts, v.Name+" "+v.text())
	}
	if r.Best >= 0 && r.Best < len(r.Validations)-1 {
		best := r.Validations[r.Best]
		parts = append(parts, fmt.Sprintf("best %s in epoch %d", quantity.Number(best.Loss), best.Epoch))
	}
	return strings.Join(append(parts, quantity.Elapsed(r.Time.Total)), ", ")
}

func (r *Run) share(d time.Duration) string {
	if r.Time.Total <= 0 {
		return quantity.Percent(0)
	}
	return fmt.Sprintf("%.0f %%", 100*d.Seconds()/r.Time.Total.Seconds())
}

// progress returns the progress of the run.
func (r *Run) progress() display.Progress {
	p := display.Progress{Done: float64(len(r.Steps)), Total: float64(r.Planned), Ended: r.state.Finished}
	if n := len(r.Steps); n > 0 {
		s := r.Steps[n-1]
		p.Passed = time.Duration(s.Seconds * float64(time.Second))
		p.Note = fmt.Sprintf("epoch %d, loss %s", s.Epoch, quantity.Number(s.Loss))
	}
	return p
}

// sentRun is a run as one process sends it to another: without the utilization of the machine, which stays with
// the process that recorded it.
type sentRun struct {
	Run   exportedRun
	State runState
}

// exportedRun is a Run without methods: package gob sends its exported fields.
type exportedRun Run

// GobEncode encodes the run for another process, without Utilization.
func (r *Run) GobEncode() ([]byte, error) {
	s := sentRun{exportedRun(*r), r.state}
	s.Run.Utilization, s.Run.OtherUtilization = gpu.History{}, nil
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(s)
	return b.Bytes(), err
}

// GobDecode decodes a run that GobEncode has encoded.
func (r *Run) GobDecode(b []byte) error {
	var s sentRun
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&s); err != nil {
		return err
	}
	*r = Run(s.Run)
	r.state = s.State
	return nil
}

// MissingParametersError reports that a model computes with parameters that nn.Parameters does
// not find in it, so that no optimizer would update them: those of layers that a function
// captures, for instance.
type MissingParametersError struct {
	Shapes [][]int // of the missing parameters
	Found  int     // number of parameters that were found in the model
}

// Error lists the shapes of the missing parameters and says how nn.Parameters can find them.
func (e *MissingParametersError) Error() string {
	return fmt.Sprintf("accel: nn.Parameters finds %s in the model, but the model also computes with %s that it does not find, of shape %s: "+
		"training would not update these. Keep layers in fields of the model, pass the layers that a function uses to nn.Lambda (nn.Lambda(f, layer, …)), or freeze them with nn.Freeze",
		quantity.Plural(e.Found, "parameter"), quantity.Plural(len(e.Shapes), "parameter"), shapesText(e.Shapes))
}

// shapesText lists the first few shapes.
func shapesText(shapes [][]int) string {
	const most = 3
	text := fmt.Sprint(shapes[:min(most, len(shapes))])
	text = text[1 : len(text)-1]
	if len(shapes) > most {
		text += " …"
	}
	return text
}

// DivergedError reports that the loss of a step was NaN or infinite. The model has the weights
// from before that step.
type DivergedError struct {
	Step int     // from 1
	Loss float64 // NaN or infinite
	// Dataset is the name of the training set. Examples are the indices of the examples in the
	// batch that are not finite; empty if all are finite.
	Dataset  string
	Examples []int // in the data set
	// Tensor is the first tensor of the step that is not finite: "example 17 of" with the name
	// of the data set and the position in the example, the name of a model tensor as in
	// nn.State, or "the output of" an op with its layer; "" if it could not be found.
	Tensor string
	// Found has details of Tensor, or is nil.
	Found *tensor.NonFinite
}

// Error names the step, the cause if it was found, and what to try.
func (e *DivergedError) Error() string {
	if len(e.Examples) > 0 {
		return fmt.Sprintf("accel: the loss of step %d is %v because %s: correct the data, or remove such examples", e.Step, e.Loss, e.Tensor)
	}
	where := ""
	if e.Tensor != "" {
		where = fmt.Sprintf("; the first tensor that is not finite is %s", e.Tensor)
	}
	return fmt.Sprintf("accel: the loss of step %d is %v%s: try a lower learning rate, a longer warm-up or ClipGradNorm", e.Step, e.Loss, where)
}

// Status is the state of a run that [Track] recorded.
type Status string

// The states of a run.
const (
	Finished    Status = "finished"
	Interrupted Status = "interrupted" // its context was done
	Diverged    Status = "diverged"    // its loss became NaN or infinite
	Failed      Status = "failed"      // it ended with another error
	Unfinished  Status = "unfinished"  // it is still running, or its process was killed
	Unreadable  Status = "unreadable"  // one of its files is damaged or not from Track
)

// statusOf returns the status of a run that ended with err.
func statusOf(err error) Status {
	_, diverged := errors.AsType[*DivergedError](err)
	switch {
	case err == nil:
		return Finished
	case diverged:
		return Diverged
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Interrupted
	}
	return Failed
}
