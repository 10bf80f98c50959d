package accel

import (
	"context"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/nn"
)

// Fit trains a model on a data set. Without options it trains for five epochs in batches of 64
// examples with AdamW at a learning rate of 1e-3.
//
// Each epoch uses the examples in a different order, which [Seed] determines. Fit puts the
// model into training mode and leaves it there.
//
// Fit returns the run so far also with an error: the error of ctx when ctx is done;
// [*DivergedError] when the loss becomes NaN or infinite; an error that names the layer and
// wraps [*tensor.ShapeError] when the model cannot take the examples. [*data.MismatchError] names a class,
// column or target whose index in the data set differs from that in the validation set, or in the
// data set that the model was trained with before.
//
// Only one Fit runs at a time: while it runs, a second one returns [ErrBusy]. Other goroutines
// may meanwhile evaluate and apply other models, which does not affect the training. They must
// not use the model that is being trained, since it is in training mode.
func Fit(ctx context.Context, model nn.Module, train *data.Dataset, options ...Option) (*Run, error) {
	settings, err := newOptions(options)
	if err != nil {
		return &Run{Best: -1}, loop.Reject(ctx, settings.Group, err)
	}
	return loop.Fit(ctx, model, train, settings)
}
