package ranks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker"
)

// cause is an error with the ranks that had it.
type cause struct {
	ranks []int
	*link.CellError
}

// add adds a rank and its error to causes in the order in which they came.
func add(causes []cause, rank int, why *link.CellError) []cause {
	i := slices.IndexFunc(causes, func(c cause) bool {
		return c.Name == why.Name && c.Stuck == why.Stuck && (c.Value == why.Value || c.Name == nameInterrupted)
	})
	if i < 0 {
		return append(causes, cause{[]int{rank}, why})
	}
	causes[i].ranks = append(causes[i].ranks, rank)
	slices.Sort(causes[i].ranks)
	return causes
}

// nameInterrupted is the name of the error of an interrupted cell.
const nameInterrupted = "interrupted"

// verdict is what a cell came to on all ranks: the result of rank 0; or, if it failed
// on any, the first error and what became of the other ranks. That a rank has ended
// comes before all errors, which may only follow from it.
func (w *world) verdict(all []answer) link.Result {
	var result link.Result
	var deaths, killed, causes, stopped []cause
	var whole []int
	for _, a := range all {
		if a.rank == 0 {
			result = a.result
		}
		if !a.failed() {
			whole = append(whole, a.rank)
			continue
		}
		switch why := a.why(); {
		case why.Name == worker.Died && why.Value == killedWith:
			killed = add(killed, a.rank, why)
		case why.Name == worker.Died:
			deaths = add(deaths, a.rank, why)
		case why.Name == nameInterrupted && a.stopped:
			stopped = add(stopped, a.rank, why)
		default:
			causes = add(causes, a.rank, why)
		}
	}
	switch {
	case len(deaths) > 0:
		return link.Result{Error: w.endedBecause(deaths)}
	case len(killed) > 0: // for one that has ended behind the cell
		if causes := w.causes(); len(causes) > 0 {
			killed = causes
		}
		return link.Result{Error: w.endedBecause(killed)}
	case len(causes) == 0 && len(stopped) == 0:
		return result
	case len(causes) == 0, causes[0].Name == nameInterrupted:
		for _, c := range stopped { // the interrupt from outside came to them too early
			for _, rank := range c.ranks {
				causes = add(causes, rank, c.CellError)
			}
		}
		stopped = nil
	}
	return link.Result{Error: w.failedBecause(causes, stopped, whole)}
}

// failedBecause is the first error, and which ranks had it; where all had it, the
// error as it is.
func (w *world) failedBecause(causes, stopped []cause, whole []int) *link.CellError {
	first := causes[0]
	if len(first.ranks) == w.ranks {
		return first.CellError
	}
	notes := []string{fmt.Sprintf("This happened on %s of %d.", names(first.ranks), w.ranks)}
	for _, c := range causes[1:] {
		line, _, _ := strings.Cut(c.Error(), "\n")
		notes = append(notes, fmt.Sprintf("On %s: %s", names(c.ranks), line))
	}
	for _, c := range stopped {
		note := fmt.Sprintf("The cell was then interrupted on %s.", names(c.ranks))
		if c.Stuck {
			note = fmt.Sprintf("Then on %s: %s", names(c.ranks), c.Value)
		}
		notes = append(notes, note)
	}
	if len(whole) > 0 {
		slices.Sort(whole)
		notes = append(notes, fmt.Sprintf("It ran to its end on %s: what it has changed there is not so on the others.", names(whole)))
	}
	return &link.CellError{Name: first.Name, Value: first.Value, Traceback: slices.Concat(first.Traceback, notes)}
}

// endedBecause is the error of a cell, or of a time between cells, in which ranks have
// ended.
func (w *world) endedBecause(deaths []cause) *link.CellError {
	var parts []string
	for _, d := range deaths {
		parts = append(parts, names(d.ranks)+": "+d.Value)
	}
	value := strings.Join(parts, "; ")
	lost := fmt.Sprintf("All %d ranks start again, and their variables are lost: run the cells again from the top.", w.ranks)
	return &link.CellError{Name: worker.Died, Value: value, Traceback: []string{worker.Died + ": " + value, lost}}
}
