// Package prune removes weights from models.
//
//	masks, err := prune.Magnitude(model, 0.7)                    // the smallest 70 % are zero
//	run, err := accel.Fit(ctx, model, train, masks.Hold(), …)    // and stay so in training
//
//	schedule, err := prune.Gradual(model, 0.9, prune.Until(1000))
//	run, err := accel.Fit(ctx, model, train, schedule.Hold(), …) // more and more of them
//
//	cut, err := prune.Channels(model, x, 0.5)                    // smaller tensors
//
//	report, err := prune.Compare(ctx, dense, model, test)
//
// [Magnitude], [Pattern] and [Gradual] set weights to zero. Multiplying by zero takes as long as by
// any other number: such a model is not faster, and its file is not smaller until it is compressed.
// [Channels] removes whole filters and everything that depends on them; the result is a smaller
// model that is trained, saved and quantized like any other. [Compare] measures both: the remaining
// floating-point operations and the time.
//
// The weights of linear layers, convolutions and the input projections of attention are pruned;
// biases, norms and embeddings are not.
package prune
