package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"github.com/quernlab/quern/interp/rt"
)

func (f *function) statements(w *writer, list []ast.Stmt) {
	for _, s := range list {
		f.statement(w, s)
	}
	f.beforeNext(w, nil)
}

// block lowers the statements of a block. The caller writes the braces.
func (f *function) block(w *writer, b *ast.BlockStmt) {
	w.indent++
	f.statements(w, b.List)
	w.indent--
}

func (f *function) statement(w *writer, s ast.Stmt) {
	f.beforeNext(w, s)
	f.begin(w, s)
	switch s := s.(type) {
	case *ast.EmptyStmt:
	case *ast.ExprStmt:
		f.store(w, s.X, false)
		f.expression(w, s.X)
		f.afterWait(w, s.X)
	case *ast.SendStmt:
		f.store(w, s, true)
		f.send(w, s)
	case *ast.IncDecStmt:
		f.store(w, s.X, false)
		w.line("%s", f.increment(f.target(w, s.X), s))
	case *ast.AssignStmt:
		f.store(w, s, false)
		f.assign(w, s)
		f.reachedBy(w, s)
		f.afterWait(w, s)
	case *ast.DeclStmt:
		f.declaration(w, s.Decl.(*ast.GenDecl))
		f.reachedBy(w, s)
	case *ast.BlockStmt:
		w.line("{")
		f.block(w, s)
		w.line("}")
	case *ast.ReturnStmt:
		for _, x := range s.Results {
			f.store(w, x, false)
		}
		f.returns(w, s)
	case *ast.IfStmt:
		f.ifStatement(w, s)
	case *ast.ForStmt:
		f.store(w, s, true)
		f.forLoop(w, s, "")
	case *ast.RangeStmt:
		f.store(w, s, true)
		f.rangeLoop(w, s, "")
	case *ast.SwitchStmt:
		f.switchStatement(w, s, "")
	case *ast.TypeSwitchStmt:
		f.typeSwitch(w, s, "")
	case *ast.SelectStmt:
		f.selectStatement(w, s, "")
	case *ast.LabeledStmt:
		f.labeled(w, s)
	case *ast.BranchStmt:
		f.branch(w, s)
	case *ast.GoStmt:
		f.store(w, s, true)
		f.goStatement(w, s)
	case *ast.DeferStmt:
		f.store(w, s, true)
		f.deferStatement(w, s)
	default:
		panic(fmt.Sprintf("statement %T", s))
	}
	if _, head := s.(*ast.RangeStmt); !head {
		f.lost(w, s)
	}
}

// begin emits what precedes a statement.
func (f *function) begin(w *writer, s ast.Stmt) {
	f.stop()
	f.at = f.positionOf(s)
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, e := range s.Lhs {
			f.checkWrite(e)
		}
		f.noteCopies(s)
	case *ast.IncDecStmt:
		f.checkWrite(s.X)
	}
	f.track(w, s)
}

func (f *function) expression(w *writer, x ast.Expr) { w.line("%s", f.expr(x)) }

func (f *function) declaration(w *writer, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			f.localType(spec)
		case *ast.ValueSpec:
			if d.Tok == token.VAR {
				f.variables(w, spec)
			}
		}
	}
}

// localType moves a type to package level. In a generic function, each instance gets its own type.
func (f *functionTypes) localType(spec *ast.TypeSpec) {
	o := f.Info.Defs[spec.Name].(*types.TypeName)
	n, ok := o.Type().(*types.Named)
	if spec.Assign.IsValid() || !ok || f.env == nil {
		return // named when it is used
	}
	own := types.NewNamed(types.NewTypeName(o.Pos(), o.Pkg(), rt.LocalTypeName(o.Name(), f.env.args), nil), nil, nil)
	f.env.types[o] = own
	env := f.env
	if n.TypeParams() != nil {
		env = env.rename(n.TypeParams(), own)
	}
	own.SetUnderlying(env.subst(n.Underlying()))
}

// ifStatement lowers an if statement:
//
//	if init; cond {} else {}         ->  { init; if cond {} else {} }
//	if a {} else if init; b {} else  ->  { if a { goto Eʹ1 }; init; if b {} else {}; Eʹ1: }
//
// A chain of else if is flat, because go/parser limits nesting for yaegi.
func (f *function) ifStatement(w *writer, s *ast.IfStmt) {
	end := ""
	if _, next := elseIf(s.Else); next != nil {
		f.temps++
		end = "Eʹ" + strconv.Itoa(f.temps)
	}
	if s.Init != nil || end != "" {
		w.open("{")
		defer func() { w.close("}") }()
	}
	for {
		if s.Init != nil {
			f.initial(w, s.Init)
		}
		f.store(w, s.Cond, false)
		w.line("if %s {", f.expr(s.Cond))
		f.block(w, s.Body)
		before, next := elseIf(s.Else)
		if next == nil {
			break
		}
		w.line("\tgoto %s", end)
		w.line("}")
		f.statements(w, before)
		f.begin(w, next)
		s = next
	}
	if s.Else != nil {
		w.line("} else {")
		f.block(w, s.Else.(*ast.BlockStmt))
	}
	w.line("}")
	if end != "" {
		w.line("%s:", end)
	}
}

// elseIf returns the if statement at the end of an else branch, and the statements before it.
func elseIf(branch ast.Stmt) (before []ast.Stmt, next *ast.IfStmt) {
	switch s := branch.(type) {
	case *ast.IfStmt:
		return nil, s
	case *ast.BlockStmt:
		if last := len(s.List) - 1; last >= 0 {
			next, _ = s.List[last].(*ast.IfStmt)
			return s.List[:last], next
		}
	}
	return nil, nil
}
