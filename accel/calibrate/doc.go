// Package calibrate turns scores of a trained classifier into probabilities and decisions, from examples that
// it was not trained with.
//
//	Platt        a sigmoid of the score: few examples, or scores of a margin
//	Isotonic     a rising step function of the score: a thousand examples or more
//	Temperature  one factor for the logits of several classes, which changes no decision
//	BestF        the threshold with the highest F-score
//	Cheapest     the threshold with the lowest cost of false alarms and misses
//
// Probabilities are calibrated if, of the examples with a probability of 30 %, 30 % are positive; metrics.ECE
// and plots.Calibration show whether they are. Examples that determine a calibration or a threshold say nothing
// about how good it is: measure that with others.
package calibrate
