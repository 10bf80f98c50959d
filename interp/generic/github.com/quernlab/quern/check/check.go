// Package check implements our package of that name for interpreted code: only there types of cells are compared and shown
// like those of Go, and recover does not return what ends a cell.
package check

import (
	"fmt"
	"math"
	"reflect"

	"github.com/quernlab/quern/check"
)

func failBecause(reason string, message []any) {
	if text := fmt.Sprintln(message...); text != "\n" {
		reason = text[:len(text)-1] + ": " + reason
	}
	check.Fail(reason)
}

// Equal fails if got and want differ.
func Equal[T any](got, want T, message ...any) {
	if !reflect.DeepEqual(got, want) {
		failBecause(fmt.Sprintf("got %#v, want %#v", got, want), message)
	}
}

// NotEqual fails if got and other are equal.
func NotEqual[T any](got, other T, message ...any) {
	if reflect.DeepEqual(got, other) {
		failBecause(fmt.Sprintf("got %#v, want another value", got), message)
	}
}

// Near fails if got and want differ by more than a tolerance.
func Near[F ~float32 | ~float64](got, want, tolerance F, message ...any) {
	if got != want && !(math.Abs(float64(got)-float64(want)) <= float64(tolerance)) {
		failBecause(fmt.Sprintf("got %v, want %v ± %v", got, want, tolerance), message)
	}
}

// Panics fails if f does not panic.
func Panics[F ~func()](f F, message ...any) {
	panicked := false
	func() {
		defer func() { panicked = recover() != nil }()
		f()
	}()
	if !panicked {
		failBecause("a panic is expected, but there is none", message)
	}
}
