package diagnostics

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"maps"
	"slices"

	"github.com/quernlab/quern/interp/check"
)

const (
	// spareSize is how many bytes of text Sources keeps of cells of which no definition is left. Closures and goroutines
	// may still run their code; if the text was dropped, tracebacks have the position without the line.
	spareSize = 1 << 20
	// literalSize is roughly the size of a function literal in Sources, in bytes.
	literalSize = 200
)

// Sweep drops the functions and variables whose names in lowered code are not in known, and the text of cells of which no
// definition is left, except for the latest ones. declares reports whether later cells can use a declaration of the cell with
// a file name.
func (s *Sources) Sweep(known map[string]bool, declares func(file string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.functions, func(name string, _ token.Position) bool { return !known[name] })
	maps.DeleteFunc(s.names, func(name, _ string) bool { return !known[name] })
	maps.DeleteFunc(s.later, func(name string, _ laterFunction) bool { return !known[name] })
	maps.DeleteFunc(s.closures, func(name, _ string) bool { return !known[name] })
	needed := map[string]bool{}
	for at := range maps.Values(s.functions) {
		needed[at.Filename] = true
	}
	for file := range maps.Values(s.closures) {
		needed[file] = true
	}
	spare := 0
	forget := map[int]bool{}
	for _, cell := range slices.Backward(s.order) {
		file := Filename(cell)
		if needed[file] || declares(file) {
			continue
		}
		spare += len(s.texts[cell]) + literalSize*len(s.literals[file])
		if spare > spareSize {
			forget[cell] = true
			delete(s.texts, cell)
			delete(s.literals, file)
			delete(s.generics, file)
		}
	}
	s.order = slices.DeleteFunc(s.order, func(cell int) bool { return forget[cell] })
}

// assigned yields the variables that the statements of a cell define, or assign to or to a part of.
func assigned(cell *check.Cell) iter.Seq[*types.Var] {
	return func(yield func(*types.Var) bool) {
		for _, v := range cell.Vars {
			if !yield(v) {
				return
			}
		}
		more := true
		for _, s := range cell.Body {
			ast.Inspect(s, func(n ast.Node) bool {
				assign, ok := n.(*ast.AssignStmt)
				if !ok || !more {
					return more
				}
				for _, target := range assign.Lhs {
					if v, ok := cell.Info.ObjectOf(root(target)).(*types.Var); ok && more {
						more = yield(v)
					}
				}
				return more
			})
			if !more {
				return
			}
		}
	}
}

// root returns the identifier of the variable that e is, or is a part of; one without an object if there is none.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return &ast.Ident{}
		}
	}
}
