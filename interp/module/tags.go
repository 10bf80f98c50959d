package module

import (
	"os"
	"strings"
)

// BuildTags returns the build tags that GOFLAGS has (-tags=a,b), from the environment or the file
// of "go env -w", with which the go command would compile packages.
func BuildTags() []string {
	flags := os.Getenv("GOFLAGS")
	if flags == "" {
		flags = environmentFile()["GOFLAGS"]
	}
	var tags []string
	for _, flag := range splitFlags(flags) {
		name, value, _ := strings.Cut(flag, "=")
		if strings.TrimPrefix(name, "-") == "-tags" || name == "-tags" {
			tags = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return tags // of the last flag, as in the go command
}

// splitFlags splits GOFLAGS at spaces. An element in quotation marks can have spaces
// (https://pkg.go.dev/cmd/go#hdr-Environment_variables).
func splitFlags(flags string) []string {
	var all []string
	for flags = strings.TrimLeft(flags, " \t\r\n"); flags != ""; flags = strings.TrimLeft(flags, " \t\r\n") {
		end := strings.IndexAny(flags, " \t\r\n")
		if quote := flags[:1]; quote == "'" || quote == `"` {
			flags = flags[1:]
			end = strings.Index(flags, quote)
		}
		if end < 0 {
			end = len(flags)
		}
		all = append(all, flags[:end])
		flags = strings.TrimLeft(flags[end:], `'"`)
	}
	return all
}
