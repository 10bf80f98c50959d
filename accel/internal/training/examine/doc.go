// Package examine recognizes typical mistakes in the set-up and in the course of a training, from what
// the training has computed anyway. Each finding is a sentence for the user: what was found, what it
// means, and what to do.
//
//	labels.go   classes, and examples of the validation set that were trained on
//	inputs.go   the scale and the layout of a batch
//	tape.go     layers in a row, probabilities as logits, and losses that broadcast
//	outputs.go  predictions of a batch
//	layers.go   units that are dead
//	course.go   the curve of the loss, gradients, and how far the weights moved
//
// A finding must be certain enough that a training which goes well has none: thresholds are far from
// what such trainings show.
package examine
