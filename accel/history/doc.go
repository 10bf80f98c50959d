// Package history contains the course of a training: the [Run] with its steps, epochs and validations, which package accel
// returns, and how it is displayed, described ([Card]), recorded in files ([Track], [TensorBoard]) and compared ([Runs]).
//
// Programs that train with accel.Fit seldom import it. A training loop of your own can: a [Recorder] records its run, and an
// [Output] shows or saves the run while it grows.
package history
