package cuda

import (
	"go/scanner"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// message is the first line of a message, such as cell[3](5): error: identifier "foo" is undefined.
var message = regexp.MustCompile(`^(.+)\((\d+)\): ((?:catastrophic |fatal |internal )?error|warning|remark|note)(?: #[\w-]+)?: (.*)$`)

// An Excerpt is an error with the line of the source and a caret below it.
type Excerpt struct {
	*scanner.Error
	Source, Caret string // empty if they are not known
}

// Errors returns the errors in the log of a compiler. A column is the position of the compiler's caret.
func Errors(log string) []Excerpt {
	lines := strings.Split(strings.ReplaceAll(log, "\r\n", "\n"), "\n")
	var all []Excerpt
	for i := 0; i < len(lines); i++ {
		m := message.FindStringSubmatch(lines[i])
		if m == nil || !strings.HasSuffix(m[3], "error") {
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		e := Excerpt{Error: &scanner.Error{Pos: token.Position{Filename: m[1], Line: n}, Msg: m[4]}}
		// The text may continue; then follow the source, indented by two spaces, and a caret.
		for j := i + 1; j < len(lines) && lines[j] != "" && message.FindString(lines[j]) == ""; j++ {
			if caret := strings.TrimRight(lines[j], " \t"); strings.HasSuffix(caret, "^") && strings.Trim(caret, " \t^") == "" {
				e.Source, e.Caret = strings.TrimPrefix(lines[j-1], "  "), strings.TrimPrefix(caret, "  ")
				e.Pos.Column = len(e.Caret)
				break
			}
			if j+1 < len(lines) && !strings.HasSuffix(strings.TrimRight(lines[j+1], " \t"), "^") {
				e.Msg += " " + strings.TrimSpace(lines[j])
			}
		}
		all = append(all, e)
	}
	return all
}
