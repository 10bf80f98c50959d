package history

import (
	"errors"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Recorder records the run of a training loop. The loop calls its methods in the order of the training, and everyone
// else reads the [Run]. [accel.Fit] uses one; a loop of your own can, too:
//
//	r := history.NewRecorder(history.Setup{Dataset: train.Name(), Classes: true, Planned: steps, Ranks: 1, LocalRanks: 1})
//	r.Begin(time.Now())
//	r.BeginEpoch(time.Now())
//	r.Step(history.Step{Epoch: 1, Loss: loss, Accuracy: accuracy}, b.Len()) // for each batch
//	r.Finish(time.Since(start))
//	display.Show(r.Run())
//
// An [Output], such as that of [TensorBoard], shows or saves the run while it grows.
type Recorder struct{ run *Run }

// NewRecorder returns a recorder of a training on the current device, with the current random numbers.
func NewRecorder(s Setup) *Recorder {
	seed, _ := (*tensor.Generator)(nil).State()
	return &Recorder{&Run{
		Dataset: s.Dataset, Options: s.Options, Seed: s.Seed, Best: -1, Planned: s.Planned, Ranks: s.Ranks,
		state: runState{Setup: s, StreamSeed: seed, Device: tensors.Device()},
	}}
}

// Run returns the run, which grows with the training.
func (r *Recorder) Run() *Run { return r.run }

// Note adds a note on what the training did on its own.
func (r *Recorder) Note(format string, values ...any) {
	r.run.Notes = append(r.run.Notes, fmt.Sprintf(format, values...))
}

// Finding adds a note on a typical mistake, which the figure shows, too.
func (r *Recorder) Finding(text string) {
	r.Note("%s", text)
	r.run.state.Findings = append(r.run.state.Findings, text)
}

// Reduction records the library that adds the gradients of the ranks on their GPUs. Without it the CPUs do.
func (r *Recorder) Reduction(library string) { r.run.state.NCCL = library }

// Begin records when the first step begins, also of a training that is resumed.
func (r *Recorder) Begin(at time.Time) { r.run.state.Began = at }

// BeginEpoch records when an epoch begins.
func (r *Recorder) BeginEpoch(at time.Time) {
	r.run.state.EpochStarts = append(r.run.state.EpochStarts, at)
}

// Step adds an update of the parameters, and the number of examples of all ranks that it was computed from.
func (r *Recorder) Step(s Step, examples int) {
	r.run.Steps = append(r.run.Steps, s)
	r.run.Examples += examples
}

// Validation adds a validation. best reports that it is the best so far.
func (r *Recorder) Validation(v Validation, best bool) {
	if r.run.Validations = append(r.run.Validations, v); best {
		r.run.Best = len(r.run.Validations) - 1
	}
}

// Epoch adds the epoch that began last and ends now.
func (r *Recorder) Epoch(e Epoch) {
	e.began, e.ended = r.run.state.EpochStarts[len(r.run.state.EpochStarts)-1], time.Now()
	r.run.Epochs = append(r.run.Epochs, e)
}

// Peak records the highest number of bytes that the tensors took at once.
func (r *Recorder) Peak(bytes int) { r.run.state.PeakBytes = bytes }

// Restored records that the model got the weights of the best validation.
func (r *Recorder) Restored() { r.run.state.Restored = true }

// Finish records that the training has ended, after the given time since its start, which includes the time before it was
// resumed.
func (r *Recorder) Finish(total time.Duration) {
	r.run.state.Finished = true
	if r.run.state.Began.IsZero() {
		return
	}
	r.BeginEpoch(time.Now())
	t := &r.run.Time
	t.Total = total
	t.Computing = max(0, t.Total-t.Waiting-t.Validating)
}

// Failed adds a note on the error with which the training ended; nil for none.
func (r *Recorder) Failed(err error) {
	diverged, ok := errors.AsType[*DivergedError](err)
	switch {
	case ok:
		r.run.state.Diverged = true
		r.Note("stopped in step %d: the loss was %v", diverged.Step, diverged.Loss)
	case interrupt.Is(err):
		r.Note("interrupted in step %d of %d: %v", len(r.run.Steps)+1, r.run.Planned, err)
	case err != nil:
		r.Note("failed in step %d of %d", len(r.run.Steps)+1, r.run.Planned)
	}
}

// Observer follows a training; accel.Observe registers it. Fit calls its methods on its own
// goroutine, one after the other. A method may return [ErrStop] to end the training early as if
// it had been planned that way; any other error ends the training with that error. Embed
// [NopObserver] to implement only some of the methods.
//
// Fit reads the loss of a step while the next step is computed, so that a GPU does not wait.
// When Step is called, the parameters may therefore already be one update newer than s. When
// Validation and Epoch are called, they are those of the newest step.
type Observer interface {
	// Begin is called before the first step. If the training is resumed, t.Run has its history.
	Begin(t *Training) error
	// Step is called after the loss of a step has been read.
	Step(t *Training, s Step) error
	// Validation is called after each validation.
	Validation(t *Training, c Validation) error
	// Epoch is called after each pass over the data set, also after one that was interrupted or
	// stopped.
	Epoch(t *Training, e Epoch) error
	// End is called when the training has ended, with the error that Fit returns, nil for none.
	// The model has its final weights. If Begin was called, End is called exactly once, also
	// after an error and after a panic of the model, in reverse order of registration.
	End(t *Training, err error)
}

// Training is what an [Observer] knows of the training that it follows.
type Training struct {
	// Run is the history so far. Observers must not change it.
	Run        *Run
	Model      nn.Module     // with the weights of the last update
	Dataset    *data.Dataset // the training set
	TotalSteps int           // planned number of updates
}

// ErrStop is returned by a method of an [Observer] to end the training early. Fit then returns
// no error.
var ErrStop = errors.New("accel: an observer stopped the training")

// NopObserver is an [Observer] that does nothing. Embed it in observers that need only some of
// the methods.
type NopObserver struct{}

// Begin returns nil.
func (NopObserver) Begin(*Training) error { return nil }

// Step returns nil.
func (NopObserver) Step(*Training, Step) error { return nil }

// Validation returns nil.
func (NopObserver) Validation(*Training, Validation) error { return nil }

// Epoch returns nil.
func (NopObserver) Epoch(*Training, Epoch) error { return nil }

// End does nothing.
func (NopObserver) End(*Training, error) {}
