package metrics

import "fmt"

// UndefinedError reports that a metric has no value for the examples that were measured.
type UndefinedError struct {
	Metric string // its name
	Class  int    // the class or label without a value; -1 if it is not about one class
	Reason string // such as "there are no positive examples"
}

// Error names the metric and what is missing.
func (e *UndefinedError) Error() string {
	return fmt.Sprintf("metrics: %s is undefined: %s", e.Metric, e.Reason)
}

// NonFiniteError reports a prediction or target that has no meaning as a number: NaN or, for
// regression, also infinite.
type NonFiniteError struct {
	What    string  // "prediction", "target" or what is computed from them
	Example int     // from 0, in the order of the calls of Update; a token of a sequence is an example
	Value   float64 // NaN or infinite
}

// Error names the example.
func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("metrics: the %s of example %d is %v", e.What, e.Example, e.Value)
}

// TargetError reports a target that is not a class of the predictions.
type TargetError struct {
	Example int     // from 0, in the order of the calls of Update; a token of a sequence is an example
	Value   float64 // of the target
	Want    string  // what is allowed
}

// Error names the example, its target, and what is allowed.
func (e *TargetError) Error() string {
	return fmt.Sprintf("metrics: the target of example %d is %v, but it must be %s", e.Example, e.Value, e.Want)
}
