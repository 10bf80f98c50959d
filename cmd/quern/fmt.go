package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/format"
	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/notebook"
)

const fmtUsage = `quern fmt formats the cells of notebooks as gofmt formats files.

  quern fmt nb.ipynb…           rewrite the cells that gofmt would change
  quern fmt -check nb.ipynb…    list these cells; exit status 1 if there are any
  quern fmt -                   format one cell, from standard input to standard output

Nothing else in the file changes: keys, indentation, ids and outputs stay. Lines with
commands (%time, !ls) and cells such as %%bash stay too. A cell that does not parse is
left as it is and reported, unless it has the tag raises-exception or skip-execution; the
other cells are formatted, and the exit status is 1. Cells have the numbers that they
show in brackets when all have run in order. Of a folder or a pattern such as '**/*.ipynb',
the notebooks for Go are formatted, without those that --exclude names. In a notebook, %fmt formats its own cell.
`

func runFmt(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("fmt", flag.ContinueOnError)
	check := flags.Bool("check", false, "")
	var exclude patterns
	flags.Var(&exclude, "exclude", "")
	arguments, err := parseNotebooks(flags, fmtUsage, args, std)
	switch {
	case err != nil:
		return err
	case slices.Equal(arguments, []string{"-"}):
		return formatInput(os.Stdin, *check, std)
	}
	paths, _, err := selectNotebooks(arguments, exclude, std)
	if err != nil {
		return fmt.Errorf("fmt: %w", err)
	}
	return eachNotebook(ctx, paths, std, func(path string) error {
		n, text, err := readGoText(path)
		if err != nil {
			return err
		}
		changed, failed := formatCells(n)
		numbers := n.Numbers()
		if *check {
			for _, i := range slices.Sorted(maps.Keys(changed)) {
				fmt.Fprintf(std.out, "%s:cell %d\n", path, numbers[i])
			}
		} else if len(changed) > 0 {
			if text, err = notebook.Edit(text, changed); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if err := notebook.WriteText(path, text); err != nil {
				return err
			}
		}
		for _, f := range failed {
			fmt.Fprintf(std.err, "%s:cell %d:%v\n", path, numbers[f.cell], f.err)
		}
		if failed != nil || *check && len(changed) > 0 {
			return errReported
		}
		return nil
	})
}

// errReported is returned by commands that have printed why they fail.
var errReported = errors.New("reported")

// eachNotebook calls f for each path, and reports errors as they occur.
func eachNotebook(ctx context.Context, paths []string, std stdio, f func(path string) error) error {
	var failed error
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(path); errors.Is(err, errReported) {
			failed = err
		} else if err != nil {
			report(err, std)
			failed = errReported
		}
	}
	return failed
}

// A failedCell is a cell that does not parse.
type failedCell struct {
	cell int // index
	err  error
}

// formatCells returns the new sources of the cells that are not formatted, by index.
func formatCells(n *notebook.Notebook) (changed map[int]string, failed []failedCell) {
	var f format.Formatter
	changed = map[int]string{}
	for i, c := range n.Cells {
		if _, help := link.Help(c.Source); help || c.Type != "code" || strings.TrimSpace(c.Source) == "" {
			continue
		}
		text, err := f.Cell(c.Source)
		switch {
		case err != nil && !c.HasTag("raises-exception") && !c.HasTag("skip-execution"):
			failed = append(failed, failedCell{i, err})
		case err == nil && text != c.Source:
			changed[i] = text
		}
	}
	return changed, failed
}

// maxCell is larger than any cell, in bytes.
const maxCell = 64 << 20

// formatInput formats the cell in r. With check it only reports whether that changes it.
func formatInput(r io.Reader, check bool, std stdio) error {
	text, err := io.ReadAll(io.LimitReader(r, maxCell+1))
	if err != nil {
		return err
	}
	if len(text) > maxCell {
		return fmt.Errorf("fmt: the input has more than %d bytes, which is no cell", maxCell)
	}
	formatted := string(text)
	if _, help := link.Help(formatted); !help {
		var f format.Formatter
		if formatted, err = f.Cell(string(text)); err != nil {
			return fmt.Errorf("fmt: %w", err)
		}
		if strings.HasSuffix(string(text), "\n") && !strings.HasSuffix(formatted, "\n") {
			formatted += "\n" // it is a file
		}
	}
	if check {
		if formatted != string(text) {
			return errors.New("fmt: the cell is not formatted")
		}
		return nil
	}
	_, err = io.WriteString(std.out, formatted)
	return err
}

// parseNotebooks parses the flags of a command and the paths of its notebooks, in any order.
func parseNotebooks(flags *flag.FlagSet, usage string, args []string, std stdio) (paths []string, err error) {
	flags.SetOutput(io.Discard)
	for len(args) > 0 {
		switch err := flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			fmt.Fprint(std.out, usage)
			return nil, err
		case err != nil:
			return nil, &usageError{err.Error(), fmt.Sprintf("quern %s -h describes the flags", flags.Name())}
		}
		if args = flags.Args(); len(args) > 0 { // Parse stops at a path
			paths, args = append(paths, args[0]), args[1:]
		}
	}
	if len(paths) == 0 {
		return nil, &usageError{flags.Name() + ": the notebook is missing", fmt.Sprintf("quern %s nb.ipynb; quern %[1]s -h describes the flags", flags.Name())}
	}
	return paths, nil
}
