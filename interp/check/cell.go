package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// A Cell is a checked cell.
type Cell struct {
	Number  int
	Source  string
	Fset    *token.FileSet
	Package *types.Package // the one package of the session, path and name "main"
	// First is set for a package from files that have changed: the package of the first time, whose
	// functions those of this cell replace.
	First *types.Package
	Info  *types.Info // facts about the nodes of every cell of the session

	Imports []*ast.ImportSpec    // written by the user or found from a qualifier
	Types   []*ast.TypeSpec      // package-level types and aliases, in source order
	Funcs   []*ast.FuncDecl      // functions, and methods also of types of earlier cells
	Init    []*types.Initializer // of package-level var declarations, in dependency order
	// Vars holds every variable that outlives the cell. A variable that an
	// earlier cell defined with the identical type is the same object again:
	// it keeps its storage and must not be declared a second time.
	Vars []*types.Var
	Body []ast.Stmt // the statements in order; top-level := and var define Vars
	// Result is the expression whose values the cell shows: the X of the last
	// statement of Body. It is one element, perhaps a call with several
	// results, or nil.
	Result []ast.Expr

	// Errors are the variables of type error that the cell sets and does not
	// read afterwards.
	Errors []Unread
	// Overwrites has, for a statement of Body, the errors that it overwrites
	// before the cell has read them.
	Overwrites map[ast.Stmt][]Unread
	// Tracks has, for statements in loops and branches, what they do with errors;
	// Begins, for the statement of Body that they are in, whether the errors are
	// unread before it: those whose Set is not valid are read.
	Tracks map[ast.Stmt][]Track
	Begins map[ast.Stmt][]Unread
	// Lost has, for statements in blocks, the variables of type error that they set
	// and that nothing in the cell reads; see lost.go.
	Lost map[ast.Stmt][]Unread
	// Carried names declarations of earlier cells that are part of this one
	// because something that they use is redefined here.
	Carried []string
	// Broken are the errors of those that no longer type-check. A function among
	// them panics when called, a type or constant stays as it was.
	Broken []*Error

	// RunsMain says that the cell is a program: the call of main is its only statement.
	RunsMain bool
	// Main says that the user has not written this call, which is the last statement.
	Main bool
	// Program says that it has a package clause.
	Program bool
	// Notes are what the user should know besides, without a prefix. What was noted
	// of the same text before is not among them.
	Notes []string

	noted   []note
	count   bool              // Result is that of a write
	names   []name            // what Commit makes live
	methods []*addedMethod    // on types of earlier cells
	imports map[string]string // name to path, of the imports that the user wrote
	dots    []string          // paths of its dot imports
	info    *types.Info       // facts about this cell's nodes, part of Info
	file    *token.File
	pieces  []piece
	plan    *plan
}

// An Error is one thing that is wrong with a cell.
type Error struct {
	Pos token.Position // Filename is "cell[N]"; Line and Column count from 1, columns in bytes
	Msg string         // without position; further lines begin with a tab
	pos token.Pos      // where known
	// noticed is where the parser met what an error at Pos led to, if that is another place.
	noticed token.Position
}

// metAt returns where the parser, or the type checker, met the error.
func (e *Error) metAt() token.Position {
	if e.noticed.IsValid() {
		return e.noticed
	}
	return e.Pos
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Pos, e.Msg) }

// MostErrors is how many errors of a cell are worth to be explained.
const MostErrors = 50

// An ErrorList is everything that is wrong with a cell, in source order.
type ErrorList []*Error

func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Uncounted is the number above which those of cells without an execution count
// begin, which leave no trace in the history of the notebook.
const Uncounted = 1_000_000_000

// Filename returns the file name in positions of the cell with the given number: cell[3],
// or uncounted[1] of a cell without an execution count.
func Filename(number int) string {
	if number > Uncounted {
		return fmt.Sprintf("uncounted[%d]", number-Uncounted)
	}
	return fmt.Sprintf("cell[%d]", number)
}

// FileNumber returns the number of the cell with the given file name.
func FileNumber(filename string) (number int, ok bool) {
	if _, err := fmt.Sscanf(filename, "cell[%d]", &number); err == nil {
		return number, true
	}
	_, err := fmt.Sscanf(filename, "uncounted[%d]", &number)
	return Uncounted + number, err == nil
}

// AddUse records that id, which is not in the source, is the value of v. The facts are
// dropped with those about the cell's own nodes.
func (c *Cell) AddUse(id *ast.Ident, v *types.Var) {
	value := types.TypeAndValue{Type: v.Type()}
	c.Info.Uses[id], c.Info.Types[id] = v, value
	if c.info != nil {
		c.info.Uses[id], c.info.Types[id] = v, value
	}
}
