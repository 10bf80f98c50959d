package check

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// Brackets that are not closed.
//
// The parser reads the code after such a bracket as if it were inside, and reports an error
// where that fails, perhaps many lines later. The user needs the position of the bracket.

// unclosed returns the error about an unclosed bracket of a chunk: the last one before
// noticed, where the parser found an error. It returns nil if there is none.
func (u *unit) unclosed(c chunk, noticed token.Position) *Error {
	src := u.src[c.start:c.end]
	list, _ := scan(src)
	brackets := unclosedBrackets(list, func(open, closed lexeme) bool { return true })
	if len(brackets) == 0 {
		return nil
	}
	table := linesOf(src)
	indented := unclosedBrackets(list, func(open, closed lexeme) bool {
		return !startsLine(src, closed.offset) || indent(table, src, closed.offset) >= indent(table, src, open.offset)
	})
	for _, brackets := range [][]lexeme{indented, brackets} {
		for _, b := range slices.Backward(brackets) {
			if at := u.position(c.start + b.offset); before(at, noticed) {
				return &Error{Pos: at, Msg: fmt.Sprintf("%q is not closed", b.tok.String()), noticed: noticed}
			}
		}
	}
	return nil
}

// unclosedBrackets returns the unclosed opening brackets in source order. fits reports whether
// a closing bracket of the right kind may belong to an opening one.
func unclosedBrackets(list []lexeme, fits func(open, closed lexeme) bool) []lexeme {
	var open, wrong []lexeme
	for _, t := range list {
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			open = append(open, t)
		case token.RPAREN, token.RBRACE, token.RBRACK:
			at := len(open) - 1
			for at >= 0 && (closing(open[at].tok) != t.tok || !fits(open[at], t)) {
				at--
			}
			if at < 0 {
				at = len(open) - 1 // a bracket of another kind closes the last one
				wrong = append(wrong, open[max(at, 0):]...)
			} else {
				wrong = append(wrong, open[at+1:]...)
			}
			open = open[:max(at, 0)]
		}
	}
	wrong = append(wrong, open...)
	slices.SortFunc(wrong, func(x, y lexeme) int { return x.offset - y.offset })
	return wrong
}

// startsLine reports whether only white space precedes an offset in its line.
func startsLine(src string, offset int) bool {
	return strings.TrimSpace(src[strings.LastIndexByte(src[:offset], '\n')+1:offset]) == ""
}

// indent returns the indentation of the line of an offset; a tab counts as four spaces.
func indent(lines lineTable, src string, offset int) (n int) {
	line, _ := lines.position(offset)
	for _, r := range lines.text(src, line) {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}
