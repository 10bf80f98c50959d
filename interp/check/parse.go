package check

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// bodyName is the function that contains the statements of a cell in the file for go/types.
// Identifiers of users do not contain the letter ʹ.
const bodyName = "bodyʹ"

// predeclared and [OutputCommand] are the only names with this letter that a cell may use. The session defines them, and
// calls them for commands.
const predeclared = "ʹ"

// OutputCommand is the function for commands whose output is assigned.
const OutputCommand = "ʹʹ"

// isReserved reports whether a cell may not define or use a name.
func isReserved(name string) bool {
	return strings.Contains(name, "ʹ") && name != predeclared && name != OutputCommand
}

// A unit is a cell during the check, with the file that is made from it.
type unit struct {
	number  int
	src     string
	chunks  []chunk
	plan    *plan
	file    *ast.File
	token   *token.File
	body    *ast.FuncDecl
	pieces  []piece
	inits   int  // number of func init
	values  bool // the last statement is a list of expressions
	program bool // the cell has a package clause
	sketch  bool // another cell may be running: the types of the session must not change
	table   lineTable
}

// lines returns the table of the lines of the source. The steps of a check do not move lines.
func (u *unit) lines() lineTable {
	if u.table == nil {
		u.table = linesOf(u.src)
	}
	return u.table
}

// A piece is a package-level declaration in the file of a unit.
type piece struct {
	node        ast.Decl
	declaration *declaration // nil for var and func init
	carried     bool
	chunk       int // index in unit.chunks, unless carried
}

// parse splits and parses a cell, with the carried declarations of the plan before its own. It
// returns all syntax errors, with positions in the cell.
//
// It checks ctx between its steps. If ctx has ended, both results are nil.
func parse(ctx context.Context, fset *token.FileSet, number int, src string, p *plan) (*unit, ErrorList) {
	u := &unit{number: number, src: src, plan: p}
	if errs := u.scan(); errs != nil {
		return nil, errs
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	text := u.text()
	file, err := parser.ParseFile(fset, "", text, parser.AllErrors)
	u.token = lastFile(fset)
	if err != nil {
		fset.RemoveFile(u.token)
		if ctx.Err() != nil {
			return nil, nil
		}
		if e := deepBlock(text); e != nil {
			return nil, ErrorList{e}
		}
		return nil, u.syntaxErrors()
	}
	if e := deepest(fset, file); e != nil {
		fset.RemoveFile(u.token)
		return nil, ErrorList{e}
	}
	u.file = file
	u.body = file.Decls[len(file.Decls)-1].(*ast.FuncDecl)
	u.cut(fset)
	return u, nil
}

// cut assigns to the declarations of the file the text that they come from.
func (u *unit) cut(fset *token.FileSet) {
	decls := u.file.Decls[:len(u.file.Decls)-1]
	for len(decls) > 0 && isImport(decls[0]) {
		decls = decls[1:]
	}
	for _, d := range u.plan.active() {
		u.pieces = append(u.pieces, piece{node: decls[0], declaration: d, carried: true})
		decls = decls[1:]
	}
	for i, c := range u.chunks {
		if c.kind != declChunk || u.plan.kept[i] {
			continue
		}
		p := piece{node: decls[0], chunk: i}
		decls = decls[1:]
		d := &declaration{cell: u.number, program: u.program, line: c.line, column: c.column, text: u.src[c.start:c.end], doc: u.src[c.doc:c.start]}
		d.describe(fset, p.node)
		if g, ok := p.node.(*ast.GenDecl); (!ok || g.Tok != token.VAR) && len(d.keys) > 0 && d.keys[0] != "init" {
			p.declaration = d
		}
		u.pieces = append(u.pieces, p)
	}
}

func isImport(d ast.Decl) bool {
	g, ok := d.(*ast.GenDecl)
	return ok && g.Tok == token.IMPORT
}

// lastFile returns the file that was last added to fset.
func lastFile(fset *token.FileSet) *token.File { return fset.File(token.Pos(fset.Base() - 1)) }

// scan splits the cell, and rejects text that is not Go and that the parser would misread.
func (u *unit) scan() ErrorList {
	list, comments := scan(u.src)
	if offset, msg := tooDeep(list); msg != "" {
		return ErrorList{u.errorAt(offset, msg)}
	}
	chunks, unmatched := splitList(u.src, list, comments, u.lines())
	if unmatched >= 0 {
		return ErrorList{u.errorAt(unmatched, fmt.Sprintf("unexpected %q: no bracket is open here", u.src[unmatched]))}
	}
	u.chunks = chunks
	u.values = u.endsInList()
	var errs ErrorList
	for i := range chunks {
		c := &chunks[i]
		switch {
		case c.first == token.PACKAGE:
			if e := u.checkPackageClause(i); e != nil {
				errs = append(errs, e)
			}
		case c.first == token.REM, c.first == token.NOT && !u.isExpression(c):
			errs = append(errs, u.commandError(c))
		}
	}
	errs = append(errs, u.timedErrors()...)
	for _, c := range comments {
		if msg := rejectedDirective(u.src[c[0]:c[1]]); msg != "" {
			errs = append(errs, u.errorAt(c[0], msg))
		}
	}
	u.src = withoutLineDirectives(u.src, comments)
	if n := len(comments); n > 0 {
		at := comments[n-1][0]
		if rest, ok := strings.CutPrefix(u.src[at:], "/*"); ok && !strings.Contains(rest, "*/") {
			errs = append(errs, u.errorAt(at, "comment not terminated"))
		}
	}
	for _, t := range list {
		if t.tok == token.IDENT && isReserved(t.lit) {
			errs = append(errs, u.errorAt(t.offset, fmt.Sprintf("the letter ʹ in %s is reserved: choose another name", t.lit)))
		}
	}
	return errs
}

// withoutLineDirectives returns src with line directives turned into ordinary comments, because
// they would change the positions of the following code.
func withoutLineDirectives(src string, comments [][2]int) string {
	text := []byte(src)
	for _, c := range comments {
		if strings.HasPrefix(src[c[0]+2:], "line ") {
			text[c[0]+2] = 'L'
		}
	}
	return string(text)
}

// endsInList reports whether the cell ends in several expressions separated by commas. That is not
// a Go statement; the cell shows their values.
func (u *unit) endsInList() bool {
	if len(u.chunks) == 0 {
		return false
	}
	c := u.chunks[len(u.chunks)-1]
	if c.kind != stmtChunk || c.quiet || !strings.Contains(u.src[c.start:c.end], ",") {
		return false
	}
	text := u.src[c.start:c.last]
	if slices.ContainsFunc(u.chunks, u.isTimedMark) {
		return false
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+text+"\n}", parser.SkipObjectResolution); err == nil {
		return false
	}
	e, err := parser.ParseExpr("f(" + text + ")")
	if err != nil {
		return false
	}
	call, ok := e.(*ast.CallExpr)
	return ok && len(call.Args) > 1 && !call.Ellipsis.IsValid()
}

// isExpression distinguishes an expression that begins with ! from a shell command.
func (u *unit) isExpression(c *chunk) bool {
	_, err := parser.ParseExpr(u.src[c.start:c.end])
	return err == nil
}

func (u *unit) commandError(c *chunk) *Error {
	return u.errorAt(c.start, fmt.Sprintf("a command with %c must be at the beginning of its own line", u.src[c.start]))
}

// text arranges the chunks of the cell as a Go file. Line directives keep their positions.
func (u *unit) text() string {
	var b strings.Builder
	b.WriteString("package main\n")
	statements := false
	for i := range u.chunks {
		c := &u.chunks[i]
		if c.kind == stmtChunk && !(u.program && u.isCommandCall(*c)) {
			statements = true
		}
		if c.kind == varChunk {
			// A var after the first statement runs as a statement.
			if c.kind = declChunk; statements {
				c.kind = stmtChunk
			}
		}
	}
	for _, k := range []kind{importChunk, declChunk, stmtChunk} {
		if k == declChunk {
			for _, d := range u.plan.active() {
				fmt.Fprintf(&b, "%s%s\n", directive(d.cell, d.line, d.column), u.plan.source(d))
			}
		}
		if k == stmtChunk {
			fmt.Fprintf(&b, "func %s() {\n", bodyName)
		}
		for i, c := range u.chunks {
			if u.values && i == len(u.chunks)-1 && k == stmtChunk {
				fmt.Fprintf(&b, "%s(%s%s)\n", showName, directive(u.number, c.line, c.column), u.src[c.start:c.last])
			} else if c.kind == k && !u.plan.kept[i] {
				fmt.Fprintf(&b, "%s%s\n", directive(u.number, c.line, c.column), u.src[c.start:c.end])
			}
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func directive(number, line, column int) string {
	return fmt.Sprintf("/*line %s:%d:%d*/", Filename(number), line, column)
}

// position returns the position of an offset in the source.
func (u *unit) position(offset int) token.Position {
	line, column := u.lines().position(min(offset, len(u.src)))
	return token.Position{Filename: Filename(u.number), Line: line, Column: column}
}

func (u *unit) errorAt(offset int, msg string) *Error {
	return &Error{Pos: u.position(offset), Msg: msg}
}

// sorted sorts the errors by position, those of this cell first, and removes duplicates.
func (l ErrorList) sorted(number int) ErrorList {
	own := Filename(number)
	sort.SliceStable(l, func(i, j int) bool {
		a, b := l[i].Pos, l[j].Pos
		if (a.Filename == own) != (b.Filename == own) {
			return a.Filename == own
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	// go/types checks some expressions twice.
	return slices.CompactFunc(l, func(x, y *Error) bool { return x.Pos == y.Pos && x.Msg == y.Msg })
}

// Completeness reports whether a cell can be run as it stands.
type Completeness int

// Results of IsComplete.
const (
	Complete   Completeness = iota
	Incomplete              // more text can complete it
	Invalid                 // no further text can make it valid
)

// IsComplete checks the syntax of a cell. depth is the number of brackets that are open at
// its end.
func IsComplete(src string) (status Completeness, depth int) {
	list, _ := scan(src)
	for _, t := range list {
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if depth--; depth < 0 {
				return Invalid, 0
			}
		}
	}
	if _, msg := tooDeep(list); msg != "" {
		return Invalid, depth
	}
	if unterminated(src) {
		return Incomplete, depth
	}
	u, errs := parse(context.Background(), token.NewFileSet(), 1, src, &plan{})
	if u != nil && errs == nil {
		return Complete, 0
	}
	end := (&unit{number: 1, src: src}).position(len(strings.TrimRight(src, " \t\r\n")))
	for _, e := range errs {
		if before(e.metAt(), end) {
			return Invalid, depth
		}
	}
	return Incomplete, depth
}

// unterminated reports whether src ends inside a raw string or a comment.
func unterminated(src string) bool {
	file := token.NewFileSet().AddFile("", -1, len(src))
	found := false
	var s scanner.Scanner
	s.Init(file, []byte(src), func(_ token.Position, msg string) {
		found = found || msg == "raw string literal not terminated" || msg == "comment not terminated"
	}, 0)
	for tok := token.ILLEGAL; tok != token.EOF; {
		_, tok, _ = s.Scan()
	}
	return found
}

// A Span is a top-level part of a cell: an import, a declaration or a statement.
type Span struct {
	Start, End int // of its first and after its last token, as offsets in the cell
	Doc        int // where the comment immediately before begins, or Start
	Place      Place
	// Hides is true for the last statement of a cell if it is an expression, or a list of them, and a
	// semicolon after it hides its value.
	Hides bool
	// List is true for the last statement of a cell if it is a list of expressions, which is not a Go
	// statement.
	List bool
}

// A Place says where Go allows a part of a cell.
type Place int

// The places.
const (
	Anywhere     Place = iota // var, type and const
	PackageLevel              // a package clause, an import, a function or a method
	InFunction                // a statement
)

// Spans splits a cell, whose commands must have been replaced. unmatched is the offset of a closing bracket
// without an opening one, or -1.
func Spans(src string) (spans []Span, unmatched int) {
	u := &unit{src: src}
	if u.chunks, unmatched = split(src); unmatched >= 0 {
		return nil, unmatched
	}
	for _, c := range u.chunks {
		s := Span{Start: c.start, End: c.last, Doc: c.doc}
		switch {
		case c.kind == stmtChunk:
			s.Place = InFunction
		case c.kind == importChunk, c.kind == packageChunk, c.kind == declChunk && c.first == token.FUNC:
			s.Place = PackageLevel
		}
		spans = append(spans, s)
	}
	statements, last := false, -1
	for i, c := range u.chunks {
		statements = statements || c.kind == stmtChunk
		if c.kind == stmtChunk || c.kind == varChunk && statements {
			last = i
		}
	}
	if last < 0 || u.chunks[last].kind != stmtChunk {
		return spans, -1
	}
	if c := u.chunks[last]; c.quiet {
		_, err := parser.ParseExpr(src[c.start:c.last])
		spans[last].Hides = err == nil
	}
	if last == len(spans)-1 {
		spans[last].List = u.endsInList()
	}
	return spans, -1
}

// An Import is an import of a cell.
type Import struct {
	Path   string
	Offset int // of the declaration in the cell
}

// Imports returns the imports of a cell.
func Imports(src string) (list []Import) {
	chunks, _ := split(src)
	for _, c := range chunks {
		if c.kind != importChunk {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+src[c.start:c.end], parser.ImportsOnly)
		if err != nil {
			continue // the check of the cell finds it
		}
		for _, spec := range file.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil {
				list = append(list, Import{path, c.start})
			}
		}
	}
	return list
}
