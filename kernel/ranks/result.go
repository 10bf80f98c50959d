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

// add adds a rank and its error to causes, which are in order of arrival. Interrupted
// ranks are one cause, with the place of the first rank that had begun the cell.
func add(causes []cause, rank int, why *link.CellError) []cause {
	i := slices.IndexFunc(causes, func(c cause) bool {
		return c.Name == why.Name && c.Stuck == why.Stuck && (c.Value == why.Value || c.Name == nameInterrupted)
	})
	if i < 0 {
		return append(causes, cause{[]int{rank}, why})
	}
	if causes[i].Value == link.NotBegun {
		causes[i].CellError = why
	}
	causes[i].ranks = append(causes[i].ranks, rank)
	slices.Sort(causes[i].ranks)
	return causes
}

// nameInterrupted is the error name of an interrupted cell.
const nameInterrupted = "interrupted"

// combine returns the outcome of a cell on all ranks: the result of rank 0, or, if the
// cell failed on any rank, the first error and what happened on the other ranks. The
// death of a rank takes precedence over all errors, which may only be its consequence.
func (gen *generation) combine(all []answer) link.Result {
	var result link.Result
	var deaths, killed, causes, stopped []cause
	var succeeded []int
	for _, a := range all {
		if a.rank == 0 {
			result = a.result
		}
		if !a.failed() {
			succeeded = append(succeeded, a.rank)
			continue
		}
		switch why := a.why(); {
		case why.Name == worker.Died && why.Value == killedReason:
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
		return link.Result{Error: gen.endedBecause(deaths)}
	case len(killed) > 0: // because of a rank that died after its part of the cell
		if causes := gen.causes(); len(causes) > 0 {
			killed = causes
		}
		return link.Result{Error: gen.endedBecause(killed)}
	case len(causes) == 0 && len(stopped) == 0:
		return result
	case len(causes) == 0, causes[0].Name == nameInterrupted:
		for _, c := range stopped { // the user's interrupt reached them after ours
			for _, rank := range c.ranks {
				causes = add(causes, rank, c.CellError)
			}
		}
		stopped = nil
	}
	return link.Result{Error: gen.failedBecause(causes, stopped, succeeded)}
}

// failedBecause returns the first error with a note of the ranks that had it. If all
// ranks had it, it is returned unchanged.
func (gen *generation) failedBecause(causes, stopped []cause, succeeded []int) *link.CellError {
	first := causes[0]
	if len(first.ranks) == gen.ranks {
		return first.CellError
	}
	notes := []string{fmt.Sprintf("This happened on %s of %d.", names(first.ranks), gen.ranks)}
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
	if len(succeeded) > 0 {
		slices.Sort(succeeded)
		notes = append(notes, fmt.Sprintf("It succeeded on %s: variables may now differ from the other ranks.", names(succeeded)))
	}
	return &link.CellError{Name: first.Name, Value: first.Value, Traceback: slices.Concat(first.Traceback, notes), Files: first.Files, Earlier: first.Earlier}
}

// endedBecause returns the error of a cell during which ranks have died, or the text to
// show if they died between cells.
func (gen *generation) endedBecause(deaths []cause) *link.CellError {
	var parts []string
	for _, d := range deaths {
		parts = append(parts, names(d.ranks)+": "+d.Value)
	}
	value := strings.Join(parts, "; ")
	lost := fmt.Sprintf("All %d ranks start again, and their variables are lost: run the cells again from the top.", gen.ranks)
	return &link.CellError{Name: worker.Died, Value: value, Traceback: []string{worker.Died + ": " + value, lost}}
}
