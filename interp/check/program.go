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
// A cell that declares func main and has no statements runs it, as go run does: [Cell.Main]. So does one whose only
// statement is main(), which is a program again: [Cell.RunsMain]. One that begins with a package
// clause is a file of Go, pasted as it is. What it means does not depend on earlier cells:
//
//   - What it does not declare or import is what Go predeclares, before it is what an earlier cell has defined.
//   - Its types have the methods that it declares, and none that an earlier cell has declared for a type of that name.
//
// What it declares stays, as with any cell. What the Go compiler would say of it besides is a note.

// checkPackageClause returns the error of a package clause that is not that of a program at the beginning of the cell.
func (u *unit) checkPackageClause(i int) *Error {
	c := u.chunks[i]
	for _, before := range u.chunks[:i] {
		if !u.isCommandCall(before) {
			return u.errorAt(c.start, "a package clause comes first in its cell: remove this line, or paste the program into a cell of its own")
		}
	}
	if fields := strings.Fields(u.src[c.start:c.last]); len(fields) != 2 || fields[1] != "main" {
		return u.errorAt(c.start, "a cell is in package main: remove this line")
	}
	u.program = true
	return nil
}

// isCommandCall reports whether a piece is the call that stands for a command.
func (u *unit) isCommandCall(c chunk) bool {
	return c.kind == stmtChunk && strings.HasPrefix(u.src[c.start:c.end], predeclared+"(")
}

// isStatement reports whether a piece is a statement that the user wrote.
func (u *unit) isStatement(c chunk) bool {
	return c.kind == stmtChunk && c.first != token.VAR && !u.isCommandCall(c)
}

// callMain has the cell call its function main at the end, if it has no statements.
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
			const msg = "main was not called, because the cell has statements besides: add main() to call it"
			a.note(main.Name.Pos(), msg, msg)
		}
		return
	}
	a.main, a.runsMain = true, true
	a.body.Body.List = append(a.body.Body.List, &ast.ExprStmt{X: &ast.CallExpr{
		Fun: &ast.Ident{NamePos: main.Name.Pos(), Name: "main"}, Lparen: main.Name.Pos(), Rparen: main.Name.Pos()}})
}

// callsMainOnly reports whether the one statement of the cell is main(), which runs the program again.
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

// declaresFunc reports whether the cell declares a function.
func (a *attempt) declaresFunc(name string) bool {
	return slices.ContainsFunc(a.file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name == name
	})
}

// hasName reports whether an identifier in n is name.
func hasName(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// isOwn reports whether a place is in the text of the cell.
func (a *attempt) isOwn(p token.Pos) bool {
	return p.IsValid() && a.fset.Position(p).Filename == Filename(a.number)
}

// predeclaredOnly reports whether a name of the cell means what Go predeclares, whatever earlier cells have defined.
func (u *unit) predeclaredOnly(name string) bool {
	return u.program && types.Universe.Lookup(name) != nil
}

// A note is something about a cell that is no error.
type note struct {
	pos token.Pos
	msg string
	key noteKey
}

// A noteKey identifies a note by its message and the piece of a cell that it is about, wherever the piece is.
type noteKey struct {
	piece uint64 // hash of its text
	msg   string
}

// note notes something, with its place in the text for the reader.
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

// rejected notes what the Go compiler would not accept.
func (a *attempt) rejected(pos token.Pos, msg string) {
	p := a.fset.Position(pos)
	msg = strings.NewReplacer(outerSuffix, "", hiddenSuffix, "").Replace(msg)
	a.note(pos, msg, fmt.Sprintf("the Go compiler would reject this cell: %d:%d: %s", p.Line, p.Column, msg))
}

// noteAllowed notes an error that a cell may have, where a compiler would stop: names that nothing uses in functions, and
// variables that nothing uses in blocks. The variables, labels and imports of the cell itself are for later cells.
func (a *attempt) noteAllowed(e types.Error) {
	if a.sketch || !a.isOwn(e.Pos) {
		return
	}
	if strings.HasPrefix(e.Msg, "declared and not used") {
		set(&a.unusedVars, e.Pos, true)
	} else if inBody := a.body.Pos() <= e.Pos && e.Pos < a.body.End(); inBody && !a.inLiteral(e.Pos) {
		return
	}
	if strings.Contains(e.Msg, " imported ") && !a.program {
		return
	}
	a.rejected(e.Pos, e.Msg)
}

// noteForeign notes, for a program, the names that it neither declares nor imports: packages and what earlier cells have
// defined.
func (a *attempt) noteForeign() {
	if !a.program {
		return
	}
	first := map[string]token.Pos{}
	for id, o := range a.info.Uses {
		p, isPackage := o.(*types.PkgName)
		foreign := isPackage && !p.Pos().IsValid() || !isPackage && o == a.lookup(id.Name) && !a.declared[id.Name] && !a.plan.keeps[id.Name]
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

// noteStatements notes the first statement outside of functions of a program.
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

// offset returns where in the source of the cell a place is.
func (a *attempt) offset(p token.Pos) int {
	at := a.fset.Position(p)
	return min(a.lines()[at.Line-1]+at.Column-1, len(a.src))
}

// mostNotes is how many notes of a cell are shown.
const mostNotes = 5

// takeNotes gives the notes that are new: what the same piece of a cell is noted for is not repeated.
func (c *Checker) takeNotes(cell *Cell) {
	slices.SortStableFunc(cell.noted, func(x, y note) int { return int(x.pos - y.pos) })
	for _, n := range cell.noted {
		if !c.noted[n.key] {
			c.noted[n.key] = true
			cell.Notes = append(cell.Notes, n.msg)
		}
	}
	if more := len(cell.Notes) - mostNotes; more > 0 {
		cell.Notes = append(cell.Notes[:mostNotes], fmt.Sprintf("and %d more", more))
	}
	cell.noted = nil
}
