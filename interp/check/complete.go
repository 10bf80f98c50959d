package check

import (
	"context"
	"go/scanner"
	"go/token"
	"strings"
)

// Completeness reports whether a cell can be run as it stands.
type Completeness int

// Results of IsComplete.
const (
	Complete   Completeness = iota
	Incomplete              // more text can complete it
	Invalid                 // no further text can make it valid
)

// IsComplete checks the syntax of a cell. depth is the number of brackets that are open at
// its end.
func IsComplete(src string) (status Completeness, depth int) {
	list, _ := scan(src)
	for _, t := range list {
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if depth--; depth < 0 {
				return Invalid, 0
			}
		}
	}
	if _, msg := tooDeep(list); msg != "" {
		return Invalid, depth
	}
	if unterminated(src) {
		return Incomplete, depth
	}
	u, errs := parse(context.Background(), token.NewFileSet(), 1, src, &plan{})
	if u != nil && errs == nil {
		return Complete, 0
	}
	end := (&unit{number: 1, src: src}).position(len(strings.TrimRight(src, " \t\r\n")))
	for _, e := range errs {
		if before(e.metAt(), end) {
			return Invalid, depth
		}
	}
	return Incomplete, depth
}

// unterminated reports whether src ends inside a raw string or a comment.
func unterminated(src string) bool {
	file := token.NewFileSet().AddFile("", -1, len(src))
	found := false
	var s scanner.Scanner
	s.Init(file, []byte(src), func(_ token.Position, msg string) {
		found = found || msg == "raw string literal not terminated" || msg == "comment not terminated"
	}, 0)
	for tok := token.ILLEGAL; tok != token.EOF; {
		_, tok, _ = s.Scan()
	}
	return found
}
