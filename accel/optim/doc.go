// Package optim updates the parameters of a model: optimizers ([AdamW], [Adam], [SGD], [Muon],
// [LAMB], [RMSprop], [Adagrad], [Lion], [NAdam], [LBFGS]), learning-rate schedules, gradient clipping,
// and loss scaling for float16
// ([GradScaler]).
//
// accel.Fit uses it. A training loop of your own looks like this:
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
// Step records the update as tensor operations after those of the backward pass and runs them
// as one list, so that they are fused and planned together. Values that change from step to
// step, such as the learning rate and AdamW's bias corrections, are arguments of the plan, so
// that one plan serves all steps.
//
// Tests compare the formulas with PyTorch's.
//
// # To add an optimizer
//
// An optimizer is one function: its formula as a comment, the options that it takes, and a rule that
// records the update. The rule adds all intermediate tensors to the record that it gets, which releases
// them, but not the tensors that it passes to Assign, which become values of parameters.
// TestOnePlan fails if a value that changes from step to step has become a constant of the
// plan.
package optim
