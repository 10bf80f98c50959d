package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/quernlab/quern/install"
)

const installUsage = `quern install writes the kernelspec with which Jupyter finds the kernel.

  quern install                    for the current user only
  quern install --sys-prefix       into the active Python environment
  quern install --prefix /usr      below a prefix, for all its users

Flags:
  --user               for the current user only (the default)
  --sys-prefix         into the active virtual or conda environment
  --prefix FOLDER      below FOLDER/share/jupyter
  --name NAME          name of the kernelspec (default quern)
  --display-name TEXT  name in the launcher (default "Go (Quern)")
  --executable PATH    program in kernel.json, for packages (default this program); Jupyter replaces a leading
                       {resource_dir} by the folder of the kernelspec
  --metadata JSON      object that is added to the metadata in kernel.json, such as
                       {"kernel_provisioner": {"provisioner_name": "local-provisioner"}}
  --gateway            for process proxies of Enterprise Gateway that start the kernel on another machine, by quern
                       launch; --metadata names the process proxy, and --executable is the path on that machine
  --force              replace a different kernelspec of this name
  --dry-run            print kernel.json and its path without writing anything
`

// place is the choice of a folder in install and uninstall.
type place struct {
	user, sysPrefix bool
	prefix          string
}

func (p *place) register(flags *flag.FlagSet) {
	flags.BoolVar(&p.user, "user", false, "")
	flags.BoolVar(&p.sysPrefix, "sys-prefix", false, "")
	flags.StringVar(&p.prefix, "prefix", "", "")
}

// kernels returns the folder for kernelspecs that the flags select.
func (p *place) kernels(ctx context.Context) (string, error) {
	chosen := 0
	for _, set := range []bool{p.user, p.sysPrefix, p.prefix != ""} {
		if set {
			chosen++
		}
	}
	switch {
	case chosen > 1:
		return "", &usageError{"only one of --user, --sys-prefix and --prefix is allowed", "give one of them"}
	case p.prefix != "":
		prefix, err := filepath.Abs(p.prefix)
		return install.PrefixDir(prefix), err
	case p.sysPrefix:
		prefix, err := install.SysPrefix(ctx)
		return install.PrefixDir(prefix), err
	}
	return install.UserDir()
}

func runInstall(ctx context.Context, args []string, std stdio) error {
	var (
		flags  = flag.NewFlagSet("install", flag.ContinueOnError)
		where  place
		spec   install.Spec
		force  bool
		dryRun bool
	)
	where.register(flags)
	flags.StringVar(&spec.Name, "name", install.DefaultName, "")
	flags.StringVar(&spec.DisplayName, "display-name", install.DefaultDisplayName, "")
	flags.StringVar(&spec.Executable, "executable", "", "")
	flags.Func("metadata", "", func(text string) error { return json.Unmarshal([]byte(text), &spec.Metadata) })
	flags.BoolVar(&spec.Gateway, "gateway", false, "")
	flags.BoolVar(&force, "force", false, "")
	flags.BoolVar(&dryRun, "dry-run", false, "")
	if err := parse(flags, installUsage, args, std); err != nil {
		return err
	}
	if spec.Executable == "" {
		path, err := executable()
		if err != nil {
			return err
		}
		spec.Executable = path
	}
	text, err := spec.JSON()
	var badName *install.NameError
	if errors.As(err, &badName) {
		return &usageError{err.Error(), "quern install --name go-quern"}
	} else if err != nil {
		return err
	}
	kernels, err := where.kernels(ctx)
	if err != nil {
		return err
	}
	if dryRun {
		fmt.Fprintf(std.out, "would write %s\n%s", filepath.Join(kernels, spec.Name, "kernel.json"), text)
		return nil
	}
	dir, err := install.Write(spec, kernels, force)
	var exists *install.ExistsError
	switch {
	case errors.As(err, &exists):
		return fmt.Errorf("%w; replace it with --force or choose another --name", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("cannot write the kernelspec: %w; choose a folder that you may write to: --user, --prefix FOLDER, or JUPYTER_DATA_DIR", err)
	case err != nil:
		return fmt.Errorf("cannot write the kernelspec: %w", err)
	}
	fmt.Fprintf(std.out, "installed %q as kernelspec %s in %s\n", spec.DisplayName, spec.Name, dir)
	return nil
}

// executable returns the absolute path of this program for a kernelspec. It rejects a
// binary that go run has put into a temporary folder, because it is removed afterwards.
func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find the path of this program: %w", err)
	}
	if slashed := filepath.ToSlash(path); strings.Contains(slashed, "/go-build") && strings.Contains(slashed, "/exe/") {
		return "", fmt.Errorf("%s is a temporary build of go run; build quern first (make build), then install it", path)
	}
	return path, nil
}
