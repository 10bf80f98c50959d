package complete

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// lexeme is a token with its position and text.
type lexeme struct {
	tok        token.Token
	start, end int
	text       string
}

// tokens returns the tokens of src, including comments. An unterminated token ends at the end of src.
func tokens(src string) []lexeme {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	var list []lexeme
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return list
		}
		if tok.IsOperator() && tok != token.SEMICOLON {
			text = tok.String()
		}
		start := file.Offset(pos)
		list = append(list, lexeme{tok, start, start + len(text), text})
	}
}

// inText reports whether offset is in a comment or a string literal.
func inText(src string, offset int) bool {
	for _, t := range tokens(src) {
		if t.start >= offset {
			break
		}
		switch t.tok {
		case token.COMMENT:
			// The end of a line comment is still inside it.
			if offset < t.end || offset == t.end && strings.HasPrefix(t.text, "//") {
				return true
			}
		case token.STRING, token.CHAR:
			terminated := len(t.text) > 1 && t.text[len(t.text)-1] == t.text[0]
			if offset < t.end || offset == t.end && !terminated {
				return true
			}
		}
	}
	return false
}

// isPlain reports whether evaluating an operand runs no code: it consists of names, selectors and indexes.
func isPlain(operand string) bool {
	x, err := parser.ParseExpr(operand)
	if err != nil {
		return false
	}
	plain := true
	ast.Inspect(x, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.BasicLit:
		default:
			plain = false
		}
		return plain
	})
	return plain
}

// operand returns the operand of a selector whose dot is directly before offset. It consists of names,
// selectors, calls and indexes.
func operand(src string, offset int) (text string, ok bool) {
	list := tokens(src[:offset])
	if len(list) > 0 && list[len(list)-1].text == "\n" {
		list = list[:len(list)-1] // an automatic semicolon
	}
	if len(list) < 2 || list[len(list)-1].tok != token.PERIOD {
		return "", false
	}
	return operandEnding(src, list[:len(list)-1])
}

// operandEnding returns the operand at the end of a list of tokens.
func operandEnding(src string, list []lexeme) (text string, ok bool) {
	last := len(list) - 1
	first, depth := last, 0
	for ; first >= 0; first-- {
		switch list[first].tok {
		case token.RPAREN, token.RBRACK:
			depth++
			continue
		case token.LPAREN, token.LBRACK:
			if depth--; depth < 0 {
				return "", false
			}
			continue
		}
		if depth > 0 {
			continue
		}
		if list[first].tok != token.IDENT {
			return "", false
		}
		if first == 0 || list[first-1].tok != token.PERIOD {
			return src[list[first].start:list[last].end], true
		}
		first-- // the dot before it
	}
	return "", false
}

// A String is a string literal around the cursor.
type String struct {
	Start    int    // offset behind its quotation mark
	Raw      bool   // without escape sequences
	Table    string // the map of which it may be a key: names, selectors and indexes; "" if there is none
	Argument bool   // it follows a parenthesis or a comma, as arguments do
}

// StringAt returns the string literal around offset, unless it is the path of an import.
func StringAt(src string, offset int) (s String, ok bool) {
	if _, ok := importPath(src, offset); ok {
		return s, false
	}
	list := tokens(src)
	for i, t := range list {
		terminated := len(t.text) > 1 && t.text[len(t.text)-1] == t.text[0]
		if t.tok != token.STRING || offset <= t.start || offset > t.end || offset == t.end && terminated {
			continue
		}
		s = String{Start: t.start + 1, Raw: t.text[0] == '`'}
		if i > 0 {
			s.Argument = list[i-1].tok == token.LPAREN || list[i-1].tok == token.COMMA
			s.Table = tableOf(src, list[:i])
		}
		return s, true
	}
	return s, false
}

// tableOf returns the operand of the index, or of the call of delete, that begins at the end of a list of tokens; "" if it is not
// plain.
func tableOf(src string, list []lexeme) string {
	last := len(list) - 1
	if last < 1 || list[last].tok != token.LBRACK && list[last].tok != token.COMMA {
		return ""
	}
	text, ok := operandEnding(src, list[:last])
	if !ok || !isPlain(text) {
		return ""
	}
	if list[last].tok == token.COMMA {
		before := strings.TrimRight(src[:list[last-1].end-len(text)], " ")
		if called, ok := strings.CutSuffix(before, "delete("); !ok || strings.HasSuffix(called, ".") {
			return ""
		}
	}
	return text
}

// IndexAt returns the map of whose index nothing but the bracket has been written at offset; "" if there is none.
func IndexAt(src string, offset int) string {
	list := tokens(src[:offset])
	if n := len(list); n > 0 && list[n-1].tok == token.LBRACK && list[n-1].end == offset {
		return tableOf(src, list)
	}
	return ""
}

// importPath reports whether offset is in the path of an import, and where the path begins.
func importPath(src string, offset int) (start int, ok bool) {
	inImport, depth := false, 0
	for _, t := range tokens(src) {
		if t.start >= offset {
			break
		}
		switch t.tok {
		case token.IMPORT:
			inImport, depth = true, 0
		case token.LPAREN:
			depth++
		case token.RPAREN:
			inImport = false
		case token.SEMICOLON:
			if depth == 0 {
				inImport = false
			}
		case token.STRING:
			terminated := len(t.text) > 1 && t.text[len(t.text)-1] == t.text[0]
			if inImport && (offset < t.end || offset == t.end && !terminated) {
				return t.start + 1, true
			}
		}
	}
	return 0, false
}

func importPaths(paths []string, prefix string) []Item {
	var items []Item
	for _, p := range paths {
		if strings.HasPrefix(p, prefix) {
			items = append(items, Item{Text: p, Kind: "module"})
		}
	}
	return items
}
