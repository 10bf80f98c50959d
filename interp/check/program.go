package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"hash/maphash"
	"slices"
	"strings"
)

// Programs in a cell.
//
// A cell that declares func main and has no statements runs main, as go run does: [Cell.Main]. A
// cell whose only statement is main() runs the program again: [Cell.RunsMain]. A cell that begins
// with a package clause is a pasted Go file. Its meaning does not depend on earlier cells:
//
//   - A name that it does not declare or import is the predeclared one, before that of an earlier
//     cell.
//   - Its types have the methods that it declares, and no methods of earlier cells.
//
// Its declarations stay, as with any cell. Further errors of the Go compiler become notes.

// checkPackageClause returns an error unless the package clause is that of a program at the
// beginning of the cell.
func (u *unit) checkPackageClause(i int) *Error {
	c := u.chunks[i]
	for _, before := range u.chunks[:i] {
		if !u.isCommandCall(before) {
			return u.errorAt(c.start, "a package clause must come first in its cell: remove this line, or paste the program into a cell of its own")
		}
	}
	if fields := strings.Fields(u.src[c.start:c.last]); len(fields) != 2 || fields[1] != "main" {
		return u.errorAt(c.start, "a cell is in package main: remove this line")
	}
	u.program = true
	return nil
}

// isCommandCall reports whether a chunk is the call that replaces a command.
func (u *unit) isCommandCall(c chunk) bool {
	return c.kind == stmtChunk && strings.HasPrefix(u.src[c.start:c.end], predeclared+"(") || u.isTimedMark(c)
}

// isStatement reports whether a chunk is a statement that the user wrote.
func (u *unit) isStatement(c chunk) bool {
	return c.kind == stmtChunk && c.first != token.VAR && !u.isCommandCall(c)
}

// callMain adds a call of main at the end of the cell if the cell has no statements.
func (a *attempt) callMain() {
	if a.sketch {
		return
	}
	i := slices.IndexFunc(a.file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name == "main" && f.Type.TypeParams == nil && f.Type.Params.NumFields() == 0 &&
			f.Type.Results.NumFields() == 0 && f.Body != nil && a.isOwn(f.Pos())
	})
	if i < 0 {
		a.runsMain = a.callsMainOnly()
		return
	}
	main := a.file.Decls[i].(*ast.FuncDecl)
	if slices.ContainsFunc(a.chunks, a.isStatement) {
		if a.runsMain = a.callsMainOnly(); !hasName(a.body, "main") {
			const msg = "main was not called, because the cell also has statements: add main() to call it"
			a.note(main.Name.Pos(), msg, msg)
		}
		return
	}
	a.main, a.runsMain = true, true
	a.body.Body.List = append(a.body.Body.List, &ast.ExprStmt{X: &ast.CallExpr{
		Fun: &ast.Ident{NamePos: main.Name.Pos(), Name: "main"}, Lparen: main.Name.Pos(), Rparen: main.Name.Pos()}})
}

// callsMainOnly reports whether the only statement of the cell is main(), which runs the program
// again.
func (a *attempt) callsMainOnly() bool {
	statements := slices.DeleteFunc(slices.Clone(a.chunks), func(c chunk) bool { return !a.isStatement(c) })
	if len(statements) != 1 || strings.TrimSpace(strings.TrimSuffix(a.src[statements[0].start:statements[0].last], ";")) != "main()" {
		return false
	}
	if f, ok := a.live["main"].(*types.Func); ok && !a.declared["main"] {
		return f.Signature().Params().Len() == 0 && f.Signature().Results().Len() == 0
	}
	return a.declaresFunc("main")
}

// declaresFunc reports whether the cell declares a function with that name.
func (a *attempt) declaresFunc(name string) bool {
	return slices.ContainsFunc(a.file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name == name
	})
}

// hasName reports whether n contains the identifier name.
func hasName(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// isOwn reports whether a position is in the text of the cell.
func (a *attempt) isOwn(p token.Pos) bool {
	return p.IsValid() && a.fset.Position(p).Filename == Filename(a.number)
}

// A note is a remark about a cell that is not an error.
type note struct {
	pos token.Pos
	msg string
	key noteKey
}

// A noteKey identifies a note by its message and the text of the chunk that it is about, wherever
// that is.
type noteKey struct {
	piece uint64 // hash of its text
	msg   string
}

// note adds a note about msg. text is what the user reads, with the position.
func (a *attempt) note(pos token.Pos, msg, text string) {
	piece := ""
	at := a.offset(pos)
	for _, c := range a.chunks {
		if c.start <= at && at < c.end {
			piece = a.src[c.start:c.end]
		}
	}
	a.notes = append(a.notes, note{pos, text, noteKey{maphash.String(a.seed, piece), msg}})
}

// rejected adds a note about an error of the Go compiler.
func (a *attempt) rejected(pos token.Pos, msg string) {
	p := a.fset.Position(pos)
	msg = plainName(msg)
	a.note(pos, msg, fmt.Sprintf("the Go compiler would reject this cell: %d:%d: %s", p.Line, p.Column, msg))
}

// noteAllowed adds a note about an error that a cell may have but that a compiler reports: unused
// names in functions, and unused variables in blocks. It ignores the variables, labels and imports
// of the cell itself, because later cells may use them.
func (a *attempt) noteAllowed(e types.Error) {
	if a.sketch || !a.isOwn(e.Pos) {
		return
	}
	if strings.HasPrefix(e.Msg, "declared and not used") {
		set(&a.unusedVars, e.Pos, true)
		if a.isTimedVariable(e.Pos) {
			return
		}
	} else if inBody := a.body.Pos() <= e.Pos && e.Pos < a.body.End(); inBody && !a.inLiteral(e.Pos) {
		return
	}
	if strings.Contains(e.Msg, " imported ") && !a.program {
		return
	}
	a.rejected(e.Pos, e.Msg)
}

// noteUndeclared adds notes about the names that a program neither declares nor imports: packages, and
// definitions of earlier cells.
func (a *attempt) noteUndeclared() {
	if !a.program {
		return
	}
	first := map[string]token.Pos{}
	for id, o := range a.info.Uses {
		p, isPackage := o.(*types.PkgName)
		foreign := isPackage && !p.Pos().IsValid() || !isPackage && o == a.lookup(id.Name) && !a.declared[id.Name] && !a.plan.keptKeys[id.Name]
		if !foreign || strings.Contains(id.Name, "ʹ") || !a.isOwn(id.Pos()) {
			continue
		}
		if at, ok := first[id.Name]; !ok || id.Pos() < at {
			first[id.Name] = id.Pos()
		}
	}
	for name, at := range first {
		a.rejected(at, "undefined: "+name)
	}
}

// noteStatements adds a note about the first statement of a program outside of functions.
func (a *attempt) noteStatements() {
	if !a.program || a.sketch {
		return
	}
	for _, s := range a.body.Body.List {
		if a.isOwn(s.Pos()) && !strings.HasPrefix(a.src[a.offset(s.Pos()):], predeclared) {
			a.rejected(s.Pos(), "non-declaration statement outside function body")
			return
		}
	}
}

// offset returns the offset of a position in the source of the cell.
func (a *attempt) offset(p token.Pos) int {
	at := a.fset.Position(p)
	return min(a.lines()[at.Line-1]+at.Column-1, len(a.src))
}

// maxNotes is the maximum number of notes of a cell.
const maxNotes = 5

// setNotes sets the notes of a cell. It leaves out those that were already reported for the same
// text.
func (c *Checker) setNotes(cell *Cell) {
	slices.SortStableFunc(cell.noted, func(x, y note) int { return int(x.pos - y.pos) })
	for _, n := range cell.noted {
		if !c.noted[n.key] {
			c.noted[n.key] = true
			cell.Notes = append(cell.Notes, n.msg)
		}
	}
	if more := len(cell.Notes) - maxNotes; more > 0 {
		cell.Notes = append(cell.Notes[:maxNotes], fmt.Sprintf("and %d more", more))
	}
	cell.noted = nil
}
