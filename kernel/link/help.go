package link

import (
	"fmt"
	"go/token"
	"strings"
)

// Help is what a cell asks that is no Go but wants to know what a name means. As
// in IPython that is a name, with its package or value, or that of a command, and
// behind or before it one question mark, or two for more.
func Help(code string) (asked Inspect, ok bool) {
	code = strings.TrimSpace(code)
	name := strings.TrimRight(code, "?")
	if name == code {
		name = strings.TrimLeft(code, "?")
	}
	marks := len(code) - len(name)
	if marks < 1 || marks > 2 {
		return Inspect{}, false
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "%"), "%")
	for part := range strings.SplitSeq(plain, ".") {
		if !token.IsIdentifier(part) {
			return Inspect{}, false
		}
	}
	return Inspect{Code: name, Offset: len(name), Detail: marks - 1}, true
}

// Unknown is why a cell fails that asks for what nothing is known of.
func (i Inspect) Unknown() *CellError {
	text := fmt.Sprintf("nothing is known of %s", i.Code)
	return &CellError{Name: "not found", Value: text, Traceback: []string{text}}
}
