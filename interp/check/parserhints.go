package check

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// Errors of the parser in terms of what the user most likely meant.

// assignmentHint returns an error about an assignment where Go expects a value, as in if x = 2. offset is
// that of the parser's error in the chunk, and at is that of the assignment. For other errors the text is
// "".
func assignmentHint(src string, offset int, msg string) (text string, at int) {
	inHeader := strings.Contains(msg, "found assignment (missing parentheses")
	if msg != "expected '==', found '='" && !inHeader {
		return "", 0
	}
	list, _ := scan(src)
	i := slices.IndexFunc(list, func(t lexeme) bool { return t.offset >= offset })
	if i < 0 {
		return "", 0
	}
	if inHeader {
		i = assignmentAfter(list, i)
		if i < 0 {
			return "", 0
		}
	}
	t := list[i]
	switch {
	case t.tok == token.DEFINE:
		return "a condition is missing: x := value sets a variable; add a condition after a semicolon", t.offset
	case t.tok != token.ASSIGN:
		return fmt.Sprintf("%s is an assignment and has no value: use == to compare", t.tok), t.offset
	}
	text = "= is an assignment and has no value: use == to compare"
	switch inside, named := enclosing(list, i); {
	case named && inside == token.LPAREN:
		text += "; Go has no named arguments"
	case named && inside == token.LBRACE:
		text += ", or : to set a field"
	case i > 1 && (list[i-2].tok == token.ASSIGN || list[i-2].tok == token.DEFINE):
		text += ", or two statements to assign twice"
	}
	return text, t.offset
}

// assignmentAfter returns the index of the first assignment from list[i] on that is outside of brackets, or
// -1 if there is none before a block.
func assignmentAfter(list []lexeme, i int) int {
	depth := 0
	for ; i < len(list); i++ {
		switch t := list[i].tok; {
		case t == token.LPAREN, t == token.LBRACK, t == token.LBRACE:
			depth++
		case t == token.RPAREN, t == token.RBRACK, t == token.RBRACE:
			depth--
		case depth == 0 && (t == token.ASSIGN || t == token.DEFINE || token.ADD_ASSIGN <= t && t <= token.AND_NOT_ASSIGN):
			return i
		}
	}
	return -1
}

// enclosing returns the bracket around name = value, where list[i] is the =. named reports whether it is
// that of a call or of a composite literal in which the name begins an argument or an element.
func enclosing(list []lexeme, i int) (bracket token.Token, named bool) {
	if i < 2 || list[i-1].tok != token.IDENT {
		return 0, false
	}
	switch list[i-2].tok {
	case token.LPAREN, token.LBRACE, token.COMMA:
	default:
		return 0, false
	}
	depth := 0
	for i -= 2; i > 0; i-- {
		switch t := list[i].tok; t {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth++
		case token.LPAREN, token.LBRACK, token.LBRACE:
			if depth--; depth < 0 {
				before := list[i-1].tok
				return t, before == token.IDENT || before == token.RPAREN && t == token.LPAREN || before == token.RBRACK
			}
		}
	}
	return 0, false
}

// elseHint returns the error about an else at offset that does not follow an if.
func elseHint(src string, offset int) string {
	list, _ := scan(src[:offset])
	for len(list) > 0 && list[len(list)-1].tok == token.SEMICOLON {
		list = list[:len(list)-1]
	}
	if len(list) == 0 || list[len(list)-1].tok != token.RBRACE {
		return "else must follow the closing brace of an if"
	}
	if owner := blockOwner(list); owner != token.IF && owner != token.ELSE {
		if !owner.IsKeyword() {
			return "else must follow the block of an if"
		}
		return fmt.Sprintf("else must follow the block of an if, and this is the block of a %s", owner)
	}
	return "else must be on the line of the brace that closes its if"
}

// blockOwner returns the keyword of the statement whose block ends list.
func blockOwner(list []lexeme) token.Token {
	depth := 0
	for i, t := range slices.Backward(list) {
		switch t.tok {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth++
		case token.LPAREN, token.LBRACK, token.LBRACE:
			if depth--; depth < 0 {
				return token.ILLEGAL
			}
		case token.SEMICOLON:
			if depth == 0 && t.lit == "\n" {
				return token.ILLEGAL
			}
		case token.IF, token.ELSE, token.FOR, token.SWITCH, token.SELECT, token.FUNC:
			if depth == 0 {
				if t.tok == token.ELSE || t.tok == token.IF && i > 0 && list[i-1].tok == token.ELSE {
					return token.ELSE
				}
				return t.tok
			}
		}
	}
	return token.ILLEGAL
}

// braceHint returns a hint for a line that ends where a block should begin, if the next line begins with its
// brace.
func braceHint(lines lineTable, src string, line int, msg string) string {
	if !strings.HasSuffix(msg, "found newline") {
		return ""
	}
	for line++; line <= len(lines); line++ {
		if text := strings.TrimSpace(lines.text(src, line)); text != "" {
			if strings.HasPrefix(text, "{") {
				return "the opening brace of a block must be on the line of its for, if, switch or func"
			}
			return ""
		}
	}
	return ""
}
