package export

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// finish formats a program, adds uses of unused variables, which are allowed in cells, and type-checks the
// result.
func finish(text string, importer types.Importer) ([]byte, error) {
	for range maxPasses {
		b, err := format.Source([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, text)
		}
		text = string(b)
		edits, err := unused(text, importer)
		if err != nil {
			return nil, err
		}
		if len(edits) == 0 {
			return b, nil
		}
		text = edited(text, 0, len(text), edits)
	}
	return nil, fmt.Errorf("it has unused variables after %d passes", maxPasses)
}

// maxPasses limits the passes over a program. There can be several passes, because an edit may remove the
// only use of something else.
const maxPasses = 100

// unused returns the edits that fix errors about unused variables and labels.
func unused(text string, importer types.Importer) ([]edit, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "main.go", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var edits []edit
	var failures []error
	config := types.Config{Importer: importer, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && e.Soft {
			if change, ok := use(fset, file, e); ok {
				edits = append(edits, change)
				return
			}
		}
		failures = append(failures, err)
	}}
	// The error repeats the first of those that were reported to config.Error.
	_, _ = config.Check("main", fset, []*ast.File{file}, nil)
	return edits, errors.Join(failures...)
}

// use returns the edit that uses an unused variable or removes an unused label.
func use(fset *token.FileSet, file *ast.File, e types.Error) (edit, bool) {
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	path, _ := astutil.PathEnclosingInterval(file, e.Pos, e.Pos)
	id, ok := path[0].(*ast.Ident)
	if !ok {
		return edit{}, false
	}
	text := fmt.Sprintf("\n_ = %s\n", id.Name)
	inside := func(b *ast.BlockStmt) (edit, bool) { return edit{at(b.Lbrace) + 1, at(b.Lbrace) + 1, text}, true }
	for i := 1; i+1 < len(path); i++ {
		s, ok := path[i].(ast.Stmt)
		if !ok {
			continue
		}
		if l, ok := s.(*ast.LabeledStmt); ok {
			if strings.HasPrefix(e.Msg, "label ") {
				return edit{at(l.Label.Pos()), at(l.Colon) + 1, ""}, true
			}
			continue
		}
		switch s := s.(type) {
		case *ast.RangeStmt:
			return inside(s.Body)
		case *ast.ForStmt:
			return inside(s.Body)
		case *ast.IfStmt:
			return inside(s.Body)
		case *ast.SwitchStmt:
			return firstClause(s.Body, at, text)
		case *ast.TypeSwitchStmt:
			if assign, ok := s.Assign.(*ast.AssignStmt); ok && assign.Lhs[0] == ast.Expr(id) {
				return edit{at(assign.Pos()), at(assign.Rhs[0].Pos()), ""}, true
			}
			return firstClause(s.Body, at, text)
		}
		switch parent := path[i+1].(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.LabeledStmt:
			return edit{at(s.End()), at(s.End()), text}, true
		case *ast.CommClause:
			if parent.Comm == s {
				return edit{at(parent.Colon) + 1, at(parent.Colon) + 1, text}, true
			}
			return edit{at(s.End()), at(s.End()), text}, true
		}
	}
	return edit{}, false
}

func firstClause(body *ast.BlockStmt, at func(token.Pos) int, text string) (edit, bool) {
	if len(body.List) == 0 {
		return edit{at(body.Lbrace) + 1, at(body.Lbrace) + 1, "\ndefault:" + text}, true
	}
	colon := at(body.List[0].(*ast.CaseClause).Colon) + 1
	return edit{colon, colon, text}, true
}
