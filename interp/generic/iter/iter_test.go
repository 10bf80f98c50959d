package iter_test

import (
	"fmt"
	standard "iter"
	"slices"
	"testing"

	"github.com/quernlab/quern/interp/generic/iter"
)

// TestPull makes the same calls of this Pull and the standard one, in every order up to a length, and compares the results.
func TestPull(t *testing.T) {
	for script := range 1 << 7 {
		got := calls(script, func(seq func(func(int) bool)) (func() (int, bool), func()) { return iter.Pull(iter.Seq[int](seq)) })
		want := calls(script, func(seq func(func(int) bool)) (func() (int, bool), func()) {
			return standard.Pull(standard.Seq[int](seq))
		})
		if !slices.Equal(got, want) {
			t.Errorf("script %07b:\ngot  %v\nwant %v", script, got, want)
		}
		got = calls(script, func(seq func(func(int) bool)) (func() (int, bool), func()) {
			next, stop := iter.Pull2(iter.Seq2[int, string](pairs(seq)))
			return sum(next), stop
		})
		if !slices.Equal(got, want) {
			t.Errorf("pairs, script %07b:\ngot  %v\nwant %v", script, got, want)
		}
	}
}

func pairs(seq func(func(int) bool)) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		seq(func(v int) bool { return yield(v, fmt.Sprint(v)) })
	}
}

func sum(next func() (int, string, bool)) func() (int, bool) {
	return func() (int, bool) {
		v, s, ok := next()
		if ok && s != fmt.Sprint(v) || !ok && s != "" {
			return -1, ok
		}
		return v, ok
	}
}

// calls runs a script: it calls next for a 0 bit, stop for a 1 bit, and stop at the end. The two lowest bits select the
// behaviour of the sequence.
func calls(script int, pull func(func(func(int) bool)) (func() (int, bool), func())) (seen []string) {
	note := func(format string, values ...any) { seen = append(seen, fmt.Sprintf(format, values...)) }
	next, stop := pull(func(yield func(int) bool) {
		note("start")
		defer note("end")
		for i := range 3 {
			if script&1 == 1 && i == 2 {
				panic("in the sequence")
			}
			if !yield(i) {
				note("stopped")
				if script&2 == 2 {
					panic("after the stop")
				}
				return
			}
		}
	})
	for step := range 6 {
		func() {
			defer func() {
				if r := recover(); r != nil {
					note("panic %v", r)
				}
			}()
			if step < 5 && script>>(2+step)&1 == 0 {
				v, ok := next()
				note("%d %v", v, ok)
			} else {
				stop()
				note("stop returned")
			}
		}()
	}
	return seen
}
