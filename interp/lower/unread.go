package lower

// Errors that a cell overwrites without reading them, see package check. The statements of a cell record them by calls, see
// errorRecords; statements in loops, branches and functions by hooks.

import (
	"go/ast"

	"github.com/quernlab/quern/interp/vm/compile"
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

// losses returns the checks of the errors that s sets and nothing reads.
func (e *emitter) losses(s ast.Stmt) []compile.Hook {
	if e.Errors == nil {
		return nil
	}
	var list []compile.Hook
	for _, lost := range e.cell.Lost[s] {
		name, cell, line, column := lost.Var.Name(), e.cell.Number, lost.Set.Line, lost.Set.Column
		list = append(list, compile.Hook{Var: lost.Var, Run: func(err error) { e.Errors.Lose(err, name, cell, line, column) }})
	}
	return list
}

// tracks returns the records before a statement in a loop or a branch.
func (e *emitter) tracks(s ast.Stmt) []compile.Hook {
	if e.Errors == nil {
		return nil
	}
	var list []compile.Hook
	for _, track := range e.cell.Tracks[s] {
		v := track.Var
		key, name, cell, line, column := e.names[v], v.Name(), e.cell.Number, track.Set.Line, track.Set.Column
		n := compile.Hook{Var: v}
		if track.Write {
			n.Run = func(err error) { e.Errors.Overwrite(key, err, name, cell, line, column) }
		} else {
			n.Run = func(error) { e.Errors.Begin(key, cell, 0, 0) }
		}
		list = append(list, n)
	}
	return list
}
