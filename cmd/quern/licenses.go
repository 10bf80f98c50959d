package main

import (
	"context"
	"flag"
	"io"

	"github.com/quernlab/quern/internal/notices"
)

const licensesUsage = `quern licenses prints the licenses of everything that the program contains: modules, fonts, data sets and Go.
`

func runLicenses(_ context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("licenses", flag.ContinueOnError)
	if err := parse(flags, licensesUsage, args, std); err != nil {
		return err
	}
	_, err := io.WriteString(std.out, notices.Text)
	return err
}
