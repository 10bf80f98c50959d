package interp_test

import "testing"

// TestLiteralInInitializer calls function literals in initializers of package-level variables: each iteration of a loop
// has variables of its own, and calls come before reads.
func TestLiteralInInitializer(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	got := n.run(`package main

import "fmt"

var (
	counters = func() (list []func() int) {
		for i := 0; i < 3; i++ {
			list = append(list, func() int { i += 10; return i })
		}
		return list
	}()
	total  = func() int { x := 1; f := func() int { x = 5; return 1 }; return x + f() }
	x, y   = 1, 2
	before = x + set()
	either = []any{y, set()}
	shifts = func(n int) int { for i := range 3 { n += 1 << i }; return n }
)

func set() int { x, y = 50, 60; return 1 }

func main() {
	for _, f := range counters {
		fmt.Print(f(), " ")
	}
	fmt.Println(total(), shifts(0), before, either)
}
`)
	if want := "10 11 12 6 7 51 [60 1]\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
