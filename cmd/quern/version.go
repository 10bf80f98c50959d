package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is set with -ldflags "-X main.version=…" where the Go tool cannot know it.
var version = ""

// buildVersion returns the version without the v of its tag. The Go tool takes it from the tags of a checkout, or
// from the version that go install was asked for.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
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
