package check

import (
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// syntaxErrors parses each chunk separately, so that an error in one does not hide those of others,
// and all errors are in the cell.
func (u *unit) syntaxErrors() ErrorList {
	var errs ErrorList
	for i := range u.chunks {
		errs = append(errs, u.chunkErrors(i)...)
	}
	if len(errs) == 0 {
		// Each chunk is valid: only an import after a declaration could cause an error, and text
		// puts imports first.
		errs = append(errs, u.errorAt(0, "this cell cannot be parsed as Go"))
	}
	return errs
}

// chunkErrors returns the syntax errors of one chunk of the cell.
func (u *unit) chunkErrors(i int) ErrorList {
	c := u.chunks[i]
	if c.kind == packageChunk {
		return nil
	}
	head, tail := "package main\n", "\n"
	if c.kind == stmtChunk {
		head, tail = "package main\nfunc _() {\n", "\n}\n"
	}
	if c.quiet {
		tail = ";" + tail
	}
	text := head + directive(u.number, c.line, c.column) + u.src[c.start:c.end] + tail
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.AllErrors|parser.SkipObjectResolution)
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return nil
	}
	if e := u.blockOfOtherLanguage(c); e != nil {
		return ErrorList{e}
	}
	var errs ErrorList
	for _, e := range oneEachLine(list) {
		pos := e.Pos
		pos.Offset = 0
		end := u.position(c.end)
		if pos.Filename == Filename(u.number) && before(pos, end) {
			errs = append(errs, u.ownError(c, pos, e.Msg))
			continue
		}
		// The parser ran past the end of the chunk.
		if len(errs) == 0 {
			at := c.last
			if c.quiet {
				at = c.end
			}
			errs = append(errs, u.errorAt(at, u.pastEnd(i, e.Msg)))
		}
		break
	}
	if len(errs) > 0 && !strings.Contains(errs[0].Msg, "not terminated") {
		if open := u.unclosed(c, errs[0].Pos); open != nil {
			return ErrorList{open}
		}
	}
	return errs
}

// oneEachLine keeps the first error of each line. Of two errors at one position, it keeps that of the
// scanner rather than that of the parser about an illegal token, and any error rather than a missing
// semicolon.
func oneEachLine(list scanner.ErrorList) scanner.ErrorList {
	at := map[token.Position]int{}
	for _, e := range list {
		at[e.Pos]++
	}
	list = slices.DeleteFunc(list, func(e *scanner.Error) bool {
		vague := strings.HasSuffix(e.Msg, "found 'ILLEGAL'") || strings.HasPrefix(e.Msg, "expected ';'")
		return vague && at[e.Pos] > 1
	})
	list.RemoveMultiples()
	return list
}

// ownError returns the error of the parser at a position in c. It does not mention the brace of the
// function that contains the statements.
func (u *unit) ownError(c chunk, pos token.Position, msg string) *Error {
	offset := u.lines()[pos.Line-1] + pos.Column - 1
	if text, at := assignmentHint(u.src[c.start:c.end], offset-c.start, msg); text != "" {
		if hint := otherLanguageHint(u.lines().text(u.src, pos.Line), text); hint != "" {
			text = hint
		}
		return u.errorAt(c.start+at, text)
	}
	return &Error{Pos: pos, Msg: u.ownMessage(c, pos, offset, msg)}
}

func (u *unit) ownMessage(c chunk, pos token.Position, offset int, msg string) string {
	first := offset == c.start
	switch {
	case first && (c.first == token.CASE || c.first == token.DEFAULT):
		return fmt.Sprintf("%s is not in a switch or select", c.first)
	case first && c.first == token.ELSE, strings.HasSuffix(msg, "found 'else'"):
		return elseHint(u.src, offset)
	}
	msg = plainTokens(msg)
	if found, ok := strings.CutPrefix(msg, "expected ';', found "); ok {
		msg = unexpected + found + " at the end of a statement"
	}
	if u.isCommand(pos.Line) {
		return msg + ": a command must be at the beginning of a line, outside of blocks"
	}
	if hint := braceHint(u.lines(), u.src, pos.Line, msg); hint != "" {
		return msg + ": " + hint
	}
	if hint := otherLanguageHint(u.lines().text(u.src, pos.Line), msg); hint != "" {
		msg += ": " + hint
	}
	return msg
}

// blockOfOtherLanguage returns the error about a chunk with a syntax error that begins with a word such as try and a brace,
// which the parser takes for a composite literal; nil for others.
func (u *unit) blockOfOtherLanguage(c chunk) *Error {
	list, _ := scan(u.src[c.start:c.end])
	if len(list) < 2 || list[0].tok != token.IDENT || list[1].tok != token.LBRACE || !blockWords[list[0].lit] {
		return nil
	}
	return u.errorAt(c.start, fmt.Sprintf("%s is no keyword of Go: %s", list[0].lit, keywordHints[list[0].lit]))
}

// isCommand reports whether a line looks like a command and is not Go.
func (u *unit) isCommand(line int) bool {
	text := strings.TrimSpace(u.lines().text(u.src, line))
	if len(text) < 2 || text[0] != '%' && text[0] != '!' || !token.IsIdentifier(text[1:2]) && text[:2] != "%%" {
		return false
	}
	_, err := parser.ParseExpr(text)
	return err != nil
}

// pastEnd returns the error of the parser where it ran past a chunk. It says that the parser met the end
// of the cell or of the line, instead of what follows in the generated file.
func (u *unit) pastEnd(i int, msg string) string {
	c := u.chunks[i]
	expected, _, found := strings.Cut(plainTokens(msg), ", found ")
	met := "newline"
	switch {
	case c.quiet:
		met = "';'"
	case i == len(u.chunks)-1:
		met = "end of the cell"
	}
	switch {
	case !found:
		msg = expected
	case expected == "expected ';'":
		msg = "unexpected " + met
	default:
		msg = expected + ", found " + met
	}
	line, _ := u.lines().position(c.last)
	hint := braceHint(u.lines(), u.src, line, msg)
	if hint == "" {
		hint = otherLanguageHint(u.lines().text(u.src, line), msg)
	}
	if hint != "" {
		msg += ": " + hint
	}
	return msg
}

// plainTokens replaces the parser's names of tokens by words.
func plainTokens(msg string) string {
	return strings.NewReplacer("'IDENT'", "name", "'EOF'", "end of the cell", "'STRING'", "string").Replace(msg)
}

func before(p, q token.Position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Column < q.Column
}

// holdsLock reports whether a value of type t must not be copied or zeroed while it is in use,
// because it contains a lock or a wait group of package sync. The rule is that of the copylocks
// analyzer of go vet: a pointer to the value or to a part of it has the methods Lock and Unlock,
// and the value does not. It does not apply to types of sync/atomic, for which zero is an
// ordinary value.
func holdsLock(t types.Type) bool { return holds(t, map[types.Type]bool{}) }

func holds(t types.Type, seen map[types.Type]bool) bool {
	t = types.Unalias(t)
	if seen[t] {
		return false
	}
	seen[t] = true
	if n, ok := t.(*types.Named); ok {
		if p := n.Obj().Pkg(); p != nil && p.Path() == "sync/atomic" {
			return false
		}
		if !types.IsInterface(n) && locks(types.NewPointer(n)) && !locks(n) {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return holds(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if holds(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}

// locks reports whether a type has the methods of a sync.Locker.
func locks(t types.Type) bool {
	set := types.NewMethodSet(t)
	return set.Lookup(nil, "Lock") != nil && set.Lookup(nil, "Unlock") != nil
}
