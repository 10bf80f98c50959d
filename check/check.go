package check

import (
	"fmt"
	"math"
	"reflect"
)

// A Failure is the value with which a check that does not hold panics.
type Failure struct {
	Text string // what does not hold
}

// Error returns the text.
func (f *Failure) Error() string { return f.Text }

// Uncatchable marks the panic as one that recover in a cell does not return: code that a check calls must not hide its failure.
func (*Failure) Uncatchable() {}

// Fail fails with a message, of which the parts are joined as by fmt.Sprintln.
func Fail(message ...any) {
	text := fmt.Sprintln(message...)
	if text = text[:len(text)-1]; text == "" {
		text = "the check does not hold"
	}
	panic(&Failure{text})
}

// A Verdict says whether the checks of an exercise hold. A cell that ends with one shows it as text.
type Verdict struct {
	Failure *Failure // the first check that does not hold; nil if all hold
}

// Solved reports whether all checks hold.
func (v Verdict) Solved() bool { return v.Failure == nil }

// String returns "solved", or "not solved yet: " and what does not hold.
func (v Verdict) String() string {
	if v.Failure == nil {
		return "solved"
	}
	return "not solved yet: " + v.Failure.Text
}

// Exercise calls the checks of an exercise and returns what they say, without failing the cell: a notebook with exercises that
// nobody has solved yet runs to its end. Checks behind the first one that does not hold do not run. Any other panic continues.
// In a test that must fail, such as one of nbgrader, call the checks directly.
func Exercise(checks func()) (v Verdict) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Failure:
			v.Failure = r
		default:
			panic(r)
		}
	}()
	checks()
	return v
}

// failBecause fails with a message and a reason.
func failBecause(reason string, message []any) {
	if text := fmt.Sprintln(message...); text != "\n" {
		reason = text[:len(text)-1] + ": " + reason
	}
	panic(&Failure{reason})
}

// True fails if a condition is false.
func True(condition bool, message ...any) {
	if !condition {
		failBecause("the condition is false", message)
	}
}

// False fails if a condition is true.
func False(condition bool, message ...any) {
	if condition {
		failBecause("the condition is true", message)
	}
}

// NoError fails if err is not nil.
func NoError(err error, message ...any) {
	if err != nil {
		failBecause("unexpected error: "+err.Error(), message)
	}
}

// Error fails if err is nil.
func Error(err error, message ...any) {
	if err == nil {
		failBecause("an error is expected, but it is nil", message)
	}
}

// Equal fails if got and want differ. It compares slices, maps, structs and what pointers point to by their contents, as
// [reflect.DeepEqual] does; a nil slice and an empty one differ.
func Equal[T any](got, want T, message ...any) {
	if !reflect.DeepEqual(got, want) {
		failBecause(fmt.Sprintf("got %#v, want %#v", got, want), message)
	}
}

// NotEqual fails if got and other are equal in the sense of [Equal].
func NotEqual[T any](got, other T, message ...any) {
	if reflect.DeepEqual(got, other) {
		failBecause(fmt.Sprintf("got %#v, want another value", got), message)
	}
}

// Near fails if got and want differ by more than a tolerance, or one of them is NaN.
func Near[F ~float32 | ~float64](got, want, tolerance F, message ...any) {
	if got != want && !(math.Abs(float64(got)-float64(want)) <= float64(tolerance)) {
		failBecause(fmt.Sprintf("got %v, want %v ± %v", got, want, tolerance), message)
	}
}

// Panics fails if f returns, or ends by something else than a panic.
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
