package interp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quernlab/quern/interp"
)

// countdown is a context that ends after a number of calls of Err.
type countdown struct {
	context.Context
	left atomic.Int64
}

func newCountdown(n int64) *countdown {
	c := &countdown{Context: context.Background()}
	c.left.Store(n)
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// steps are cells that take many steps in one part of the compiler.
var steps = []struct {
	name string
	cell string
	min  int // minimum number of checks of the context
}{
	{"functions", times(400, "func f%[1]d(x int) int { if x > %[1]d { return x }; return x + %[1]d }\n"), 800},
	{"functions that the engine runs", times(400, "func f%[1]d(x complex128) complex128 { return x + %[1]d }\n"), 400},
	{"one function", "func f0() int {\nx := 0\n" + times(2000, "x += %[1]d\n") + "return x\n}", 2000},
	{"one function that the engine runs", "func f0() complex128 {\nx := 0i\n" + times(2000, "x += %[1]d\n") + "return x\n}", 2000},
	{"statements", "f0 := 0\n" + times(2000, "f0 += %[1]d\n"), 2000},
	{"variables", times(2000, "f%[1]d := \"%[1]d\"\n"), 2000},
	{"types", times(200, "type f%[1]d struct{ A int }\nfunc (x f%[1]d) m() int { return x.A }\n"), 400},
	{"strings", "f0 := []string{\n" + times(2000, "\"%[1]d\",\n") + "}", 20},
	{"strings of a function", "func f0() []string { return []string{\n" + times(2000, "\"%[1]d\",\n") + "} }", 20},
	{"cases", "f0 := 1\nswitch f0 {\n" + times(1000, "case %[1]d: f0 = 1\n") + "}", 1000},
	{"strings in go/types", "var f0 string\n" + times(1000, "f0 = \"%[1]d\"\n"), 1000},
}

// TestCompileStops stops the compilation of a cell at each of its steps: the cell then defines
// nothing, and the session continues.
func TestCompileStops(t *testing.T) {
	for _, row := range steps {
		t.Run(row.name, func(t *testing.T) {
			n := newNotebook(t)
			n.must(t, "kept := 1", "")
			stops := 0
			for at := int64(0); ; at = at + at/2 + 1 {
				ctx, before := newCountdown(at), interp.Facts(n.Session)
				err := interp.Load(ctx, n.Session, 100, row.cell)
				if after := interp.Facts(n.Session); after != before {
					t.Fatalf("stopped at %d: %d facts before, %d after", at, before, after)
				}
				if err == nil {
					if at-at/3-1 < int64(row.min)/2 {
						t.Errorf("the context was looked at %d times only", at)
					}
					break
				}
				if stops++; !errors.Is(err, context.Canceled) {
					t.Fatalf("stopped at %d: %v", at, err)
				}
				if got := n.run("kept + f0"); !strings.Contains(got, "undefined: f0") {
					t.Fatalf("stopped at %d: %s", at, got)
				}
				n.must(t, "kept", "= 1")
			}
			if stops < 5 {
				t.Errorf("stopped %d times", stops)
			}
			n.run(row.cell)
			n.must(t, "kept", "= 1")
		})
	}
}

// TestInterruptOfInterpreter interrupts a cell while the interpreter, which cannot be stopped,
// compiles it: the cell ends at once, and the next one waits for the interpreter.
func TestInterruptOfInterpreter(t *testing.T) {
	n := newNotebook(t)
	n.must(t, "kept := 1", "")
	reached, release := interp.Block(n.Session)
	ended := make(chan error, 1)
	go func() {
		_, err := n.Execute(context.Background(), 100, "f := func() complex128 { return 1i }")
		ended <- err
	}()
	<-reached
	n.Interrupt()
	var e *interp.Error
	if err := <-ended; !errors.As(err, &e) || e.Name != "interrupted" {
		t.Fatal(err)
	}
	// A cell that is interrupted while it waits ends too.
	go func() {
		_, err := n.Execute(context.Background(), 101, "kept = 2")
		ended <- err
	}()
	for waiting := true; waiting; {
		n.Interrupt() // until the cell has begun
		select {
		case err := <-ended:
			if !errors.As(err, &e) || e.Name != "interrupted" {
				t.Fatal(err)
			}
			waiting = false
		case <-time.After(time.Millisecond):
		}
	}
	go func() {
		result, err := n.Execute(context.Background(), 102, "kept")
		if err == nil && fmt.Sprint(result.Data["text/plain"]) != "1" {
			err = fmt.Errorf("kept is %v", result.Data)
		}
		ended <- err
	}()
	n.IsComplete("x := 1")
	n.Complete("kep", 3)
	close(release)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := n.run("f"); !strings.Contains(got, "undefined: f") {
		t.Error(got)
	}
	n.must(t, "f := 3\nf", "= 3")
}
