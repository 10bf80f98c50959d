//go:build !js

package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"

	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/vet"
	"github.com/quernlab/quern/kernel/link"
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
`

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
		var cells []vet.Cell
		numbers := n.Numbers()
		for i, c := range n.Cells {
			if _, help := link.Help(c.Source); !help && c.Type == "code" && !c.HasTag("skip-execution") {
				cells = append(cells, vet.Cell{Number: numbers[i], Source: c.Source, MayFail: c.HasTag("raises-exception")})
			}
		}
		found, err := vet.Notebook(ctx, filepath.Dir(path), cells, module.Default())
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, f := range found {
			fmt.Fprintf(std.out, "%s:%v\n", path, f)
		}
		if len(found) > 0 {
			return errReported
		}
		return nil
	})
}
