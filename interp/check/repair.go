package check

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// closeOpen appends what is missing at the end of src: the end of a comment or a
// string, and brackets. A function literal of go and defer is called, and a
// generic function has parameters.
func closeOpen(src string) string {
	list, comments := scan(src)
	src += endOfText(src, list, comments)
	var open []int // indices in list
	calls := uncalled(list)
	for i, t := range list {
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			open = append(open, i)
		case token.RPAREN, token.RBRACE, token.RBRACK:
			n := len(open) - 1
			if n < 0 || closing(list[open[n]].tok) != t.tok {
				continue
			}
			called := i+1 < len(list) && list[i+1].tok == token.LPAREN
			if !called && needsCall(list, open[n]) {
				calls = append(calls, t.offset+1)
			}
			open = open[:n]
		}
	}
	slices.Sort(calls)
	for _, at := range slices.Backward(slices.Compact(calls)) {
		src = src[:at] + "()" + src[at:]
	}
	var b strings.Builder
	b.WriteString(src)
	for _, i := range slices.Backward(open) {
		end := closing(list[i].tok)
		if end == token.RBRACE {
			b.WriteByte('\n')
		}
		b.WriteString(end.String())
		if needsCall(list, i) {
			b.WriteString("()")
		}
	}
	return b.String()
}

// uncalled are the places where () is missing: the ends of go and defer statements
// that are no calls.
func uncalled(list []lexeme) (calls []int) {
	for i, t := range list {
		if t.tok != token.GO && t.tok != token.DEFER {
			continue
		}
		depth := 0
	statement:
		for j := i + 1; j < len(list); j++ {
			switch list[j].tok {
			case token.LPAREN, token.LBRACE, token.LBRACK:
				depth++
			case token.RPAREN, token.RBRACE, token.RBRACK:
				depth--
			}
			if depth > 0 || depth == 0 && list[j].tok != token.SEMICOLON {
				continue
			}
			if last := list[j-1]; last.tok == token.IDENT {
				calls = append(calls, last.offset+len(last.lit))
			}
			break statement
		}
	}
	return calls
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

// endOfText ends the comment or the string that src ends in.
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

// needsCall says whether () follows the bracket that list[open] opens: that of
// the body of a function that go or defer calls, or of type parameters.
func needsCall(list []lexeme, open int) bool {
	switch list[open].tok {
	case token.LBRACK:
		return open > 1 && list[open-1].tok == token.IDENT && list[open-2].tok == token.FUNC
	case token.LBRACE:
	default:
		return false
	}
	if open > 0 && (list[open-1].tok == token.STRUCT || list[open-1].tok == token.INTERFACE) {
		return false
	}
	depth := 0
	for i := open - 1; i > 0; i-- {
		switch list[i].tok {
		case token.RPAREN, token.RBRACE, token.RBRACK:
			depth++
		case token.LPAREN, token.LBRACE, token.LBRACK:
			if depth--; depth < 0 {
				return false
			}
		case token.SEMICOLON:
			if depth == 0 {
				return false
			}
		case token.FUNC:
			if before := list[i-1].tok; depth == 0 && (before == token.GO || before == token.DEFER) {
				return true
			}
		}
	}
	return false
}

// repairs bounds how often WithoutErrors looks again.
const repairs = 4

// WithoutErrors is src with spaces for the lines that syntax errors lie in, but
// for the line of the offset keep. Offsets stay. It reports whether it is not src.
func WithoutErrors(src string, keep int) (text string, changed bool) {
	text = src
	kept := 1 + strings.Count(src[:keep], "\n")
	for range repairs {
		lines := errorLines(text)
		before := text
		for _, line := range lines {
			if line != kept {
				text = blankLine(text, line)
			}
		}
		if text == before {
			break
		}
	}
	return text, text != src
}

// errorLines are the lines of src, from 1, with what the parser does not take.
func errorLines(src string) (lines []int) {
	u := &unit{number: sketchNumber, src: closeOpen(src), plan: &plan{}}
	chunks, unmatched := split(u.src)
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
		lines = append(lines, e.Pos.Line)
	}
	return lines
}

// brokenOff is the place of a bracket in which a line ends where no line may, or a
// function is declared: the one that closes it was forgotten.
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
				return list[open[0]].offset, true // no function is declared in brackets
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

// opensGroup says whether the parenthesis list[i] begins a list of declarations.
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

func blankLine(src string, line int) string {
	list := strings.SplitAfter(src, "\n")
	if line < 1 || line > len(list) {
		return src
	}
	text := []byte(list[line-1])
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
	list[line-1] = string(text)
	return strings.Join(list, "")
}
