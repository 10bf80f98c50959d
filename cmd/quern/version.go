package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the Makefile when it builds a release.
var version = ""

// buildVersion returns the release, or the module version that the Go tool has recorded.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.1.0-dev"
}

func runVersion(_ context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("version", flag.ContinueOnError)
	if err := parse(flags, "quern version prints the version.\n", args, std); err != nil {
		return err
	}
	fmt.Fprintf(std.out, "quern %s %s/%s %s\n", buildVersion(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	return nil
}
