package export

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/quernlab/quern/interp/check"
)

// A section is what becomes of a cell.
type section struct {
	comment      string
	declarations strings.Builder
	start        strings.Builder // of the function: package-level variables and init functions
	body         strings.Builder
	function     string // the name; empty if nothing runs
}

// write returns the text of the program, not formatted.
func (p *program) write(name string) string {
	var sections []*section
	for _, c := range p.cells {
		sections = append(sections, p.section(c))
	}
	main := p.main(sections)
	helpers := p.needs.text(p)
	var b strings.Builder
	fmt.Fprintf(&b, "// This program does what the notebook %s does; cell2 is its second cell. It was made\n// by quern export.\npackage main\n\n", strings.ReplaceAll(name, "\n", " "))
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

// main calls the cells.
func (p *program) main(sections []*section) string {
	usesCtx := p.usesCtx()
	var b strings.Builder
	if usesCtx {
		fmt.Fprintf(&b, "\n// ctx ends when the program is interrupted.\nvar ctx %s.Context\n", p.imports.of("context", "context"))
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
			fmt.Fprintf(&b, "%s(\"cell %d\", %s)\n", p.needs.attempt(p), p.cells[i].place, s.function)
		} else {
			fmt.Fprintf(&b, "%s()\n", s.function)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func (p *program) usesCtx() bool {
	for _, c := range p.cells {
		for _, f := range c.facts {
			if f.object == p.ctx {
				return true
			}
		}
	}
	return false
}

// section makes what a cell becomes.
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
			case c.result() == quiet:
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
	if len(c.checked.Errors) > 0 && (keeps || c.result() == noResult || c.result() == quiet) {
		p.checkErrors(c, s)
	}
	if after != "" {
		s.body.WriteString(after + "\n")
	}
	if strings.TrimSpace(s.start.String()+s.body.String()) != "" {
		s.function = p.fresh(fmt.Sprintf("cell%d", c.place))
	}
	return s
}

// mainFunction returns the function main that the cell declares.
func (c *cell) mainFunction() types.Object {
	for _, piece := range c.pieces {
		if f, ok := piece.decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "main" {
			return c.facts[piece.offset(f.Name.Pos())].object
		}
	}
	return nil
}

// checkErrors ends the cell where an error that nothing reads is not nil.
func (p *program) checkErrors(c *cell, s *section) {
	p.checkUnread(c, c.checked.Errors, s)
}

// overwritten returns the errors that a statement overwrites before anything has read them.
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

// calls reports whether the last expression of a cell does more than compute.
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

// declaration returns a piece at package level; empty if it does not go there as it
// is.
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

// variables declares those of a var declaration that no cell has declared.
func (p *program) variables(c *cell, piece *piece, d *ast.GenDecl) string {
	var lines []string
	for _, spec := range d.Specs {
		for _, id := range spec.(*ast.ValueSpec).Names {
			f := c.facts[piece.offset(id.Pos())]
			if f.defines && id.Name != "_" && p.first[f.object] == c {
				lines = append(lines, p.variable(f.object))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// variable returns the declaration of a variable at package level.
func (p *program) variable(o types.Object) string {
	return fmt.Sprintf("var %s %s", p.name(o), p.typeText(o.Type()))
}

// initialize writes what comes before the statements of a cell: the values of
// its package-level variables, and its init functions.
func (p *program) initialize(c *cell, s *section) {
	for _, init := range c.checked.Init {
		p.initializer(c, init, &s.start)
	}
	for _, piece := range c.pieces {
		if f, ok := piece.decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			fmt.Fprintf(&s.start, "%s()\n", p.name(c.facts[piece.offset(f.Name.Pos())].object))
		}
	}
	var shared []types.Object
	for _, o := range p.order {
		if v, ok := o.(*types.Var); ok && p.first[o] == c && !p.local[o] && v != p.ctx && c.inStatementDefinition(o) {
			shared = append(shared, o)
		}
	}
	for _, o := range shared {
		fmt.Fprintf(&s.declarations, "%s\n", p.variable(o))
	}
}

// inStatementDefinition reports whether a statement of the cell defines a variable.
func (c *cell) inStatementDefinition(o types.Object) bool {
	for offset, f := range c.facts {
		if f.object != o || !f.defines {
			continue
		}
		for _, piece := range c.pieces {
			if piece.start <= offset && offset < piece.end {
				return piece.stmt != nil
			}
		}
	}
	return false
}

// initializer sets variables of a var declaration.
func (p *program) initializer(c *cell, init *types.Initializer, b *strings.Builder) {
	for _, piece := range c.pieces {
		d, ok := piece.decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, spec := range d.Specs {
			spec := spec.(*ast.ValueSpec)
			for i, id := range spec.Names {
				f := c.facts[piece.offset(id.Pos())]
				if f.object == nil || f.object != types.Object(init.Lhs[0]) {
					continue
				}
				p.set(c, piece, spec, i, len(init.Lhs) > 1, b)
				return
			}
		}
	}
}

// set is the assignment of the i-th variable of a var declaration, or of all of
// them at once.
func (p *program) set(c *cell, piece *piece, spec *ast.ValueSpec, i int, all bool, b *strings.Builder) {
	part := func(n ast.Node) string {
		start, end := piece.offset(n.Pos()), piece.offset(n.End())
		return edited(c.Source, start, end, p.renames(c, piece))
	}
	target := func(id *ast.Ident) string {
		if id.Name == "_" {
			return "_"
		}
		return p.name(c.facts[piece.offset(id.Pos())].object)
	}
	switch {
	case len(spec.Values) == 0:
		if spec.Names[i].Name != "_" {
			fmt.Fprintf(b, "%s = *new(%s)\n", target(spec.Names[i]), part(spec.Type))
		}
	case all:
		var names, values []string
		for _, id := range spec.Names {
			names = append(names, target(id))
		}
		for _, v := range spec.Values {
			values = append(values, part(v))
		}
		fmt.Fprintf(b, "%s = %s\n", strings.Join(names, ", "), strings.Join(values, ", "))
	case spec.Names[i].Name == "_" && spec.Type != nil:
		fmt.Fprintf(b, "var _ %s = %s\n", part(spec.Type), part(spec.Values[i]))
	default:
		fmt.Fprintf(b, "%s = %s\n", target(spec.Names[i]), part(spec.Values[i]))
	}
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

// defineLocally reports whether a statement with := defines variables of its
// function.
func (p *program) defineLocally(c *cell, piece *piece) bool {
	for _, o := range p.group(c, piece).defines {
		return p.local[o]
	}
	return true
}

func (p *program) staysLocal(c *cell, piece *piece, d *ast.GenDecl) bool {
	for _, spec := range d.Specs {
		for _, id := range spec.(*ast.ValueSpec).Names {
			if o := c.facts[piece.offset(id.Pos())].object; o != nil && id.Name != "_" && !p.local[o] {
				return false
			}
		}
	}
	return true
}

// assignments set the variables of a var declaration that runs in its turn.
func (p *program) assignments(c *cell, piece *piece, d *ast.GenDecl) string {
	var b strings.Builder
	for _, spec := range d.Specs {
		spec := spec.(*ast.ValueSpec)
		if len(spec.Values) > 0 && len(spec.Names) > 1 {
			p.set(c, piece, spec, 0, true, &b)
			continue
		}
		for i := range spec.Names {
			p.set(c, piece, spec, i, false, &b)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
