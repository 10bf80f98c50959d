package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

func (f *function) statements(w *writer, list []ast.Stmt) {
	for _, s := range list {
		f.statement(w, s)
	}
}

// block lowers the statements of a block. The caller writes the braces.
func (f *function) block(w *writer, b *ast.BlockStmt) {
	w.indent++
	f.statements(w, b.List)
	w.indent--
}

func (f *function) statement(w *writer, s ast.Stmt) {
	f.stop()
	f.at = f.positionOf(s)
	f.track(w, s)
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
		w.line("%s%s", f.target(w, s.X), s.Tok)
	case *ast.AssignStmt:
		f.store(w, s, false)
		f.assign(w, s)
		f.afterWait(w, s)
	case *ast.DeclStmt:
		f.declaration(w, s.Decl.(*ast.GenDecl))
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
func (f *function) localType(spec *ast.TypeSpec) {
	o := f.Info.Defs[spec.Name].(*types.TypeName)
	n, ok := o.Type().(*types.Named)
	if spec.Assign.IsValid() || !ok || f.env == nil {
		return // named when it is used
	}
	own := types.NewNamed(types.NewTypeName(o.Pos(), o.Pkg(), o.Name(), nil), nil, nil)
	f.env.types[o] = own
	env := f.env
	if n.TypeParams() != nil {
		env = env.rename(n.TypeParams(), own)
	}
	own.SetUnderlying(env.subst(n.Underlying()))
}

// ifStatement lowers an if statement:
//
//	if init; cond {} else if ...  ->  { init; if cond {} else { if ... } }
func (f *function) ifStatement(w *writer, s *ast.IfStmt) {
	if s.Init != nil {
		w.open("{")
		f.statement(w, s.Init)
	}
	f.store(w, s.Cond, false)
	w.line("if %s {", f.expr(s.Cond))
	f.block(w, s.Body)
	if s.Else != nil {
		w.open("} else {")
		if b, ok := s.Else.(*ast.BlockStmt); ok {
			f.statements(w, b.List)
		} else {
			f.statement(w, s.Else)
		}
		w.indent--
	}
	w.line("}")
	if s.Init != nil {
		w.close("}")
	}
}
