package check_test

import (
	"errors"
	"math"
	"testing"

	"github.com/quernlab/quern/check"
)

// failure returns the text with which f fails; empty if it does not.
func failure(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = v.(*check.Failure).Error()
		}
	}()
	f()
	return ""
}

func TestChecks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		f    func()
		want string
	}{
		{"equal", func() { check.Equal([]int{1}, []int{1}) }, ""},
		{"not equal", func() { check.Equal(3, 4) }, "got 3, want 4"},
		{"with a message", func() { check.Equal("a", "b", "f of", 3) }, `f of 3: got "a", want "b"`},
		{"nil and empty", func() { check.Equal(nil, []int{}) }, "got []int(nil), want []int{}"},
		{"different", func() { check.NotEqual(1, 2) }, ""},
		{"not different", func() { check.NotEqual(1, 1) }, "got 1, want another value"},
		{"near", func() { check.Near(1.0001, 1, 0.001) }, ""},
		{"not near", func() { check.Near(float32(1.5), 1, 0.25) }, "got 1.5, want 1 ± 0.25"},
		{"NaN", func() { check.Near(math.NaN(), 1, math.Inf(1)) }, "got NaN, want 1 ± +Inf"},
		{"infinite", func() { check.Near(math.Inf(1), math.Inf(1), 0) }, ""},
		{"true", func() { check.True(true) }, ""},
		{"not true", func() { check.True(false, "sorted") }, "sorted: the condition is false"},
		{"false", func() { check.False(false) }, ""},
		{"not false", func() { check.False(true) }, "the condition is true"},
		{"error", func() { check.Error(errors.New("x")) }, ""},
		{"no error where one is expected", func() { check.Error(nil) }, "an error is expected, but it is nil"},
		{"no error", func() { check.NoError(nil) }, ""},
		{"unexpected error", func() { check.NoError(errors.New("x"), "parse") }, "parse: unexpected error: x"},
		{"panics", func() { check.Panics(func() { panic(1) }) }, ""},
		{"does not panic", func() { check.Panics(func() {}) }, "a panic is expected, but there is none"},
		{"fail", func() { check.Fail("a", 1) }, "a 1"},
		{"fail without a message", func() { check.Fail() }, "the check does not hold"},
	} {
		if got := failure(row.f); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// An exercise says what its first failing check says, and nothing else is caught.
func TestExercise(t *testing.T) {
	t.Parallel()
	double := func(n int) int { return n + 2 }
	for _, row := range []struct {
		name   string
		checks func()
		want   string
	}{
		{"solved", func() { check.Equal(double(2), 4) }, "solved"},
		{"no checks", func() {}, "solved"},
		{"not solved", func() { check.Equal(double(3), 6, "double(3)"); check.Fail("later") }, "not solved yet: double(3): got 5, want 6"},
		{"in words", func() { check.Fail("double adds") }, "not solved yet: double adds"},
		{"an exercise in it", func() { check.Exercise(func() { check.Fail("inner") }) }, "solved"},
	} {
		v := check.Exercise(row.checks)
		if v.String() != row.want || v.Solved() != (row.want == "solved") {
			t.Errorf("%s: got %q, %v, want %q", row.name, v, v.Solved(), row.want)
		}
	}
	defer func() {
		if r := recover(); r != "of the answer" {
			t.Errorf("recovered %v", r)
		}
	}()
	check.Exercise(func() { panic("of the answer") })
	t.Error("the panic of an answer does not continue")
}
