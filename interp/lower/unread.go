package lower

// Errors that a cell overwrites without reading them, see package check:
//
//	_, err = f(); _, err = g()   ->  ...; sessionʹ.Unread(errʹ1, "err", 2, 1, 4); ...
//	for ... { _, err = f() }     ->  sessionʹ.ErrorBegin("errʹ1", 2, 0, 0)
//	                                 for ... { sessionʹ.ErrorOverwrite("errʹ1", errʹ1, "err", 2, 5, 6); ... }
//
//	for ... { _, err := f() }    ->  for ... { _, errʹ1 := f(); sessionʹ.Unread(errʹ1, "err", 2, 1, 14) }
//
// The numbers are the cell, line and column where the error is set.

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/interp/vm"
)

// ErrorNotes records which errors of a cell are unread. The key is the name of the variable in lowered code. The line is 0 if the
// statement does not set a possible failure.
type ErrorNotes interface {
	// Begin records that an error is read or, if line is not 0, that it was set there and not read since.
	Begin(key string, cell, line, column int)
	// Overwrite ends the cell if err is unread and not nil, before the statement at line overwrites it.
	Overwrite(key string, err error, name string, cell, line, column int)
	// Lose ends the cell if err, which was set at line and which nothing reads, is not nil.
	Lose(err error, name string, cell, line, column int)
}

// unread emits the code before a statement of the cell: the checks of errors that it overwrites, and the records of unread errors.
func (f *functionTypes) unread(w *writer, s ast.Stmt) {
	for _, unread := range f.cell.Overwrites[s] {
		v := unread.Var
		if unread.Tracked {
			w.line("%s(%q, %s, %q)", f.session("ErrorCheck"), f.names[v], f.names[v], v.Name())
			continue
		}
		w.line("%s(%s, %q, %d, %d, %d)", f.session("Unread"), f.names[v], v.Name(), f.cell.Number, unread.Set.Line, unread.Set.Column)
	}
	for _, begin := range f.cell.Begins[s] {
		f.beginError(w, begin.Var, begin.Set)
	}
}

func (f *functionTypes) beginError(w *writer, v *types.Var, set token.Position) {
	w.line("%s(%q, %d, %d, %d)", f.session("ErrorBegin"), f.names[v], f.cell.Number, set.Line, set.Column)
}

// track emits the records before a statement in a loop or a branch.
func (f *function) track(w *writer, s ast.Stmt) {
	if !f.top {
		return
	}
	for _, track := range f.cell.Tracks[s] {
		v := track.Var
		if !track.Write {
			f.beginError(w, v, token.Position{})
			continue
		}
		w.line("%s(%q, %s, %q, %d, %d, %d)", f.session("ErrorOverwrite"), f.names[v], f.names[v], v.Name(), f.cell.Number, track.Set.Line, track.Set.Column)
	}
}

// lost emits the checks of the errors that s sets and nothing reads.
func (f *function) lost(w *writer, s ast.Stmt) {
	for _, lost := range f.cell.Lost[s] {
		w.line("%s(%s, %q, %d, %d, %d)", f.session("Unread"), f.locals[lost.Var], lost.Var.Name(), f.cell.Number, lost.Set.Line, lost.Set.Column)
	}
}

// losses returns the same checks for package vm.
func (e *emitter) losses(s ast.Stmt) []vm.Hook {
	if e.Errors == nil {
		return nil
	}
	var list []vm.Hook
	for _, lost := range e.cell.Lost[s] {
		name, cell, line, column := lost.Var.Name(), e.cell.Number, lost.Set.Line, lost.Set.Column
		list = append(list, vm.Hook{Var: lost.Var, Run: func(err error) { e.Errors.Lose(err, name, cell, line, column) }})
	}
	return list
}

// tracks returns the same records for package vm.
func (e *emitter) tracks(s ast.Stmt) []vm.Hook {
	if e.Errors == nil {
		return nil
	}
	var list []vm.Hook
	for _, track := range e.cell.Tracks[s] {
		v := track.Var
		key, name, cell, line, column := e.names[v], v.Name(), e.cell.Number, track.Set.Line, track.Set.Column
		n := vm.Hook{Var: v}
		if track.Write {
			n.Run = func(err error) { e.Errors.Overwrite(key, err, name, cell, line, column) }
		} else {
			n.Run = func(error) { e.Errors.Begin(key, cell, 0, 0) }
		}
		list = append(list, n)
	}
	return list
}
