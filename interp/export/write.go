package export

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/quernlab/quern/interp/check"
)

// A section is the part of the program that a cell becomes.
type section struct {
	comment      string
	declarations strings.Builder
	start        strings.Builder // start of the function: values of package-level variables, and init functions
	body         strings.Builder
	function     string // name of the function; "" if nothing runs
}

// write returns the unformatted text of the program.
func (p *program) write(name string) string {
	var sections []*section
	for _, c := range p.cells {
		sections = append(sections, p.section(c))
	}
	main := p.main(sections)
	helpers := p.needs.text(p)
	var b strings.Builder
	fmt.Fprintf(&b, "// This program was exported from the notebook %s by quern export. The function cell2\n// is the second cell of the notebook.\npackage main\n\n", strings.ReplaceAll(name, "\n", " "))
	b.WriteString(p.imports.text(p.packageName))
	b.WriteString(main)
	for _, s := range sections {
		if s.comment != "" {
			fmt.Fprintf(&b, "\n%s\n", comment(s.comment))
		}
		fmt.Fprintf(&b, "\n%s", s.declarations.String())
		if s.function != "" {
			fmt.Fprintf(&b, "\nfunc %s() {\n%s%s}\n", s.function, s.start.String(), s.body.String())
		}
	}
	b.WriteString(helpers)
	return b.String()
}

func (p *program) packageName(path string) string {
	if imported, err := p.importer.Import(path); err == nil {
		return imported.Name()
	}
	return path
}

// comment puts // before each line.
func comment(text string) string {
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(text, "\r", ""), "\n"), "\n")
	for i, line := range lines {
		switch {
		case line == "":
			lines[i] = "//"
		case strings.HasPrefix(line, "\t"):
			lines[i] = "//" + line
		default:
			lines[i] = "// " + line
		}
	}
	return strings.Join(lines, "\n")
}

// main returns the function main, which calls the functions of the cells.
func (p *program) main(sections []*section) string {
	usesCtx := p.usesCtx()
	var b strings.Builder
	if usesCtx {
		fmt.Fprintf(&b, "\n// ctx is canceled when the program is interrupted.\nvar ctx %s.Context\n", p.imports.of("context", "context"))
	}
	b.WriteString("\nfunc main() {\n")
	if usesCtx {
		base := p.fresh("interruptible")
		stop := p.fresh("stop")
		fmt.Fprintf(&b, "%s, %s := %s.NotifyContext(%s.Background(), %s.Interrupt)\ndefer %s()\nctx = %s\n", base, stop,
			p.imports.safe("os/signal", "signal"), p.imports.of("context", "context"), p.imports.safe("os", "os"), stop, base)
	}
	for i, s := range sections {
		if s.function == "" {
			continue
		}
		if p.cells[i].MayFail {
			fmt.Fprintf(&b, "%s(\"cell %d\", %s)\n", p.needs.attempt(p), p.cells[i].number, s.function)
		} else {
			fmt.Fprintf(&b, "%s()\n", s.function)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func (p *program) usesCtx() bool {
	for _, c := range p.cells {
		for _, f := range c.references {
			if f.object == p.ctx {
				return true
			}
		}
	}
	return false
}

// section returns what a cell becomes.
func (p *program) section(c *cell) *section {
	s := &section{comment: c.comment}
	if c.checked == nil {
		return s
	}
	p.initialize(c, s)
	leads := make([]string, len(c.pieces)+1)
	trails := make([]string, len(c.pieces)+1)
	at := 0
	for i, piece := range c.pieces {
		trails[i], leads[i] = between(c.Source, at, piece.start)
		at = piece.end
	}
	trails[len(c.pieces)], leads[len(c.pieces)] = between(c.Source, at, len(c.Source))
	last := c.last()
	inner := c.inner()
	variable, after := "", ""
	keeps := inner || len(c.checked.Errors) > 0 && last != nil && c.calls()
	for i, piece := range c.pieces {
		lead, trail := leads[i], trails[i+1]
		if i == 0 {
			lead = strings.TrimLeft(lead, "\n")
		}
		if piece.decl != nil {
			if text := p.declaration(c, piece); text != "" {
				fmt.Fprintf(&s.declarations, "%s%s %s\n", lead, text, trail)
			}
			continue
		}
		text := p.statement(c, piece, s)
		if piece == last && c.result() != noResult {
			switch {
			case c.result() == notShown:
				text = p.finish(c, text)
			case keeps:
				variable = p.fresh("result")
				text, after = p.later(c, text, variable, inner)
			default:
				if len(c.checked.Errors) > 0 {
					p.checkErrors(c, s)
				}
				text = p.finish(c, text)
			}
		}
		if s.body.Len() == 0 {
			lead = strings.TrimLeft(lead, "\n")
		}
		p.checkUnread(c, c.overwritten(piece), s)
		p.beginErrors(c, piece, s)
		fmt.Fprintf(&s.body, "%s%s %s\n", lead, text, trail)
	}
	if c.checked.Main {
		fmt.Fprintf(&s.body, "%s()\n", p.name(c.mainFunction()))
	}
	if rest := strings.Trim(leads[len(c.pieces)], "\n"); rest != "" {
		fmt.Fprintf(&s.body, "\n%s\n", rest)
	}
	body := s.body.String()
	if inner {
		s.body.Reset()
		if variable != "" {
			fmt.Fprintf(&s.body, "var %s []any\n", variable)
		}
		fmt.Fprintf(&s.body, "func() {\n%s}()\n", body)
	}
	if len(c.checked.Errors) > 0 && (keeps || c.result() == noResult || c.result() == notShown) {
		p.checkErrors(c, s)
	}
	if after != "" {
		s.body.WriteString(after + "\n")
	}
	if strings.TrimSpace(s.start.String()+s.body.String()) != "" {
		s.function = p.fresh(fmt.Sprintf("cell%d", c.number))
	}
	return s
}

// mainFunction returns the function main that the cell declares.
func (c *cell) mainFunction() types.Object {
	for _, piece := range c.pieces {
		if f, ok := piece.decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "main" {
			return c.references[piece.offset(f.Name.Pos())].object
		}
	}
	return nil
}

// checkErrors ends the cell if an error that is never read is not nil.
func (p *program) checkErrors(c *cell, s *section) {
	p.checkUnread(c, c.checked.Errors, s)
}

// overwritten returns the unread errors that a statement overwrites.
func (c *cell) overwritten(piece *piece) []check.Unread {
	at := piece.offset(piece.stmt.Pos())
	if len(c.checked.Overwrites) == 0 || piece.values || at < 0 || at > len(c.Source) {
		return nil
	}
	before := c.Source[:at]
	line, column := strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n')
	for s, unread := range c.checked.Overwrites {
		if p := c.checked.Fset.Position(s.Pos()); p.Line == line && p.Column == column {
			return unread
		}
	}
	return nil
}

func (p *program) name(o types.Object) string {
	if name := p.names[o]; name != "" {
		return name
	}
	return o.Name()
}

// calls reports whether the last expression of a cell may have side effects.
func (c *cell) calls() bool {
	if len(c.checked.Result) == 0 {
		return c.last().values
	}
	found := false
	ast.Inspect(c.checked.Result[0], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || !c.checked.Info.Types[n.Fun].IsType()
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

// declaration returns the package-level declaration for a piece, or "".
func (p *program) declaration(c *cell, piece *piece) string {
	switch d := piece.decl.(type) {
	case *ast.FuncDecl:
		if c.dropped(piece) {
			return ""
		}
		return p.text(c, piece)
	case *ast.GenDecl:
		switch {
		case d.Tok == token.IMPORT:
			for _, spec := range d.Specs {
				if spec := spec.(*ast.ImportSpec); spec.Name != nil && spec.Name.Name == "_" {
					p.imports.blank[strings.Trim(spec.Path.Value, "\"`")] = true
				}
			}
			return ""
		case d.Tok == token.VAR:
			return p.variables(c, piece, d)
		case c.dropped(piece):
			return ""
		}
		return p.text(c, piece)
	}
	return ""
}

// statement returns a statement in the function of its cell.
func (p *program) statement(c *cell, piece *piece, to *section) string {
	switch s := check.Unlabeled(piece.stmt).(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE && !p.defineLocally(c, piece) {
			at := piece.offset(s.TokPos)
			return p.text(c, piece, edit{at, at + 2, "="})
		}
	case *ast.DeclStmt:
		d := s.Decl.(*ast.GenDecl)
		if d.Tok == token.VAR && !p.staysLocal(c, piece, d) {
			start := piece.offset(s.Pos())
			return edited(c.Source, piece.start, start, p.renames(c, piece)) + p.assignments(c, piece, d)
		}
	}
	return p.text(c, piece, append(p.trackErrors(c, piece, to), p.lostErrors(c, piece)...)...)
}

// defineLocally reports whether a statement with := defines local variables.
func (p *program) defineLocally(c *cell, piece *piece) bool {
	for _, o := range p.group(c, piece).defines {
		return p.local[o]
	}
	return true
}

func (p *program) staysLocal(c *cell, piece *piece, d *ast.GenDecl) bool {
	for _, spec := range d.Specs {
		for _, id := range spec.(*ast.ValueSpec).Names {
			if o := c.references[piece.offset(id.Pos())].object; o != nil && id.Name != "_" && !p.local[o] {
				return false
			}
		}
	}
	return true
}
