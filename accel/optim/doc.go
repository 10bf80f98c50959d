// Package optim changes parameters so that a loss falls: [AdamW], [Adam],
// [SGD], [Muon] and [LAMB], schedules of the learning rate, the clipping of
// gradients, and for 16-bit floats the scaling of the loss by a [Scaler].
//
// accel.Fit uses it; a loop of one's own is
//
//	opt := optim.AdamW(model, 1e-3)
//	for it := train.Batches(256); it.Next(); {
//		b := it.Batch()
//		loss := nn.CrossEntropy(model.Forward(b.X), b.Y)
//		opt.ZeroGrad()
//		loss.Backward()
//		opt.Step()
//	}
//
// An update is recorded as tensor operations behind those of the backward
// pass, and Step runs them as one list: they are fused and planned together.
// What changes from step to step, the learning rate and AdamW's corrections,
// is a number of the plan, so that one plan serves all steps.
//
// The formulas are tested against PyTorch's.
//
// # For who changes this package
//
// An optimiser is one file: its formula as a comment, its constructor, and a
// rule that records the update. All tensors on the way go into the record that
// the rule is given, which releases them; what is given to Assign does not,
// since it becomes the tensor's value. TestOnePlan fails where a number that
// changes from step to step has become part of the plan.
package optim
