package notebook

import (
	"fmt"
	"slices"
	"strings"
)

// HasOutputs reports whether a cell of the notebook has outputs.
func (n *Notebook) HasOutputs() bool {
	return slices.ContainsFunc(n.Cells, func(c *Cell) bool { return len(c.Outputs) > 0 })
}

// A Disorder says why the saved outputs of a notebook cannot be those of one run from top to bottom.
type Disorder struct {
	Cell int    // index of the cell
	What string // about it: ran as [3], before cell 2 above it, which ran as [5]
}

// Disorders returns at most one disorder for each code cell, as far as the execution counts and outputs show them. The names of
// cells are those of Numbers. There are none if no cell has outputs, or if no cell has a count. ran reports whether a front end runs
// a cell and gives it a count.
func (n *Notebook) Disorders(ran func(*Cell) bool) (list []Disorder) {
	last := -1 // index of the last cell with a count
	for i, c := range n.Cells {
		if c.Count > 0 {
			last = i
		}
	}
	if !n.HasOutputs() || last < 0 {
		return nil
	}
	numbers, latest := n.Numbers(), -1 // index of the cell above with the greatest count
	for i, c := range n.Cells {
		if c.Type != "code" || strings.TrimSpace(c.Source) == "" || !ran(c) {
			continue
		}
		what := ""
		switch {
		case c.Count == 0 && len(c.Outputs) > 0:
			what = "has outputs, but no execution count"
		case c.Count == 0 && i < last:
			what = fmt.Sprintf("did not run, but cell %d below it did", numbers[last])
		case c.Count == 0:
		case latest >= 0 && c.Count == n.Cells[latest].Count:
			what = fmt.Sprintf("ran as [%d], like cell %d above it: the outputs are those of several runs", c.Count, numbers[latest])
		case latest >= 0 && c.Count < n.Cells[latest].Count:
			what = fmt.Sprintf("ran as [%d], before cell %d above it, which ran as [%d]", c.Count, numbers[latest], n.Cells[latest].Count)
		}
		if what != "" {
			list = append(list, Disorder{i, what})
		}
		if latest < 0 && c.Count > 0 || latest >= 0 && c.Count > n.Cells[latest].Count {
			latest = i
		}
	}
	return list
}
