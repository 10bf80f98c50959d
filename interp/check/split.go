package check

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// kind is the kind of a chunk, which determines its place in a Go file.
type kind int

const (
	importChunk kind = iota
	declChunk        // type, const, func
	varChunk         // a declaration or a statement, depending on what precedes it
	stmtChunk
	packageChunk // a package clause, which is left out
)

// A chunk is a top-level part of a cell: an import, a declaration or a statement, without the
// terminating semicolon.
type chunk struct {
	kind       kind
	start, end int         // byte offsets in the source
	last       int         // end of the last token; a comment may follow
	doc        int         // offset of the comment immediately before, or start
	line       int         // of start, from 1
	column     int         // of start, from 1, in bytes
	first      token.Token // the first token
	quiet      bool        // the user terminated it by a semicolon
}

// A lexeme is a token with its text and offset.
type lexeme struct {
	tok    token.Token
	lit    string
	offset int
}

// scan returns the tokens of src without comments, and the start and end offsets of comments.
func scan(src string) (list []lexeme, comments [][2]int) {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		offset := file.Offset(pos)
		switch tok {
		case token.EOF:
			return list, comments
		case token.COMMENT:
			comments = append(comments, [2]int{offset, offset + len(lit)})
		default:
			list = append(list, lexeme{tok, lit, offset})
		}
	}
}

// split splits a cell into chunks at the semicolons outside of brackets. unmatched is the offset of a
// closing bracket without an opening one, or -1.
func split(src string) (chunks []chunk, unmatched int) {
	list, comments := scan(src)
	return splitList(src, list, comments, linesOf(src))
}

func splitList(src string, list []lexeme, comments [][2]int, lines lineTable) (chunks []chunk, unmatched int) {
	depth, start := 0, -1
	semicolons := 0 // so far in the header that may begin at start
	for i, t := range list {
		if start < 0 {
			if t.tok == token.SEMICOLON {
				continue
			}
			start = i
		}
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if depth--; depth < 0 {
				return chunks, t.offset
			}
		case token.SEMICOLON:
			if depth > 0 {
				continue
			}
			if semicolons < maxHeader && inHeader(src, list, start, i) {
				semicolons++
				continue
			}
			chunks = append(chunks, newChunk(list[start:i], t.offset, lines))
			chunks[len(chunks)-1].quiet = t.lit == ";"
			start, semicolons = -1, 0
		}
	}
	if start >= 0 {
		chunks = append(chunks, newChunk(list[start:], len(src), lines))
	}
	before := 0
	for i := range chunks {
		c := &chunks[i]
		for before < len(comments) && comments[before][1] <= c.start {
			before++
		}
		c.doc = docStart(src, comments[:before], c.start)
	}
	return chunks, -1
}

// maxHeader is the maximum number of semicolons in the header of a statement, that of for.
const maxHeader = 2

// inHeader reports whether the semicolon list[i] is in the header of the for, if or switch that begins
// at list[start]. The parser finds the end of the header: up to there the statement has no block and
// does not parse.
func inHeader(src string, list []lexeme, start, i int) bool {
	if list[i].lit != ";" {
		return false
	}
	first := start
	for first+2 < i && list[first].tok == token.IDENT && list[first+1].tok == token.COLON {
		first += 2
	}
	switch list[first].tok {
	case token.FOR, token.IF, token.SWITCH:
	default:
		return false
	}
	parses := func(end string) bool {
		text := "package p\nfunc _() {\n" + src[list[first].offset:list[i].offset] + end + "\n}\n"
		_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
		return err == nil
	}
	if parses("") {
		return false
	}
	// An error inside a block must not make the header swallow the rest of the cell. The block of a
	// function literal is in the header.
	return list[i-1].tok != token.RBRACE || !opensBlock(list[first:i]) || parses("; x {}") || parses("; x; x {}")
}

// opensBlock reports whether the last brace of list closes a block that follows two semicolons or none:
// the block of a for, or of a statement without a header of three parts.
func opensBlock(list []lexeme) bool {
	depth, semicolons := 0, 0
	for _, t := range list {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON:
			if depth == 0 {
				semicolons++
			}
		}
	}
	return semicolons != 1 || list[0].tok != token.FOR
}

func newChunk(list []lexeme, end int, lines lineTable) chunk {
	start := list[0].offset
	line, column := lines.position(start)
	written := list
	for len(written) > 1 && written[len(written)-1].lit == "\n" {
		written = written[:len(written)-1]
	}
	tail := written[len(written)-1]
	last := tail.offset + len(tail.lit)
	if tail.lit == "" {
		last = tail.offset + len(tail.tok.String())
	}
	return chunk{
		last:   min(last, end),
		kind:   kindOf(list),
		start:  start,
		end:    end,
		line:   line,
		column: column,
		first:  list[0].tok,
	}
}

func kindOf(list []lexeme) kind {
	switch list[0].tok {
	case token.PACKAGE:
		return packageChunk
	case token.IMPORT:
		return importChunk
	case token.TYPE, token.CONST:
		return declChunk
	case token.VAR:
		return varChunk
	case token.FUNC:
		if len(list) > 1 && list[1].tok == token.IDENT || isMethod(list) {
			return declChunk
		}
	}
	return stmtChunk
}

// isMethod distinguishes func (r T) name( from the literal func (p T) R {.
func isMethod(list []lexeme) bool {
	depth := 0
	for i, t := range list {
		switch t.tok {
		case token.LPAREN:
			depth++
		case token.RPAREN:
			if depth--; depth == 0 {
				rest := list[i+1:]
				return len(rest) > 1 && rest[0].tok == token.IDENT &&
					(rest[1].tok == token.LPAREN || rest[1].tok == token.LBRACK)
			}
		}
	}
	return false
}

// docStart returns the offset of the first comment of those that directly precede offset without a
// blank line between them, or offset itself.
func docStart(src string, comments [][2]int, offset int) int {
	start := offset
	for i := len(comments) - 1; i >= 0; i-- {
		c := comments[i]
		if c[1] > start {
			continue
		}
		between := src[c[1]:start]
		if strings.TrimSpace(between) != "" || strings.Count(between, "\n") > 1 {
			break
		}
		// A comment after code on the same line belongs to that code.
		line := src[strings.LastIndexByte(src[:c[0]], '\n')+1 : c[0]]
		if strings.TrimSpace(line) != "" {
			break
		}
		start = c[0]
	}
	return start
}
