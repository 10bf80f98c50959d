package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"

	"github.com/quernlab/quern/install"
)

const uninstallUsage = `quern uninstall removes the kernelspec.

  quern uninstall                  remove it for the current user
  quern uninstall --sys-prefix     remove it from the active Python environment

Flags:
  --user           for the current user (the default)
  --sys-prefix     from the active virtual or conda environment
  --prefix FOLDER  from FOLDER/share/jupyter
  --name NAME      name of the kernelspec (default quern)
`

func runUninstall(ctx context.Context, args []string, std stdio) error {
	var (
		flags = flag.NewFlagSet("uninstall", flag.ContinueOnError)
		where place
		name  string
	)
	where.register(flags)
	flags.StringVar(&name, "name", install.DefaultName, "")
	if err := parse(flags, uninstallUsage, args, std); err != nil {
		return err
	}
	kernels, err := where.kernels(ctx)
	if err != nil {
		return err
	}
	dir, err := install.Remove(name, kernels)
	var badName *install.NameError
	switch {
	case errors.As(err, &badName):
		return &usageError{err.Error(), ""}
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no kernelspec %q in %s; quern doctor lists the existing ones", name, kernels)
	case err != nil:
		return fmt.Errorf("cannot remove the kernelspec: %w", err)
	}
	fmt.Fprintf(std.out, "removed %s\n", dir)
	return nil
}
