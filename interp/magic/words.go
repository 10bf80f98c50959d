package magic

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/quernlab/quern/interp/symbols"
)

// Values of Go expressions in shell commands: !ls {dir}, as in IPython.
//
// The shell has other uses of braces, which stay as they are: ${dir}, {a,b}, awk '{print $1}', {{.Names}}. So braces hold an
// expression only if a Go expression begins directly behind { and ends directly before }, and mentions a name that the session
// knows, or a package. Doubled braces are passed as single ones where the single ones would hold an expression.

// A piece of a shell command is text, or an expression of the cell if end is not 0.
type piece struct {
	text       string
	start, end int // of the expression in the cell
}

// pieces splits the shell command from start to end of a cell.
func pieces(src string, start, end int, known func(name string) bool) (list []piece) {
	text := func(s string) {
		if n := len(list); n > 0 && list[n-1].end == 0 {
			list[n-1].text += s
		} else if s != "" {
			list = append(list, piece{text: s})
		}
	}
	for at := start; at < end; {
		i := strings.IndexByte(src[at:end], '{')
		if i < 0 {
			text(src[at:end])
			break
		}
		open := at + i
		text(src[at:open])
		begin := open + len(src[open:end]) - len(strings.TrimLeft(src[open:end], "{"))
		n, ok := expression(src[begin:end], known)
		if !ok || open > start && src[open-1] == '$' {
			text(src[open:begin])
			at = begin
			continue
		}
		closing := begin + n
		rest := src[closing:end]
		braces := min(begin-open, len(rest)-len(strings.TrimLeft(rest, "}")))
		half := braces / 2
		text(src[open:begin-braces] + strings.Repeat("{", half))
		if braces%2 == 1 {
			list = append(list, piece{src[begin:closing], begin, closing})
		} else {
			text(src[begin:closing])
		}
		text(strings.Repeat("}", half))
		at = closing + braces
	}
	return list
}

// expression returns the length of the Go expression at the beginning of src, which a closing brace must follow.
func expression(src string, known func(name string) bool) (n int, ok bool) {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, []byte(src), func(token.Position, string) {}, 0)
	for depth := 0; ; {
		pos, tok, _ := s.Scan()
		switch tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
			continue
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.EOF, token.ILLEGAL:
			return 0, false
		}
		if depth >= 0 {
			continue
		}
		text := src[:file.Offset(pos)]
		if tok != token.RBRACE || strings.TrimSpace(text) != text || strings.Contains(text, "\n") {
			return 0, false
		}
		e, err := parser.ParseExpr(text)
		return len(text), err == nil && meansGo(e, known)
	}
}

// meansGo reports whether an expression mentions a known name or a package.
func meansGo(e ast.Expr, known func(name string) bool) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && len(symbols.Guess(id.Name)) > 0 {
				found = true
			}
			found = found || meansGo(n.X, known)
			return false // the name behind the dot means nothing by itself
		case *ast.Ident:
			found = found || known(n.Name)
		}
		return !found
	})
	return found
}

// shellCall writes the call for a shell command. Its expressions stay where they are, unless there is no room.
func shellCall(b *strings.Builder, src string, l line, number int) {
	name := Name
	if l.at > l.start {
		name = OutputName
	}
	fmt.Fprintf(b, "%s%s(%d", src[l.start:l.at], name, number)
	lines := 0
	for _, p := range l.pieces {
		if p.end == 0 {
			continue
		}
		b.WriteByte(',')
		newlines := strings.Count(src[l.start:p.start], "\n")
		b.WriteString(strings.Repeat("\n", newlines-lines))
		lines = newlines
		column := p.start - strings.LastIndexByte(src[:p.start], '\n')
		written := b.String()
		b.WriteString(strings.Repeat(" ", max(column-(len(written)-strings.LastIndexByte(written, '\n')), 0)))
		b.WriteString(src[p.start:p.end])
	}
	b.WriteString(")" + strings.Repeat("\n", strings.Count(src[l.start:l.end], "\n")-lines))
}

// words returns a command with the values of its expressions.
func (r *Run) words(pieces []piece, values []any) (string, error) {
	var b strings.Builder
	for _, p := range pieces {
		if p.end == 0 {
			b.WriteString(p.text)
			continue
		}
		word, err := r.session.Word(values[0])
		if err != nil {
			return "", fmt.Errorf("the value of {%s} %w: make it a string, or write {{%[1]s}} to pass the braces to the shell", p.text, err)
		}
		b.WriteString(word)
		values = values[1:]
	}
	return b.String(), nil
}
