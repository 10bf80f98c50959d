//go:build !js

package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/vet"
	"github.com/quernlab/quern/kernel/notebook"
)

const vetUsage = `quern vet reports mistakes in the cells of notebooks without running them.

  quern vet nb.ipynb…
  quern vet --exclude drafts .    the notebooks for Go below a folder, without some

It prints errors of the type checker, what the Go compiler would reject, such as unused
variables in functions, and the findings of go vet:

  nb.ipynb:cell 3:5:2: fmt.Printf format %d has arg x of wrong type string

The cell is its number in brackets, as in [3], when all cells of the notebook have run
in order; then come line and column. Modules of %get are
downloaded; other commands do not run. Errors in a cell with the tag raises-exception
are not reported, and a cell with the tag skip-execution is not checked. An error is
reported once, not again in each cell that uses what could not be defined. The exit
status is 1 if there are findings.

A notebook with saved outputs is also checked for what running it from top to bottom cannot
give: execution counts that do not ascend, a cell that did not run above one that did, and
outputs without a count. Clear the outputs, or run the notebook again.
`

// vetCells returns the cells of a notebook that are checked.
func vetCells(n *notebook.Notebook) (cells []vet.Cell) {
	numbers := n.Numbers()
	for i, c := range n.Cells {
		if c.Type == "code" && runsCell(c) {
			cells = append(cells, vet.Cell{Number: numbers[i], Source: c.Source, MayFail: c.HasTag("raises-exception")})
		}
	}
	return cells
}

// usedAbove returns, by the numbers of cells, the errors about names that only a cell below defines.
func usedAbove(ctx context.Context, path string, n *notebook.Notebook) (map[int]string, error) {
	found, err := vet.Notebook(ctx, filepath.Dir(path), vetCells(n), module.Default())
	early := map[int]string{}
	for _, f := range found {
		if f.Below > 0 && early[f.Cell] == "" {
			early[f.Cell] = f.Message
		}
	}
	return early, err
}

func runVet(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("vet", flag.ContinueOnError)
	var exclude patterns
	flags.Var(&exclude, "exclude", "")
	arguments, err := parseNotebooks(flags, vetUsage, args, std)
	if err != nil {
		return err
	}
	paths, _, err := selectNotebooks(arguments, exclude, std)
	if err != nil {
		return fmt.Errorf("vet: %w", err)
	}
	return eachNotebook(ctx, paths, std, func(path string) error {
		n, err := readGo(path)
		if err != nil {
			return err
		}
		found, err := vet.Notebook(ctx, filepath.Dir(path), vetCells(n), module.Default())
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		numbers := n.Numbers()
		for _, d := range n.Disorders(runsCell) {
			found = append(found, vet.Finding{Cell: numbers[d.Cell], Line: 1, Column: 1, Message: d.What})
		}
		slices.SortStableFunc(found, func(x, y vet.Finding) int { return x.Cell - y.Cell })
		for _, f := range found {
			fmt.Fprintf(std.out, "%s:%v\n", path, f)
		}
		if len(found) > 0 {
			return errReported
		}
		return nil
	})
}
