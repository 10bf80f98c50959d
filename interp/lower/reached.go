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
	var indices []string
	for _, v := range vars {
		if i, ok := f.added[v]; ok && f.top && !f.cell.Part {
			indices = append(indices, strconv.Itoa(i))
		}
	}
	if len(indices) > 0 {
		w.line("%s(%s)", f.session("Defined"), list(indices))
	}
}

// reachedBy emits the record after a statement.
func (f *function) reachedBy(w *writer, s ast.Stmt) {
	var names []*ast.Ident
	switch s := s.(type) {
	case *ast.LabeledStmt:
		f.reachedBy(w, s.Stmt)
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
	var vars []*types.Var
	for _, id := range names {
		if v, ok := f.Info.Defs[id].(*types.Var); ok {
			vars = append(vars, v)
		}
	}
	f.reached(w, vars...)
}

// withoutInitializer returns the variables of the session that the cell declares before its statements without a value, in the
// order of the source.
func (f *function) withoutInitializer() (vars []*types.Var) {
	other := map[types.Object]bool{}
	for _, init := range f.cell.Init {
		for _, v := range init.Lhs {
			other[v] = true
		}
	}
	for _, s := range f.cell.Body {
		ast.Inspect(s, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				other[f.Info.Defs[id]] = true
			}
			return true
		})
	}
	for v := range f.added {
		if !other[v] {
			vars = append(vars, v.(*types.Var))
		}
	}
	slices.SortFunc(vars, func(a, b *types.Var) int { return int(a.Pos() - b.Pos()) })
	return vars
}
