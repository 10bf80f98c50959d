// Package errors implements the generic function of the standard package errors for interpreted code.
package errors

import "errors"

// AsType finds the first error in err's tree that is an E, by errors.As.
func AsType[E error](err error) (E, bool) {
	var target E
	if errors.As(err, &target) {
		return target, true
	}
	var none E
	return none, false
}
