package stale_test

import (
	"fmt"
	"testing"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/stale"
)

// run is a run of a cell that uses names and defines a variable.
func run(id string, number int, defines string, uses ...string) stale.Run {
	return stale.Run{
		ID: id, Number: number, Source: fmt.Sprint(number, defines), Defined: func(int) bool { return true },
		Summary: &check.Summary{Variables: []string{defines}, Effects: check.Effects{Uses: uses, Changes: []string{defines}}},
	}
}

// TestForgotten runs many cells without an id. Those whose variable a later one has set are forgotten, and then the oldest.
func TestForgotten(t *testing.T) {
	t.Parallel()
	list := stale.New()
	list.Ran(run("", 1, "x"))
	for i := range 10_000 {
		list.Ran(run("", 2+i, "y", "x"))
	}
	list.Ran(run("", 20_000, "x"))
	if got := list.Stale(); len(got) != 1 || got[0].Number != 10_001 {
		t.Errorf("after 10000 runs that set y: %v", got)
	}
	for i := range 10_000 {
		list.Ran(run("", 30_000+i, fmt.Sprint("y", i), "x"))
	}
	list.Ran(run("", 50_000, "x"))
	if got := list.Stale(); len(got) > 1000 || got[len(got)-1].Number != 39_999 {
		t.Errorf("after 10000 runs that set different variables: %d, the last one is %v", len(got), got[len(got)-1])
	}
}

// TestDeletedAndBack deletes a cell and runs it again.
func TestDeletedAndBack(t *testing.T) {
	t.Parallel()
	list := stale.New()
	list.Ran(run("a", 1, "x"))
	list.Ran(run("b", 2, "y", "x"))
	list.Delete([]string{"a", "none"})
	if got := fmt.Sprint(list.Stale()); got != "[cell[2] uses x, whose cell, cell[1], has been deleted\n  2y]" {
		t.Errorf("got %s", got)
	}
	list.Ran(run("a", 3, "x"))
	list.Ran(run("b", 4, "y", "x"))
	if got := list.Stale(); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}
