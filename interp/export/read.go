package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/module"
)

// A notebook is a sequence of type-checked cells.
type notebook struct {
	cells    []*cell
	ctx      types.Object
	pkg      *types.Package
	importer *sourceImporter
}

// A cell is a type-checked code cell, or a cell that becomes a comment.
type cell struct {
	Cell
	number     int // as Cell has it
	index      int // in the notebook
	executed   int // number among the cells that run, from 1
	comment    string
	checked    *check.Cell
	pieces     []*piece
	references map[int]reference     // by offset of the identifier
	unread     map[*types.Var]string // the flags that report whether an error is unread, see flag
}

// A reference is an identifier with the object that it denotes.
type reference struct {
	object  types.Object
	name    string
	defines bool
}

// A piece is an import, a declaration or a statement of a cell.
type piece struct {
	start, end int // offsets in the cell
	shift      int // offset in the cell minus position in the syntax
	decl       ast.Decl
	stmt       ast.Stmt
	values     bool // stmt is a list of expressions, parsed as the arguments of a call
}

// read type-checks the cells in order, as a session in dir does.
func read(ctx context.Context, cells []Cell, modules module.Source, dir string) (*notebook, error) {
	fset := token.NewFileSet()
	importer := newSourceImporter(ctx, fset, modules, dir)
	checker, err := newChecker(fset, importer)
	if err != nil {
		return nil, err
	}
	n := &notebook{pkg: checker.Package(), importer: importer}
	for _, v := range checker.Variables() {
		n.ctx = v
	}
	var problems []Problem
	number := 0
	for i, source := range cells {
		c := &cell{Cell: source, number: cmp.Or(source.Number, i+1), index: i, references: map[int]reference{}}
		n.cells = append(n.cells, c)
		if source.Markdown || source.Skip || strings.TrimSpace(source.Source) == "" {
			c.comment = text(source)
			continue
		}
		number++
		c.executed = number
		importer.cell = c.number
		text, objection := importer.get(c, checker.Known)
		if objection == nil {
			text = magic.BlankUnneeded(text, checker.Known)
			c.Source = text
			if line := command(text, checker.Known); line > 0 {
				objection = &Problem{c.number, line, "kernel commands cannot be exported; remove them, or give the cell the tag skip-execution"}
			}
		}
		if objection != nil {
			problems = append(problems, *objection)
			continue
		}
		checked, err := checker.Check(context.Background(), number, c.Source)
		if err != nil {
			if source.MayFail {
				c.comment = "This cell does not compile; its tag raises-exception allows that:\n\n" + indent(source.Source)
				continue
			}
			problems = append(problems, failure(c.number, err))
			continue
		}
		checker.Commit(checked)
		c.checked = checked
		for _, name := range checked.Carried {
			problems = append(problems, Problem{Cell: c.number, Reason: fmt.Sprintf(
				"redefines a name that %s of an earlier cell uses, and a program has only one version of %[1]s; use another name", name)})
		}
		if c.pieces, err = pieces(c.Source); err != nil {
			return nil, err
		}
	}
	if len(problems) > 0 {
		return nil, reject(problems)
	}
	n.learn(fset, checker.Info())
	return n, nil
}

// text returns the comment for a text cell or a skipped cell.
func text(c Cell) string {
	if c.Markdown || strings.TrimSpace(c.Source) == "" {
		return strings.TrimSpace(c.Source)
	}
	return "This cell is skipped:\n\n" + indent(c.Source)
}

func indent(s string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n\t")
}

// command returns the line of the first command of a cell, from 1; 0 if there is none.
func command(src string, known func(string) bool) int {
	blank := magic.Blank(src, known)
	for i := range blank {
		if blank[i] != src[i] {
			return 1 + strings.Count(src[:i], "\n")
		}
	}
	return 0
}

// failure returns the first error of a cell that does not compile.
func failure(number int, err error) Problem {
	var list check.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return Problem{Cell: number, Reason: err.Error()}
	}
	return Problem{number, list[0].Pos.Line, "does not compile: " + list[0].Msg}
}

// learn distributes the information of the checker to the cells.
func (n *notebook) learn(fset *token.FileSet, info *types.Info) {
	byName := map[string]*cell{}
	lines := map[*cell][]int{}
	for _, c := range n.cells {
		if c.checked == nil {
			continue
		}
		byName[check.Filename(c.executed)] = c
		starts := []int{0}
		for i, b := range []byte(c.Source) {
			if b == '\n' {
				starts = append(starts, i+1)
			}
		}
		lines[c] = starts
	}
	note := func(id *ast.Ident, o types.Object, defines bool) {
		position := fset.Position(id.Pos())
		c := byName[position.Filename]
		if c == nil || o == nil || position.Line > len(lines[c]) {
			return
		}
		offset := lines[c][position.Line-1] + position.Column - 1
		// Ignore identifiers that the checker generated: other text is at their position.
		if strings.HasPrefix(c.Source[min(offset, len(c.Source)):], id.Name) || strings.HasPrefix(id.Name, "initʹ") {
			if c.references[offset].object != o {
				c.references[offset] = reference{o, id.Name, defines}
			}
		}
	}
	for id, o := range info.Defs {
		note(id, o, true)
	}
	// An embedded field is also a use of its type. Here the use counts.
	for id, o := range info.Uses {
		note(id, o, false)
	}
}

// pieces splits a cell into its pieces and parses them.
func pieces(src string) ([]*piece, error) {
	var list []*piece
	statements := false
	for _, place := range check.Statements(src) {
		p := &piece{start: place[0], end: place[1]}
		text := src[p.start:p.end]
		if err := p.parse(text, statements); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		statements = statements || p.stmt != nil
		if p.decl != nil || p.stmt != nil {
			list = append(list, p)
		}
	}
	return list, nil
}

// parse parses a piece. A var declaration after a statement is a statement.
func (p *piece) parse(text string, statements bool) error {
	const declHead, stmtHead, listHead = "package p\n", "package p\nfunc _() {\n", "package p\nfunc _() {\nvalues("
	if file := parse(declHead + text + "\n"); file != nil && len(file.Decls) == 1 {
		if d, ok := file.Decls[0].(*ast.GenDecl); !ok || d.Tok != token.VAR || !statements {
			p.decl, p.shift = file.Decls[0], p.start-len(declHead)-1
			return nil
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", stmtHead+text+"\n}\n", parser.SkipObjectResolution)
	p.shift = p.start - len(stmtHead) - 1
	if err != nil {
		list := parse(listHead + text + ")\n}\n")
		if list == nil {
			return err
		}
		file, p.values, p.shift = list, true, p.start-len(listHead)-1
	}
	if body := file.Decls[0].(*ast.FuncDecl).Body.List; len(body) > 0 {
		p.stmt = body[0]
	}
	return nil
}

func parse(text string) *ast.File {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	return file
}

// offset converts a position in the syntax of the piece to an offset in the cell.
func (p *piece) offset(pos token.Pos) int { return int(pos) + p.shift }

// node returns the syntax of the piece.
func (p *piece) node() ast.Node {
	if p.decl != nil {
		return p.decl
	}
	return p.stmt
}
