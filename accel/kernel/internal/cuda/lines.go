package cuda

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/kernel/internal/compile"
)

var lineDirective = regexp.MustCompile(`^\s*#\s*(?:line\s+)?(\d+)(?:\s+"([^"]*)")?`)

// Lines returns the text of the lines of a source file; the names and numbers are those of #line directives.
func Lines(source, name string) map[compile.Line]string {
	all := map[compile.Line]string{}
	at := compile.Line{File: name, Line: 1}
	for _, text := range strings.Split(source, "\n") {
		if m := lineDirective.FindStringSubmatch(text); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				at.Line = n
			}
			if m[2] != "" {
				at.File = m[2]
			}
			continue
		}
		all[at] = strings.TrimRight(text, " \t\r")
		at.Line++
	}
	return all
}
