package check

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// closeOpen appends what is missing at the end of src: the end of a comment or a string, and closing
// brackets. It adds a call to the function literal of go and defer, and a parameter list to a generic
// function.
func closeOpen(src string) string {
	list, comments := scan(src)
	calls := []int{} // offsets where () is missing
	// A level is an open bracket, or the whole text. starts and literal describe its current statement.
	type level struct {
		open      token.Token
		needsCall bool // () must follow the closing bracket
		starts    bool // the statement contains go or defer
		literal   bool // go or defer is followed by a function literal
	}
	levels := []level{{}}
	// end is called at the end of a statement. If it is a go or defer statement that ends in a name, () is missing.
	end := func(i int) {
		top := &levels[len(levels)-1]
		if top.starts && i > 0 && list[i-1].tok == token.IDENT {
			calls = append(calls, list[i-1].offset+len(list[i-1].lit))
		}
		top.starts, top.literal = false, false
	}
	for i, t := range list {
		top := &levels[len(levels)-1]
		switch t.tok {
		case token.GO, token.DEFER:
			top.starts = true
		case token.FUNC:
			top.literal = top.literal || i > 0 && (list[i-1].tok == token.GO || list[i-1].tok == token.DEFER)
		case token.SEMICOLON:
			end(i)
		case token.LPAREN, token.LBRACE, token.LBRACK:
			levels = append(levels, level{open: t.tok, needsCall: needsCall(list, i, top.literal)})
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if len(levels) == 1 || closing(top.open) != t.tok {
				continue
			}
			end(i)
			called := i+1 < len(list) && list[i+1].tok == token.LPAREN
			if !called && top.needsCall {
				calls = append(calls, t.offset+1)
			}
			levels = levels[:len(levels)-1]
		}
	}
	text := src + endOfText(src, list, comments)
	slices.Sort(calls)
	var b strings.Builder
	at := 0
	for _, call := range slices.Compact(calls) {
		b.WriteString(text[at:call] + "()")
		at = call
	}
	b.WriteString(text[at:])
	for _, l := range slices.Backward(levels[1:]) {
		closed := closing(l.open)
		if closed == token.RBRACE {
			b.WriteByte('\n')
		}
		b.WriteString(closed.String())
		if l.needsCall {
			b.WriteString("()")
		}
	}
	return b.String()
}

func closing(open token.Token) token.Token {
	switch open {
	case token.LPAREN:
		return token.RPAREN
	case token.LBRACE:
		return token.RBRACE
	default:
		return token.RBRACK
	}
}

// endOfText returns the end of the comment or the string in which src ends.
func endOfText(src string, list []lexeme, comments [][2]int) string {
	if n := len(comments); n > 0 && comments[n-1][1] == len(src) {
		text := src[comments[n-1][0]:]
		switch {
		case strings.HasPrefix(text, "//"):
			return "\n"
		case len(text) < 4 || !strings.HasSuffix(text, "*/"):
			return "*/"
		}
		return ""
	}
	for _, t := range slices.Backward(list) {
		switch {
		case t.tok == token.SEMICOLON && t.lit != ";":
			continue // inserted by the scanner
		case (t.tok == token.STRING || t.tok == token.CHAR) && t.offset+len(t.lit) == len(src) &&
			(len(t.lit) < 2 || t.lit[len(t.lit)-1] != t.lit[0]):
			return t.lit[:1]
		}
		break
	}
	return ""
}

// needsCall reports whether () must follow the bracket at list[open]. That is so for the body of a
// function literal of go or defer, as literal says, and for type parameters.
func needsCall(list []lexeme, open int, literal bool) bool {
	switch list[open].tok {
	case token.LBRACK:
		return open > 1 && list[open-1].tok == token.IDENT && list[open-2].tok == token.FUNC
	case token.LBRACE:
		return literal && list[open-1].tok != token.STRUCT && list[open-1].tok != token.INTERFACE
	}
	return false
}

// maxRepairs is the maximum number of times that WithoutErrors parses.
const maxRepairs = 4

// WithoutErrors returns src with the lines that have syntax errors replaced by spaces, except for the
// line of the offset keep. Offsets do not change. changed reports whether text differs from src.
func WithoutErrors(src string, keep int) (text string, changed bool) {
	text = src
	kept := 1 + strings.Count(src[:keep], "\n")
	for range maxRepairs {
		before := text
		text = blankLines(text, slices.DeleteFunc(errorLines(text), func(line int) bool { return line == kept }))
		if text == before {
			break
		}
	}
	return text, text != src
}

// errorLines returns the numbers of the lines of src, from 1, with syntax errors.
func errorLines(src string) (lines []int) {
	u := &unit{number: sketchNumber, src: closeOpen(src), plan: &plan{}}
	list, comments := scan(u.src)
	if _, msg := tooDeep(list); msg != "" {
		return nil
	}
	chunks, unmatched := splitList(u.src, list, comments, u.lines())
	if unmatched >= 0 {
		return []int{u.position(unmatched).Line}
	}
	u.chunks = chunks
	if offset, ok := brokenOff(src); ok {
		return []int{u.position(offset).Line}
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "", u.text(), parser.SkipObjectResolution); err == nil {
		return nil
	}
	for _, e := range u.syntaxErrors() {
		lines = append(lines, e.metAt().Line)
	}
	return lines
}

// brokenOff returns the offset of a bracket that the user forgot to close: a line ends inside it where
// no line may end, or a function is declared inside it.
func brokenOff(src string) (offset int, ok bool) {
	list, _ := scan(src)
	var open []int
	for i, t := range list {
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			open = append(open, i)
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case token.FUNC:
			if len(open) > 0 && i+1 < len(list) && list[i+1].tok == token.IDENT {
				return list[open[0]].offset, true // functions cannot be declared inside brackets
			}
		case token.SEMICOLON:
			if len(open) == 0 || i == len(list)-1 {
				continue
			}
			last := open[len(open)-1]
			if list[last].tok != token.LBRACE && !opensGroup(list, last) {
				return list[last].offset, true
			}
		}
	}
	return 0, false
}

// opensGroup reports whether the parenthesis list[i] begins a group of declarations.
func opensGroup(list []lexeme, i int) bool {
	if i == 0 {
		return false
	}
	switch list[i-1].tok {
	case token.IMPORT, token.CONST, token.TYPE, token.VAR:
		return true
	}
	return false
}

// blankLines returns src with spaces in place of some lines.
func blankLines(src string, lines []int) string {
	text, table := []byte(src), linesOf(src)
	for _, line := range lines {
		if line < 1 || line > len(table) {
			continue
		}
		start := table[line-1]
		for i, c := range []byte(table.text(src, line)) {
			if c != '\r' {
				text[start+i] = ' '
			}
		}
	}
	return string(text)
}
