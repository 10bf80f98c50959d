package accel

import (
	"errors"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// locateIndex returns an error of an index that is out of range with the layer that caused it, and
// other errors unchanged. Indices are read after the layers have run, so it runs the model again
// with forward.
func locateIndex(err error, forward func()) error {
	var index *tensor.IndexError
	var layer *nn.LayerError
	if !errors.As(err, &index) || errors.As(err, &layer) {
		return err
	}
	again := func() (err error) {
		defer nn.Catch(&err)
		tensor.NoGrad(func() { tensor.FlushScopes(forward) })
		return nil
	}()
	if errors.As(again, &index) && errors.As(again, &layer) {
		return again
	}
	return err
}
