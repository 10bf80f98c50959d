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

It prints errors of the type checker, what the Go compiler would reject, such as unused
variables in functions, and the findings of go vet:

  nb.ipynb:cell 3:5:2: fmt.Printf format %d has arg x of wrong type string

The cell is its number in the notebook, then come line and column. Modules of %get are
downloaded; other commands do not run. Errors in a cell with the tag raises-exception
are not reported, and a cell with the tag skip-execution is not checked. An error is
reported once, not again in each cell that uses what could not be defined. The exit
status is 1 if there are findings.
`

func runVet(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("vet", flag.ContinueOnError)
	paths, err := parseNotebooks(flags, vetUsage, args, std)
	if err != nil {
		return err
	}
	return eachNotebook(ctx, paths, std, func(path string) error {
		n, err := readGo(path)
		if err != nil {
			return err
		}
		var cells []vet.Cell
		for i, c := range n.Cells {
			if _, help := link.Help(c.Source); !help && c.Type == "code" && !c.HasTag("skip-execution") {
				cells = append(cells, vet.Cell{Number: i + 1, Source: c.Source, MayFail: c.HasTag("raises-exception")})
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
