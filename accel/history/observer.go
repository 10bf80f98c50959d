package history

import (
	"errors"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

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
