// Package prune takes weights out of models.
//
//	masks, err := prune.Magnitude(model, 0.7)                    // the smallest 70 % are zero
//	run, err := accel.Fit(ctx, model, train, masks.Hold(), …)    // and stay so in training
//
//	schedule, err := prune.Gradual(model, 0.9, prune.Until(1000))
//	run, err := accel.Fit(ctx, model, train, schedule.Hold(), …) // more and more of them
//
//	cut, err := prune.Channels(model, x, 0.5)                    // really smaller tensors
//
//	report, err := prune.Compare(ctx, test, dense, model)
//
// [Magnitude], [Pattern] and [Gradual] set weights to zero. A zero is multiplied as any
// other number is: such a model is not faster here, and its file not smaller until
// something packs it. [Channels] removes filters with all that belongs to them, and
// what is left is a smaller model that is trained, saved and quantised as any other.
// [Compare] says both, in numbers: the floating-point operations that are left, and
// the time that they take.
//
// Weights of linear layers, convolutions and the input projections of attention are
// pruned; biases, norms and embeddings are not.
package prune
