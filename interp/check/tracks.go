package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Errors that a cell sets in loops and branches.
//
//	for _, name := range names {
//		data, err = os.ReadFile(name)    // overwrites the error of the previous iteration
//	}
//
// Whether such a statement overwrites an unread error is only known at run time. So the cell
// records at run time how nested statements use errors: [Cell.Tracks] has for each of them what it
// reads and sets, and [Cell.Begins] the state before the enclosing statement of the cell. If a
// statement directly reads what the previous one has set, as after n, err = f(); if err != nil,
// nothing is recorded.
//
// The heads of for and select statements have no place for such a record. An error that they
// mention is not tracked in their statement.

// A Track is an operation of a nested statement on an error, recorded before the statement runs.
type Track struct {
	Var   *types.Var
	Write bool           // the statement overwrites the error; otherwise it reads it
	Set   token.Position // where it sets a possible failure that the next statement does not read; otherwise invalid
}

// tracks has the operations in one statement of a cell.
type tracks struct {
	*attempt
	of       map[ast.Stmt][]Track
	excluded map[*types.Var]bool // not tracked in this statement
}

// track sets Cell.Tracks and Cell.Begins for a statement, and returns the variables that it tracks.
// pending are the errors that are unread before the statement.
func (a *attempt) track(cell *Cell, s ast.Stmt, pending map[*types.Var]unreadSet, anytime map[*types.Var]bool) map[*types.Var]bool {
	switch Unlabeled(s).(type) {
	case *ast.BlockStmt, *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
	default:
		return nil
	}
	t := &tracks{a, map[ast.Stmt][]Track{}, map[*types.Var]bool{}}
	t.list([]ast.Stmt{s})
	tracked := map[*types.Var]bool{}
	for _, list := range t.of {
		for _, track := range list {
			v := track.Var
			_, before := pending[v]
			if track.Write && (track.Set.IsValid() || before) && !t.excluded[v] && !anytime[v] {
				tracked[v] = true
			}
		}
	}
	for at, list := range t.of {
		list = slices.DeleteFunc(list, func(track Track) bool { return !tracked[track.Var] })
		if len(list) > 0 {
			set(&cell.Tracks, at, list)
		}
	}
	for _, v := range sortedVariables(tracked) {
		if before := pending[v]; !before.tracked {
			set(&cell.Begins, s, append(cell.Begins[s], Unread{Var: v, Set: before.position(a.fset)}))
		}
	}
	return tracked
}

func set[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

func sortedVariables(set map[*types.Var]bool) []*types.Var {
	var list []*types.Var
	for v := range set {
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b *types.Var) int { return int(a.Pos() - b.Pos()) })
	return list
}

// Unlabeled returns the statement after the labels of s.
func Unlabeled(s ast.Stmt) ast.Stmt {
	for {
		l, ok := s.(*ast.LabeledStmt)
		if !ok {
			return s
		}
		s = l.Stmt
	}
}

func (t *tracks) list(list []ast.Stmt) {
	for i, s := range list {
		var next ast.Stmt
		if i+1 < len(list) {
			next = list[i+1]
		}
		t.stmt(s, next)
	}
}

// stmt records the operations of a statement and of the statements in it. next is the following
// statement.
func (t *tracks) stmt(s, next ast.Stmt) {
	reads := t.reads(s)
	// The errors that a labeled statement mentions are not tracked. A goto would skip a record before the label, and
	// a record after the label would separate it from its loop.
	if l, ok := s.(*ast.LabeledStmt); ok {
		for _, v := range append(reads, t.mentioned(unlabeledHead(l))...) {
			t.excluded[v] = true
		}
		s, reads = Unlabeled(l), nil
	}
	for _, v := range reads {
		t.of[s] = append(t.of[s], Track{Var: v})
	}
	switch x := s.(type) {
	case *ast.AssignStmt:
		t.writes(s, x, func(v *types.Var) bool { return next != nil && slices.Contains(t.reads(next), v) })
	case *ast.BlockStmt:
		t.list(x.List)
	case *ast.IfStmt:
		t.head(s, x.Init, x.Cond)
		t.list(x.Body.List)
		if otherwise, ok := x.Else.(*ast.IfStmt); ok {
			t.exclude(otherwise.Init, otherwise.Cond)
		}
		if x.Else != nil {
			t.stmt(x.Else, nil)
		}
	case *ast.SwitchStmt:
		t.head(s, x.Init, x.Tag)
		t.clauses(x.Body)
	case *ast.TypeSwitchStmt:
		t.head(s, x.Init, x.Assign)
		t.clauses(x.Body)
	case *ast.ForStmt:
		t.exclude(x.Init, x.Cond, x.Post)
		t.list(x.Body.List)
	case *ast.RangeStmt:
		t.exclude(x.Key, x.Value)
		t.list(x.Body.List)
	case *ast.SelectStmt:
		for _, clause := range x.Body.List {
			c := clause.(*ast.CommClause)
			t.exclude(c.Comm)
			t.list(c.Body)
		}
	}
}

// unlabeledHead returns the part of a labeled statement that must not mention a tracked error.
func unlabeledHead(s *ast.LabeledStmt) ast.Node {
	switch x := Unlabeled(s).(type) {
	case *ast.IfStmt:
		return x.Init
	case *ast.SwitchStmt:
		return x.Init
	case *ast.TypeSwitchStmt:
		return x.Init
	case *ast.AssignStmt:
		return x
	}
	return nil
}

func (t *tracks) clauses(body *ast.BlockStmt) {
	for _, clause := range body.List {
		t.list(clause.(*ast.CaseClause).Body)
	}
}

// head records the assignment in the head of an if or switch statement.
func (t *tracks) head(s ast.Stmt, init ast.Stmt, condition ast.Node) {
	if assign, ok := init.(*ast.AssignStmt); ok {
		t.writes(s, assign, func(v *types.Var) bool { return slices.Contains(t.mentioned(condition), v) })
	}
}

// writes records the errors that an assignment of the statement s overwrites. readNext reports whether
// the error is read immediately afterwards.
func (t *tracks) writes(s ast.Stmt, x *ast.AssignStmt, readNext func(*types.Var) bool) {
	for i, lhs := range x.Lhs {
		id, ok := lhs.(*ast.Ident)
		v := t.errorVariable(id)
		if !ok || v == nil || x.Tok != token.ASSIGN && x.Tok != token.DEFINE {
			continue
		}
		track := Track{Var: v, Write: true}
		if t.mayFail(id.Name, valueOf(x.Rhs, i, len(x.Lhs))) && !readNext(v) {
			track.Set = cellPosition(t.fset, id.Pos())
		}
		t.of[s] = append(t.of[s], track)
	}
}

// reads returns the errors that a statement reads before any statement in it runs.
func (t *tracks) reads(s ast.Stmt) []*types.Var {
	switch x := s.(type) {
	case *ast.LabeledStmt:
		return t.reads(x.Stmt)
	case *ast.BlockStmt, *ast.SelectStmt, *ast.ForStmt, *ast.EmptyStmt, *ast.BranchStmt:
		return nil
	case *ast.AssignStmt:
		return t.readsOf(x)
	case *ast.IfStmt:
		return t.headReads(x.Init, x.Cond)
	case *ast.SwitchStmt:
		nodes := []ast.Node{x.Tag}
		for _, clause := range x.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				nodes = append(nodes, e)
			}
		}
		return t.headReads(x.Init, nodes...)
	case *ast.TypeSwitchStmt:
		return t.headReads(x.Init, x.Assign)
	case *ast.RangeStmt:
		return t.mentioned(x.X)
	}
	return t.mentioned(s)
}

// headReads returns the errors that the head of a statement reads and does not set itself.
func (t *tracks) headReads(init ast.Stmt, nodes ...ast.Node) []*types.Var {
	reads := t.mentioned(nodes...)
	assign, ok := init.(*ast.AssignStmt)
	if !ok {
		return append(reads, t.mentioned(init)...)
	}
	for _, lhs := range assign.Lhs {
		if id, ok := lhs.(*ast.Ident); ok {
			v := t.errorVariable(id)
			reads = slices.DeleteFunc(reads, func(r *types.Var) bool { return r == v })
		}
	}
	return append(reads, t.readsOf(assign)...)
}

// readsOf returns the errors that are mentioned in the values of an assignment, or in targets that are
// not just a variable.
func (t *tracks) readsOf(x *ast.AssignStmt) []*types.Var {
	var nodes []ast.Node
	for _, e := range x.Rhs {
		nodes = append(nodes, e)
	}
	for _, e := range x.Lhs {
		if _, ok := e.(*ast.Ident); !ok || x.Tok != token.ASSIGN && x.Tok != token.DEFINE {
			nodes = append(nodes, e)
		}
	}
	return t.mentioned(nodes...)
}

// mentioned returns the errors that nodes, which may be nil, mention.
func (t *tracks) mentioned(nodes ...ast.Node) []*types.Var {
	var list []*types.Var
	for _, n := range nodes {
		if n == nil {
			continue
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if v := t.errorVariable(id); v != nil {
					list = append(list, v)
				}
			}
			return true
		})
	}
	return list
}

// exclude stops tracking the errors that nodes mention.
func (t *tracks) exclude(nodes ...ast.Node) {
	for _, v := range t.mentioned(nodes...) {
		t.excluded[v] = true
	}
}
