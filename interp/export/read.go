package export

import (
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

// A notebook is what the cells mean.
type notebook struct {
	cells    []*cell
	ctx      types.Object
	pkg      *types.Package
	importer *sourceImporter
}

// A cell is a checked cell, or a text.
type cell struct {
	Cell
	place   int // among all cells, from 1
	number  int // among the cells that run, from 1
	comment string
	checked *check.Cell
	pieces  []*piece
	facts   map[int]fact          // by offset of the identifier
	unread  map[*types.Var]string // what reports whether an error is unread, see flag
}

// A fact is what an identifier means.
type fact struct {
	object  types.Object
	name    string
	defines bool
}

// A piece is an import, a declaration or a statement of a cell.
type piece struct {
	start, end int // offsets in the cell
	shift      int // from positions of the syntax to offsets
	decl       ast.Decl
	stmt       ast.Stmt
	values     bool // a list of expressions, in a call, as stmt
}

// read checks the cells in order, as a session would.
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
	var objections []Objection
	number := 0
	for i, source := range cells {
		c := &cell{Cell: source, place: i + 1, facts: map[int]fact{}}
		n.cells = append(n.cells, c)
		if source.Markdown || source.Skip || strings.TrimSpace(source.Source) == "" {
			c.comment = text(source)
			continue
		}
		number++
		c.number = number
		importer.place = c.place
		text, objection := importer.get(c, checker.Known)
		if objection == nil {
			text = magic.BlankUnneeded(text, checker.Known)
			c.Source = text
			if line := command(text, checker.Known); line > 0 {
				objection = &Objection{c.place, line, "a command of the kernel is not Go"}
			}
		}
		if objection != nil {
			objections = append(objections, *objection)
			continue
		}
		checked, err := checker.Check(context.Background(), number, c.Source)
		if err != nil {
			if source.MayFail {
				c.comment = "This cell does not compile, as its tag raises-exception allows:\n\n" + indent(source.Source)
				continue
			}
			objections = append(objections, failure(c.place, err))
			continue
		}
		checker.Commit(checked)
		c.checked = checked
		for _, name := range checked.Carried {
			objections = append(objections, Objection{Cell: c.place, Reason: fmt.Sprintf(
				"it redefines what %s of an earlier cell uses, which a program cannot do", name)})
		}
		if c.pieces, err = pieces(c.Source); err != nil {
			return nil, err
		}
	}
	if len(objections) > 0 {
		return nil, refuse(objections)
	}
	n.learn(fset, checker.Info())
	return n, nil
}

// text returns a text, or a cell that is skipped, as a comment.
func text(c Cell) string {
	if c.Markdown || strings.TrimSpace(c.Source) == "" {
		return strings.TrimSpace(c.Source)
	}
	return "This cell is skipped:\n\n" + indent(c.Source)
}

func indent(s string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n\t")
}

// command returns the line of the first command of a cell, from 1; 0 without.
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
func failure(place int, err error) Objection {
	var list check.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return Objection{Cell: place, Reason: err.Error()}
	}
	return Objection{place, list[0].Pos.Line, "it does not compile: " + list[0].Msg}
}

// learn sorts the facts of all cells by cell and offset.
func (n *notebook) learn(fset *token.FileSet, info *types.Info) {
	byName := map[string]*cell{}
	lines := map[*cell][]int{}
	for _, c := range n.cells {
		if c.checked == nil {
			continue
		}
		byName[check.Filename(c.number)] = c
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
		// What the checker made stands where the user wrote something else.
		if strings.HasPrefix(c.Source[min(offset, len(c.Source)):], id.Name) || strings.HasPrefix(id.Name, "initʹ") {
			if c.facts[offset].object != o {
				c.facts[offset] = fact{o, id.Name, defines}
			}
		}
	}
	for id, o := range info.Defs {
		note(id, o, true)
	}
	// An embedded field is a use of its type too, which is what counts here.
	for id, o := range info.Uses {
		note(id, o, false)
	}
}

// pieces parses the pieces of a cell one by one.
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

// parse parses a piece. A var declaration behind a statement is a statement.
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

// offset returns where in the cell a position of the piece's syntax is.
func (p *piece) offset(pos token.Pos) int { return int(pos) + p.shift }

// node returns the syntax of the piece.
func (p *piece) node() ast.Node {
	if p.decl != nil {
		return p.decl
	}
	return p.stmt
}
