package link

import (
	"fmt"
	"go/token"
	"strings"
)

// Help reports whether a cell is a help request instead of Go, as in IPython: a qualified
// name or a magic command with one or two question marks before or after it, and perhaps
// spaces between. Two ask for more detail.
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
	name = strings.Trim(name, " \t")
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "%"), "%")
	for part := range strings.SplitSeq(plain, ".") {
		if !token.IsIdentifier(part) {
			return Inspect{}, false
		}
	}
	return Inspect{Code: name, Offset: len(name), Detail: marks - 1}, true
}

// NotFound returns the error of a cell that asks for help on an unknown name. similar is a
// name that resembles it, or "".
func (i Inspect) NotFound(similar string) *CellError {
	text := fmt.Sprintf("no documentation found for %s; check its spelling", i.Code)
	if similar != "" {
		text = fmt.Sprintf("no documentation found for %s; did you mean %s?", i.Code, similar)
	}
	return &CellError{Name: "not found", Value: text, Traceback: []string{text}}
}
