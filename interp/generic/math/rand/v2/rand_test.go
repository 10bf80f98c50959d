package rand_test

import (
	"fmt"
	standard "math/rand/v2"
	"testing"
	"time"

	"github.com/quernlab/quern/interp/generic/math/rand/v2"
)

func TestN(t *testing.T) {
	var seen [5]int
	for range 1000 {
		seen[rand.N(5)]++
	}
	for v, n := range seen {
		if n < 100 { // the expectation is 200; 100 is eight standard deviations lower
			t.Errorf("%d came %d times of 1000", v, n)
		}
	}
	if d := rand.N(time.Second); d < 0 || d >= time.Second {
		t.Errorf("N(1s) = %v", d)
	}
	if u := rand.N(^uint64(0)); u == ^uint64(0) {
		t.Errorf("N(max) = %v", u)
	}
	for _, n := range []int8{0, -1} {
		got, want := caught(func() { rand.N(n) }), caught(func() { standard.N(n) })
		if got != want {
			t.Errorf("N(%d) panics with %q, want %q", n, got, want)
		}
	}
}

func caught(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return ""
}
