package ptxsim

import (
	"fmt"
	"strings"
)

// ParseError is the error of text that is not PTX, or of unsupported PTX.
type ParseError struct {
	Line    int    // 1-based
	Text    string // the line
	Problem string
	Source  Source // where the line comes from
}

func (e *ParseError) Error() string {
	s := fmt.Sprintf("ptx line %d: %s: %s", e.Line, e.Problem, e.Text)
	if e.Source.Line > 0 {
		s += ", from " + e.Source.String()
	}
	return s
}

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // name, register, opcode with modifiers, or directive with its dot
	tokenNumber           // as written, without a sign
	tokenString           // without the quotes
	tokenMark             // one character
)

type token struct {
	kind tokenKind
	text string
	line int
}

// lexer splits a module's text into tokens.
type lexer struct {
	source string
	at     int
	line   int
	lines  []string
}

// failure returns the error of a line, with which the functions of the parser and of the compiler panic.
func (l *lexer) failure(line int, format string, args ...any) *ParseError {
	text := ""
	if line >= 1 && line <= len(l.lines) {
		text = strings.TrimSpace(l.lines[line-1])
	}
	return &ParseError{Line: line, Text: text, Problem: fmt.Sprintf(format, args...)}
}

// catch, which is deferred, makes a *ParseError with which a function has panicked the error.
func catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case *ParseError:
		*err = p
	default:
		panic(p)
	}
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '%'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// skip skips white space and comments.
func (l *lexer) skip() {
	for l.at < len(l.source) {
		rest := l.source[l.at:]
		switch {
		case rest[0] == '\n':
			l.line++
			l.at++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r':
			l.at++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				panic(l.failure(l.line, "comment without an end"))
			}
			l.line += strings.Count(rest[:end], "\n")
			l.at += end + 2
		default:
			return
		}
	}
}

func (l *lexer) next() token {
	l.skip()
	if l.at == len(l.source) {
		return token{kind: tokenEnd, line: l.line}
	}
	start, c := l.at, l.source[l.at]
	switch {
	case letter(c) || c == '.' && l.at+1 < len(l.source) && letter(l.source[l.at+1]):
		l.at++
		l.word()
		return token{tokenWord, l.source[start:l.at], l.line}
	case digit(c):
		l.number()
		return token{tokenNumber, l.source[start:l.at], l.line}
	case c == '"':
		end := strings.IndexAny(l.source[start+1:], "\"\n")
		if end < 0 || l.source[start+1+end] == '\n' {
			panic(l.failure(l.line, "string without an end"))
		}
		l.at = start + end + 2
		return token{tokenString, l.source[start+1 : l.at-1], l.line}
	case strings.IndexByte("{}[]()<>,;:@!|+-=*/", c) >= 0:
		l.at++
		return token{tokenMark, l.source[start:l.at], l.line}
	}
	panic(l.failure(l.line, "unexpected character %q", c))
}

// word reads to the end of a name. A dot or a double colon joins modifiers.
func (l *lexer) word() {
	for l.at < len(l.source) {
		c, rest := l.source[l.at], l.source[l.at+1:]
		switch {
		case letter(c) || digit(c):
			l.at++
		case c == '.' && rest != "" && (letter(rest[0]) || digit(rest[0])):
			l.at++
		case c == ':' && len(rest) > 1 && rest[0] == ':' && (letter(rest[1]) || digit(rest[1])):
			l.at += 2
		default:
			return
		}
	}
}

func (l *lexer) number() {
	for l.at < len(l.source) {
		c := l.source[l.at]
		exponent := (c == '+' || c == '-') && (l.source[l.at-1] == 'e' || l.source[l.at-1] == 'E') && decimal(l.source[:l.at])
		if !letter(c) && !digit(c) && c != '.' && !exponent {
			return
		}
		l.at++
	}
}

// decimal reports whether the number at the end of the text has a decimal point, so that an
// e in it is an exponent and not a hexadecimal digit.
func decimal(text string) bool {
	for i := len(text) - 1; i >= 0 && (letter(text[i]) || digit(text[i]) || text[i] == '.'); i-- {
		if text[i] == '.' {
			return true
		}
	}
	return false
}
