package export

import (
	"fmt"
	"go/ast"
	"strings"
)

// Errors that a block sets and never reads, see check.Cell.Lost:
//
//	for _, text := range texts {
//		n, err := strconv.Atoi(text)
//		must(err)
//	}
//	{                                  // if n, err := strconv.Atoi(text); n > 0
//		n, err := strconv.Atoi(text)
//		must(err)
//		if n > 0 {
//		}
//	}

// lostErrors returns the edits that check such errors in a piece.
func (p *program) lostErrors(c *cell, piece *piece) []edit {
	var edits []edit
	for _, s := range c.checked.Body {
		if len(c.checked.Lost) == 0 || !c.in(s, piece) {
			continue
		}
		var path []ast.Node
		ast.Inspect(s, func(n ast.Node) bool {
			if n == nil {
				path = path[:len(path)-1]
				return true
			}
			if s, ok := n.(ast.Stmt); ok && len(c.checked.Lost[s]) > 0 {
				edits = append(edits, p.lost(c, s, path)...)
			}
			path = append(path, n)
			return true
		})
	}
	return edits
}

// lost returns the edits for one statement. path contains the nodes around it.
func (p *program) lost(c *cell, s ast.Stmt, path []ast.Node) []edit {
	var b strings.Builder
	for _, lost := range c.checked.Lost[s] {
		fmt.Fprintf(&b, "\n%s(%s)\n", p.must(c), lost.Var.Name())
	}
	insert := func(at int) []edit { return []edit{{at, at, b.String()}} }
	if s, ok := s.(*ast.RangeStmt); ok {
		return insert(c.offset(s.Body.Lbrace) + 1)
	}
	// head moves the statement out of the header of another statement. rest is what follows it in the
	// header.
	head := func(keyword string, outer, rest ast.Node) []edit {
		return []edit{
			{c.at(outer), c.at(s), "{\n"},
			{c.offset(s.End()), c.at(rest), b.String() + keyword + " "},
			{c.offset(outer.End()), c.offset(outer.End()), "\n}"},
		}
	}
	switch outer := path[len(path)-1].(type) {
	case *ast.CommClause:
		if outer.Comm == s {
			return insert(c.offset(outer.Colon) + 1)
		}
	case *ast.IfStmt:
		if outer.Init == s {
			return head("if", outer, outer.Cond)
		}
	case *ast.SwitchStmt:
		if outer.Init == s && outer.Tag != nil {
			return head("switch", outer, outer.Tag)
		} else if outer.Init == s {
			return head("switch", outer, outer.Body)
		}
	case *ast.TypeSwitchStmt:
		if outer.Init == s {
			return head("switch", outer, outer.Assign)
		}
	}
	return insert(c.offset(s.End()))
}
