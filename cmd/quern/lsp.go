//go:build !js

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/quernlab/quern/interp/lsp"
	"github.com/quernlab/quern/interp/module"
)

const lspUsage = `quern lsp is a language server: an editor starts it and sends it the cells of notebooks.

  quern lsp    speak the Language Server Protocol on standard input and output

It reports mistakes while you type, completes names, shows documentation, signatures and the
types of variables, finds definitions and references, renames across cells, and formats. No
cell runs. Modules of %get are downloaded. Editors that know notebooks send them as such;
jupyterlab-lsp, which sends the cells as one text, finds the server if it has been installed
with pip. The argument --stdio, which some editors add, means the same as none.
`

func runLSP(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("lsp", flag.ContinueOnError)
	flags.Bool("stdio", true, "")
	if err := parse(flags, lspUsage, args, std); err != nil {
		return err
	}
	if err := lsp.Serve(ctx, struct {
		io.Reader
		io.Writer
		io.Closer
	}{os.Stdin, std.out, os.Stdin}, module.Default()); err != nil {
		return fmt.Errorf("lsp: %w", err)
	}
	return nil
}
