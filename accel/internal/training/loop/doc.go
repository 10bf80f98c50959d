// Package loop contains the training loop of accel.Fit, and what measures and applies models for it: accel.Evaluate and
// accel.Predict call that, too. The options of package accel fill in its [Settings].
//
// [Fit] has the epochs and steps. Below it are strategies, which say on which processes a step runs; the precision; the
// observers that belong to options, such as early stopping; and the core of evaluation and prediction.
package loop
