package compile

import (
	"errors"
	"sync"
	"testing"

	"github.com/quernlab/quern/interp/vm"
)

const recursive = `
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}
func deep(n int) int { return deep(n+1) + 1 }
func texts(n int) (s string) {
	for i := range n {
		s += string(rune('a' + i%26))
	}
	return s
}
func bounce(n int, f func(int) int) int {
	if n == 0 {
		return 0
	}
	return f(n-1) + 1
}`

// TestConcurrent calls functions that share nothing from several goroutines.
func TestConcurrent(t *testing.T) {
	p := compile(t, recursive)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for range 20 {
				if got := p.call(t, "fib", 10+g%3); got != []int{55, 89, 144}[g%3] {
					t.Errorf("fib gives %v", got)
				}
				if got := p.call(t, "texts", 30).(string); got != "abcdefghijklmnopqrstuvwxyzabcd" {
					t.Errorf("texts gives %q", got)
				}
			}
		})
	}
	all.Wait()
}

// TestReentry calls from the VM through compiled code into the VM.
func TestReentry(t *testing.T) {
	p := compile(t, recursive)
	var again func(int) int
	bounce := p.unit.Value(p.keys["bounce"]).Interface().(func(int, func(int) int) int)
	again = func(n int) int { return bounce(n, again) }
	if got := bounce(200, again); got != 200 {
		t.Errorf("got %d, want 200", got)
	}
}

// TestStackOverflow checks that the VM works after an infinite recursion.
func TestStackOverflow(t *testing.T) {
	p := compile(t, recursive)
	caught := func() (value any) {
		defer func() { value = recover() }()
		p.call(t, "deep", 0)
		return nil
	}()
	var overflow *vm.StackOverflow
	if err, ok := caught.(error); !ok || !errors.As(err, &overflow) || overflow.Depth < 1_000_000 {
		t.Errorf("the recursion ended with %v", caught)
	}
	if got := p.call(t, "fib", 20); got != 6765 {
		t.Errorf("after it: fib gives %v", got)
	}
}
