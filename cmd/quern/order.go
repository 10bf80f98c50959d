package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/notebook"
)

// orderError reports a cell whose outputs cannot come from running its notebook from top to bottom.
type orderError struct {
	cell int // its number
	what string
}

func (e *orderError) Error() string { return fmt.Sprintf("cell %d: %s", e.cell, e.what) }

// runsCell reports whether a code cell gets an execution count when a notebook runs.
func runsCell(c *notebook.Cell) bool {
	_, help := link.Help(c.Source)
	return !help && !c.HasTag("skip-execution")
}

// checkOrder reports the cells of a notebook with outputs that it could not have if it had run from top to bottom: as the counts
// say, or because they use a name that only a cell below defines.
func (j *job) checkOrder(ctx context.Context) error {
	var found []error
	numbers := j.notebook.Numbers()
	add := func(i int, what string) {
		if j.cells[i+1].err == nil {
			err := &orderError{numbers[i], what}
			j.cells[i+1] = endedCell{err: err}
			found = append(found, err)
		}
	}
	for _, d := range j.notebook.Disorders(runsCell) {
		add(d.Cell, d.What)
	}
	if j.notebook.HasOutputs() {
		early, err := usedAbove(ctx, j.path, j.notebook)
		if err != nil {
			return err
		}
		for i, number := range numbers {
			if what := early[number]; what != "" {
				add(i, what)
			}
		}
	}
	return errors.Join(found...)
}
