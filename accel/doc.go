// Package accel trains, evaluates and applies models.
//
//	train, test, err := data.Digits()
//	model := nn.Sequential(nn.Flatten(), nn.Dense(128), nn.ReLU(), nn.Dense(10))
//	run, err := accel.Fit(ctx, model, train,
//		accel.Epochs(20), accel.AdamW(3e-3), accel.Validate(test), accel.Live())
//
// [Fit] trains a model, [Evaluate] measures its loss and accuracy, [Predict] and
// [PredictDataset] apply it. [Seed] makes all of them reproducible bit for bit. Options select
// what Fit does; each of them prints as Go code, and without any Fit trains with reasonable
// defaults. The [Run] that Fit returns has the whole history and displays itself as a figure.
//
// # What else there is
//
//   - [Resume] saves a training to a file and continues it from there, for instance after the
//     process was killed.
//   - [AMP] trains with 16-bit or 8-bit floats, [Recompute] with less memory, and [DataParallel]
//     on several GPUs or machines.
//   - [Track] and [TensorBoard] record a run in files; [Runs] compares recorded runs. [Run.Card]
//     describes a run in JSON.
//   - [FindLR] suggests a learning rate, [FindBatchSize] a batch size; [Advise] measures what
//     makes a training faster or smaller.
//   - [Compare] trains variants with several seeds and compares them.
//   - [Generate] continues a sequence of tokens.
//   - [Observe] registers an [Observer], which is called at the beginning and the end and after
//     each step, validation and epoch, and may end the training.
//
// Package baseline fits simple models to compare with, and explain shows what a model uses.
// Package onnx exports models for ONNX Runtime. To write your own training loop, use the
// packages below this one: data for batches, nn for modules, tensor for computations, and optim
// for updates.
//
// # Errors
//
// Fit, Evaluate and Predict return errors. If a layer cannot take the shape of its input, the
// error names the layer and wraps a [*tensor.ShapeError]. If the loss becomes NaN or infinite, Fit
// returns a [*DivergedError]. If the context is done, they return its error, and Fit also
// returns the run so far. A panic that does not come from a tensor operation is a bug in the
// model; it is not recovered.
//
// # Live figures
//
// With [Live] a run is drawn while it goes on, in one output that is updated in place. A
// separate goroutine draws snapshots of the run; it ends with Fit, and the training never waits
// for it.
package accel
