package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/quernlab/quern/interp/export"
	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/kernel/notebook"
)

const exportUsage = `quern export converts a notebook to a Go program: go.mod and main.go in a
folder. The program prints what the notebook prints when its cells run once, in order.

  quern export nb.ipynb -o dir                      dir is created if necessary
  quern export nb.ipynb -o dir --module example.com/nb
  quern export nb.ipynb -o dir --source ~/quern     build against the quern sources in that folder
  quern export nb.ipynb -o dir --force              overwrite go.mod and main.go

If a notebook cannot be converted, quern export reports the cells and the reasons:
magic commands such as %time, cells that do not compile, types and methods that are
redefined. Modules from %get are required with the versions of the session. A
program that imports packages of quern needs go mod tidy first, unless --source is
given; others can be built at once.
`

func runExport(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("export", flag.ContinueOnError)
	output := flags.String("o", "", "")
	name := flags.String("module", "", "")
	source := flags.String("source", "", "")
	force := flags.Bool("force", false, "")
	paths, err := parseNotebooks(flags, exportUsage, args, std)
	switch {
	case err != nil:
		return err
	case len(paths) != 1:
		return &usageError{"export: one notebook at a time", "quern export nb.ipynb -o dir"}
	case *output == "":
		return &usageError{"export: the folder is missing", "quern export nb.ipynb -o dir"}
	case *output == "-":
		return &usageError{"export: -o - is no folder: a program has several files", "quern export nb.ipynb -o dir"}
	}
	path := paths[0]
	if *name == "" {
		*name = export.ModuleName(path)
	}
	n, err := readGo(path)
	if err != nil {
		return err
	}
	program, err := export.Program(ctx, path, exported(n), module.Default())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if program.Below != "" && *name != program.Below && !strings.HasPrefix(*name, program.Below+"/") {
		*name = program.Below + "/" + *name
	}
	mod, sum, err := export.Module(*name, program, *source)
	if err != nil {
		return err
	}
	files := []file{{"main.go", program.Main}, {"go.mod", mod}}
	if sum != nil {
		files = append(files, file{"go.sum", sum})
	}
	if err := writeFolder(*output, files, *force); err != nil {
		return err
	}
	switch {
	case sum == nil && program.NeedsCompiled():
		fmt.Fprintf(std.err, "quern: the program imports modules: run go mod tidy in %s once, or export with --source\n", *output)
	case len(program.Modules) == 0 && len(program.Local.Require) == 0:
	case module.HasGoCommand():
		return module.GoCommand{}.Complete(ctx, *output)
	default:
		fmt.Fprintf(std.err, "quern: the program imports modules: run go mod tidy in %s once\n", *output)
	}
	return nil
}

// exported returns the cells of a notebook as package export expects them.
func exported(n *notebook.Notebook) []export.Cell {
	cells, numbers := make([]export.Cell, len(n.Cells)), n.Numbers()
	for i, c := range n.Cells {
		cells[i] = export.Cell{
			Markdown: c.Type == "markdown", Source: c.Source, Number: numbers[i],
			MayFail: c.HasTag("raises-exception"), Skip: c.Type != "markdown" && c.Type != "code" || c.HasTag("skip-execution"),
		}
	}
	return cells
}

type file struct {
	name string
	text []byte
}

// writeFolder writes files into a folder. It overwrites existing ones only if force is
// set.
func writeFolder(folder string, files []file, force bool) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	if !force {
		for _, f := range files {
			path := filepath.Join(folder, f.name)
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s already exists: choose another folder, or overwrite it with --force", path)
			}
		}
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(folder, f.name), f.text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
