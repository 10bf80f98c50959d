// Package accel trains models.
//
//	train, test, err := data.Digits()
//	model := nn.Sequential(nn.Flatten(), nn.Dense(128), nn.ReLU(), nn.Dense(10))
//	run, err := accel.Fit(ctx, model, train,
//		accel.Epochs(20), accel.AdamW(3e-3), accel.Validate(test), accel.Live())
//
// [Fit] trains, [Evaluate] measures, [Predict] and [PredictDataset] apply a model;
// [Seed] makes all of them repeatable, bit for bit. What Fit does is chosen by
// options, each of them printable; without any it trains with defaults that
// work. The [Run] that it returns has the whole history and shows itself as a
// figure.
//
// [Resume] keeps a training in a file, so that a process that was killed goes on
// where it was; [AMP] trains with 16-bit floats; [TensorBoard] writes event
// files, and [Run.Card] says in JSON what a run was. Before a training [FindLR]
// and [FindBatchSize] look for its numbers, and [Compare] sets ways to train
// beside each other, over several seeds. [Generate] lets a model of sequences
// write. Package onnx writes models for onnxruntime.
//
// [Observe] registers an [Observer]: its methods are called at the beginning, after steps,
// validations and epochs, and at the end, and may end the training.
//
// A loop of one's own is written with the packages underneath: data for
// examples, nn for modules, tensor for mathematics, optim for updates.
//
// # Errors
//
// Fit, Evaluate and Predict return what goes wrong. A shape that does not fit
// is a [*ShapeError] behind the name of the layer, a loss that is no longer a
// number a [*DivergedError]; when the context is done they return its error,
// and Fit the run so far. A panic that is not about tensors is a bug in a
// model, and passes.
//
// # Live figures
//
// With [Live] a run is drawn while it goes on, in one output that changes in
// place. Drawing has a goroutine of its own, which sees a snapshot and ends
// with Fit; the training never waits for it.
package accel
