package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/quernlab/quern/internal/atomicfile"
	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/interp/symbols/build"
)

const buildUsage = `quern build builds a program of quern with additional packages compiled in, for a class or a
container image. Cells import them as any other package, without a download.

  quern build -with MODULE[@version][,MODULE…] -o file
  quern build -with MODULE -o file -source ~/quern    with the source of quern in that folder

For a module all its packages are compiled in, for the path of a package only that one. Modules that
cannot be interpreted work too: those with assembly or cgo. Their generic functions and types cannot be
used. It needs the go command, and the source of quern: the checkout from which this program was built, or
the released version, which is downloaded. Install the result with file install.
`

func runBuild(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	with := flags.String("with", "", "")
	output := flags.String("o", "", "")
	source := flags.String("source", "", "")
	if err := parse(flags, buildUsage, args, std); err != nil {
		return err
	}
	packages := strings.FieldsFunc(*with, func(r rune) bool { return r == ',' || r == ' ' })
	switch {
	case len(packages) == 0:
		return &usageError{"build: the modules are missing", "quern build -with github.com/mattn/go-sqlite3 -o file"}
	case *output == "":
		return &usageError{"build: the file is missing", "quern build -with MODULE -o file"}
	}
	if info, err := os.Stat(*output); err == nil && info.IsDir() {
		return fmt.Errorf("-o: %s is a directory; give a file name, such as %s", *output, filepath.Join(*output, "quern"))
	}
	if _, err := os.Stat(filepath.Dir(*output)); err != nil {
		return fmt.Errorf("-o: %w", err) // not after a build of minutes
	}
	program, err := build.Build(ctx, build.Request{Packages: packages, Source: *source, Version: buildVersion(),
		Report: func(step string) { fmt.Fprintf(std.err, "quern: %s\n", step) }})
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	for _, o := range program.Omitted {
		fmt.Fprintf(std.err, "quern: %s\n", o)
	}
	if err := copyProgram(program.Path, *output); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	fmt.Fprintf(std.out, "%s: quern with %s, built by %s\n", *output, strings.Join(program.Packages, ", "), program.Go)
	return nil
}

// buildProgram builds the program of the next worker, for %get -compiled.
func buildProgram(ctx context.Context, packages []string, report func(step string)) (interp.Program, error) {
	p, err := build.Build(ctx, build.Request{Packages: packages, Version: buildVersion(), Report: report})
	made := interp.Program{Path: p.Path, Packages: p.Packages, Go: p.Go}
	for _, o := range p.Omitted {
		made.Omitted = append(made.Omitted, o.String())
	}
	return made, err
}

// copyProgram copies a program to a file, which has its old content if that fails.
func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.ReplaceLink(to, 0o755, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
