package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Errors that a cell does not read.
//
//	x, err := f()    // sets err
//	y, err := g()    // overwrites it unread: the cell fails here if f failed
//	                 // the cell ends and nothing has read err: it fails here if g failed
//
// A statement sets an error when it assigns the result of a call to a variable of the cell with type
// error. New errors (errors.New) and sentinels (ErrSomething) are values and not failures. Every other
// mention is a read, also _ = err. A variable that a function of the cell mentions, or whose address is
// taken, may be read at any time and is ignored.
//
// An assignment in a branch or a loop may not run, see tracks.go. If nothing reads the error that it
// sets, the cell fails as well.

// An Unread is an error that nothing has read.
type Unread struct {
	Var     *types.Var
	Set     token.Position // where the cell sets it
	Tracked bool           // whether it was set is only known at run time
}

// An unreadSet is the position at which the cell sets an error that is unread so far.
type unreadSet struct {
	pos     token.Pos
	tracked bool
}

// position returns the position, which is invalid for the zero unreadSet.
func (u unreadSet) position(fset *token.FileSet) token.Position {
	if !u.pos.IsValid() {
		return token.Position{}
	}
	return cellPosition(fset, u.pos)
}

// unreadErrors sets Cell.Errors, Cell.Overwrites, Cell.Begins and Cell.Tracks.
func (a *attempt) unreadErrors(cell *Cell) {
	pending := map[*types.Var]unreadSet{} // the errors that are unread so far
	var ordered []*types.Var
	anytime := a.readAnytime()
	for _, m := range a.declaredErrors() {
		if !anytime[m.variable] && m.sets.IsValid() {
			pending[m.variable] = unreadSet{pos: m.sets}
			ordered = append(ordered, m.variable)
		}
	}
	for _, s := range a.hoisting.original {
		tracked := a.track(cell, s, pending, anytime)
		for _, v := range a.errorMentions(s) {
			if anytime[v.variable] {
				continue
			}
			if set, ok := pending[v.variable]; ok && v.overwrites {
				if cell.Overwrites == nil {
					cell.Overwrites = map[ast.Stmt][]Unread{}
				}
				cell.Overwrites[s] = append(cell.Overwrites[s], Unread{v.variable, set.position(a.fset), set.tracked})
			}
			delete(pending, v.variable)
			if v.sets.IsValid() {
				pending[v.variable] = unreadSet{v.sets, tracked[v.variable]}
				ordered = append(ordered, v.variable)
			}
		}
	}
	for _, v := range ordered {
		if set, ok := pending[v]; ok {
			cell.Errors = append(cell.Errors, Unread{v, set.position(a.fset), set.tracked})
			delete(pending, v)
		}
	}
}

// declaredErrors returns the mentions in the declarations of variables before the first statement. A program has none, which
// does what it does with go run.
func (a *attempt) declaredErrors() (all []mention) {
	if a.program || a.runsMain {
		return nil
	}
	for _, d := range a.file.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR && d.Pos() < a.body.Body.Pos() {
			all = append(all, a.errorMentions(&ast.DeclStmt{Decl: d})...)
		}
	}
	return all
}

// A mention is the use of an error variable in a top-level statement.
type mention struct {
	variable   *types.Var
	overwrites bool      // the statement assigns to the variable, and the values do not read it
	sets       token.Pos // where it sets an error that it does not read, or token.NoPos
}

// errorMentions returns the mentions in a statement, one for each variable, in source order.
func (a *attempt) errorMentions(s ast.Stmt) []mention {
	if l, ok := s.(*ast.LabeledStmt); ok {
		s = l.Stmt
	}
	w := &mentions{attempt: a, known: map[*types.Var]int{}, reads: map[*types.Var]bool{}}
	switch s.(type) {
	case *ast.AssignStmt, *ast.DeclStmt:
		w.direct = true
	}
	w.walk(s)
	return w.all
}

// mentions visits the nodes of a statement in the order in which they run.
type mentions struct {
	*attempt
	all    []mention
	known  map[*types.Var]int // index in all
	reads  map[*types.Var]bool
	direct bool // the statement is an assignment or a definition
	loops  int  // depth of loops around the node
}

func (w *mentions) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if w.loops > 0 {
				return true
			}
			w.loops++
			w.walk(n)
			w.loops--
			for i := range w.all { // the next iteration reads what this one has set
				if w.reads[w.all[i].variable] {
					w.all[i].sets = token.NoPos
				}
			}
			return false
		case *ast.AssignStmt:
			for _, x := range n.Rhs {
				w.walk(x)
			}
			for i, x := range n.Lhs {
				id, ok := x.(*ast.Ident)
				if v := w.errorVariable(id); !ok || v == nil || n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
					w.walk(x)
				} else {
					w.write(id, v, valueOf(n.Rhs, i, len(n.Lhs)))
				}
			}
			return false
		case *ast.ValueSpec:
			for _, x := range n.Values {
				w.walk(x)
			}
			for i, id := range n.Names {
				if v := w.errorVariable(id); v != nil && len(n.Values) > 0 {
					w.write(id, v, valueOf(n.Values, i, len(n.Names)))
				}
			}
			return false
		case *ast.Ident:
			if v := w.errorVariable(n); v != nil {
				w.read(v)
			}
		}
		return true
	})
}

// valueOf returns the expression that sets variable i of several variables.
func valueOf(values []ast.Expr, i, names int) ast.Expr {
	if len(values) == names {
		return values[i]
	}
	return values[0]
}

func (w *mentions) of(v *types.Var) *mention {
	i, ok := w.known[v]
	if !ok {
		i = len(w.all)
		w.known[v] = i
		w.all = append(w.all, mention{variable: v})
	}
	return &w.all[i]
}

func (w *mentions) read(v *types.Var) {
	w.reads[v] = true
	w.of(v).sets = token.NoPos
}

func (w *mentions) write(id *ast.Ident, v *types.Var, value ast.Expr) {
	m := w.of(v)
	m.overwrites = w.direct && !w.reads[v]
	m.sets = token.NoPos
	if w.mayFail(id.Name, value) {
		m.sets = id.Pos()
	}
}

// errorVariable returns the variable of type error that id mentions and that outlives the cell, or nil.
func (a *attempt) errorVariable(id *ast.Ident) *types.Var {
	if id == nil {
		return nil
	}
	object := a.info.Defs[id]
	if object == nil {
		object = a.info.Uses[id]
	}
	v, ok := object.(*types.Var)
	if !ok || !isError(v.Type()) || v.Parent() != a.pkg.Scope() && a.live[v.Name()] != v {
		return nil
	}
	return v
}

// readAnytime returns the variables that functions of the cell mention, or whose address is taken.
func (a *attempt) readAnytime() map[*types.Var]bool {
	anytime := map[*types.Var]bool{}
	inLiteral := a.literals(nil)
	body := a.body.Body
	for id, object := range a.info.Uses {
		if v, ok := object.(*types.Var); ok && (id.Pos() < body.Pos() || inLiteral(id.Pos())) {
			anytime[v] = true
		}
	}
	for _, s := range a.hoisting.original {
		ast.Inspect(s, func(n ast.Node) bool {
			if address, ok := n.(*ast.UnaryExpr); ok && address.Op == token.AND {
				if id, ok := ast.Unparen(address.X).(*ast.Ident); ok {
					anytime[a.errorVariable(id)] = true
				}
			}
			return true
		})
	}
	return anytime
}

// mayFail reports whether an error assigned from e may mean a failure.
func (a *attempt) mayFail(name string, e ast.Expr) bool {
	if rest, ok := strings.CutPrefix(strings.ToLower(name[:min(3, len(name))])+name[min(3, len(name)):], "err"); ok && rest != "" && token.IsExported(rest) {
		return false
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		_, receive := ast.Unparen(e).(*ast.UnaryExpr)
		return receive
	}
	return !makesError(a.info, call)
}
