package inspect

import (
	"go/token"
	"slices"
)

// callee returns the offset of the name of the called function if offset is in or directly after its
// argument list.
func callee(src string, offset int) (at int, ok bool) {
	list := tokensBefore(src, offset)
	if n := len(list); n > 0 && list[n-1].tok == token.RPAREN && list[n-1].offset == offset-1 {
		list = list[:n-1]
	}
	depth := 0
	for i, t := range slices.Backward(list) {
		switch t.tok {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth++
		case token.LBRACK, token.LBRACE:
			if depth--; depth < 0 {
				depth = 0
			}
		case token.LPAREN:
			if depth--; depth < 0 {
				return nameBefore(list[:i])
			}
		case token.SEMICOLON:
			if depth == 0 {
				return 0, false
			}
		}
	}
	return 0, false
}

// nameBefore returns the offset of the name at the end of list, which may have type arguments.
func nameBefore(list []lexeme) (at int, ok bool) {
	depth := 0
	for _, t := range slices.Backward(list) {
		switch {
		case t.tok == token.RBRACK:
			depth++
		case t.tok == token.LBRACK:
			depth--
		case depth == 0:
			return t.offset, t.tok == token.IDENT
		}
	}
	return 0, false
}
