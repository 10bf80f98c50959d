package lower

// The statements of a cell record which variables of the session they have defined:
//
//	c := 5   ->  cʹ1 = 5; sessionʹ.Defined(2)
//
// The number is the index of the variable in Cell.Vars. If the cell ends before such a statement, Checker.Undefine takes back the
// definition. A variable that an earlier cell has defined with the same type keeps its value then.

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// reached emits the record that variables were defined.
func (f *function) reached(w *writer, vars ...*types.Var) {
	if !f.top {
		return
	}
	var indices []string
	for _, i := range f.indices(vars) {
		indices = append(indices, strconv.Itoa(i))
	}
	if len(indices) > 0 {
		w.line("%s(%s)", f.session("Defined"), list(indices))
	}
}

// indices returns the indices in Cell.Vars of those of the variables that the cell adds to the session.
func (e *emitter) indices(vars []*types.Var) (indices []int) {
	for _, v := range vars {
		if i, ok := e.added[v]; ok && !e.cell.Part {
			indices = append(indices, i)
		}
	}
	return indices
}

// reachedBy emits the record after a statement.
func (f *function) reachedBy(w *writer, s ast.Stmt) { f.reached(w, f.definedBy(s)...) }

// definedBy returns the variables that a statement defines.
func (e *emitter) definedBy(s ast.Stmt) (vars []*types.Var) {
	var names []*ast.Ident
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return e.definedBy(s.Stmt)
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			for _, x := range s.Lhs {
				if id, ok := x.(*ast.Ident); ok {
					names = append(names, id)
				}
			}
		}
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			if spec, ok := spec.(*ast.ValueSpec); ok {
				names = append(names, spec.Names...)
			}
		}
	}
	for _, id := range names {
		if v, ok := e.Info.Defs[id].(*types.Var); ok {
			vars = append(vars, v)
		}
	}
	return vars
}

// withoutInitializer returns the variables of the session that the cell declares before its statements without a value, in the
// order of the source.
func (e *emitter) withoutInitializer() (vars []*types.Var) {
	other := map[types.Object]bool{}
	for _, init := range e.cell.Init {
		for _, v := range init.Lhs {
			other[v] = true
		}
	}
	for _, s := range e.cell.Body {
		ast.Inspect(s, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				other[e.Info.Defs[id]] = true
			}
			return true
		})
	}
	for v := range e.added {
		if !other[v] {
			vars = append(vars, v.(*types.Var))
		}
	}
	slices.SortFunc(vars, func(a, b *types.Var) int { return int(a.Pos() - b.Pos()) })
	return vars
}
