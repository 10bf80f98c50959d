package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"sort"
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

	Imports []*ast.ImportSpec    // written by the user or added for a qualifier
	Types   []*ast.TypeSpec      // package-level types and aliases, in source order
	Funcs   []*ast.FuncDecl      // functions, and methods also of types of earlier cells
	Init    []*types.Initializer // for package-level var declarations, in dependency order
	// Vars are the variables that outlive the cell. A variable that an earlier cell
	// has defined with the identical type is the same object: it keeps its storage and
	// must not be declared again.
	Vars []*types.Var
	Body []ast.Stmt // the statements in order; top-level := and var define Vars
	// ranges are the positions of the statements of Body and behind them. Lowering divides the statements.
	ranges [][2]token.Pos
	// Part says that the cell is a part of a package of a module. Then Dispatched are the types
	// at package level, of the part or an earlier one, whose methods interfaces can call from
	// now on; those of other types of the part, and not even all, only code calls that names them.
	Part       bool
	Dispatched []*types.Named
	// Later are functions of the package that are compiled when they are called for the first time. Funcs has them then.
	Later []*ast.FuncDecl
	// Methods are methods of the package that are about to be called through an interface for the first time.
	Methods []*types.Func
	// Replaced says that the part belongs to a package of which a newer version has been loaded.
	Replaced bool
	// Order are the initializers of all variables of a package, in the first part of it that runs.
	Order []*types.Initializer
	// Tables are literals of a part that have integers as elements, written as numerals, about
	// which there are no facts.
	Tables map[*ast.CompositeLit]bool
	// SharesLoopVariables reports whether the code at a position is in a language before Go 1.22, whose loops have one
	// variable for all iterations. It is nil if no code of the cell is.
	SharesLoopVariables func(token.Pos) bool
	// Result is the expression whose values the cell shows: the X of the last
	// statement of Body. It has at most one element, which may be a call with several
	// results.
	Result []ast.Expr

	// Errors are the variables of type error that the cell sets and does not
	// read afterwards.
	Errors []Unread
	// Overwrites maps a statement of Body to the errors that it overwrites before the
	// cell has read them.
	Overwrites map[ast.Stmt][]Unread
	// Tracks maps statements in loops and branches to their operations on errors.
	// Begins maps the enclosing statement of Body to the errors that are tracked in it:
	// an error whose Set is valid is unread before the statement, the others are read.
	Tracks map[ast.Stmt][]Track
	Begins map[ast.Stmt][]Unread
	// Lost maps statements in blocks to the variables of type error that they set and
	// that nothing in the cell reads; see lost.go.
	Lost map[ast.Stmt][]Unread
	// Summary is what the cell defines, uses and may change. It is nil for a part of a package.
	Summary *Summary
	// Carried are the names of declarations of earlier cells that are a part of this
	// cell, because it redefines something that they use.
	Carried []string
	// Broken are the errors of carried declarations that no longer type-check. Such a
	// function panics when it is called; a type or constant stays as it was.
	Broken []*Error

	// RunsMain reports whether the cell is a program: its only statement calls main.
	RunsMain bool
	// Main reports whether that call, the last statement, was added and not written by the user.
	Main bool
	// Program reports whether the cell has a package clause.
	Program bool
	// Notes are remarks for the user, without a prefix. They do not repeat earlier notes
	// about the same text.
	Notes []string

	noted       []note
	fromPackage map[string]bool        // see Checker.fromPackage
	count       bool                   // Result is the byte count and error of a write
	names       []name                 // the definitions that Commit makes live
	before      map[*types.Var]meaning // what the names of new variables meant, set by Commit
	methods     []*addedMethod         // on types of earlier cells
	imports     map[string]string      // name to path, of the imports that the user wrote
	dots        []string               // paths of its dot imports
	info        *types.Info            // facts about this cell's nodes, also in Info
	file        *token.File
	body        *ast.FuncDecl // the function with the statements
	pieces      []piece
	plan        *plan
	current     map[string]*types.Package // by import path, see Recheck
}

// An Error is one error in a cell.
type Error struct {
	Pos token.Position // Filename is "cell[N]"; Line and Column count from 1, columns in bytes
	Msg string         // without position; further lines begin with a tab
	pos token.Pos      // where known
	// noticed is where the parser reported the error, if that is not Pos.
	noticed token.Position
}

// metAt returns the position at which the parser or the type checker reported the error.
func (e *Error) metAt() token.Position {
	if e.noticed.IsValid() {
		return e.noticed
	}
	return e.Pos
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Pos, e.Msg) }

// MaxErrors is the number of errors of a cell up to which hints are added.
const MaxErrors = 50

// An ErrorList has all errors of a cell in source order.
type ErrorList []*Error

func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Uncounted is added to the numbers of cells without an execution count, which do not appear
// in the history of the notebook.
const Uncounted = 1_000_000_000

// Filename returns the file name in positions of the cell with the given number: cell[3], or
// uncounted[1] for a cell without an execution count.
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

// AddUse records that id, which is not in the source, is the value of v. The fact is removed
// together with those about the cell's own nodes.
func (c *Cell) AddUse(id *ast.Ident, o types.Object) {
	c.AddFact(id, types.TypeAndValue{Type: o.Type()})
	c.Info.Uses[id] = o
	if c.info != nil {
		c.info.Uses[id] = o
	}
}

// Start returns the position of the statement of Body that contains a position, or that position if none does.
func (c *Cell) Start(p token.Position) token.Position {
	for _, r := range c.ranges {
		begin, end := c.Fset.Position(r[0]), c.Fset.Position(r[1])
		if begin.Filename == p.Filename && !isBefore(p, begin) && isBefore(p, end) {
			return begin
		}
	}
	return p
}

func isBefore(a, b token.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
}

// AddDefinition records that id, which is not in the source, declares v. The fact is removed
// together with those about the cell's own nodes.
func (c *Cell) AddDefinition(id *ast.Ident, v *types.Var) {
	c.Info.Defs[id] = v
	if c.info != nil {
		c.info.Defs[id] = v
	}
}

// AddFact records the type, and the value if it is a constant, of an expression that is not in the source.
func (c *Cell) AddFact(e ast.Expr, tv types.TypeAndValue) {
	c.Info.Types[e] = tv
	if c.info != nil {
		c.info.Types[e] = tv
	}
}

// File returns the cell as a Go file: its imports, its package-level declarations, and a function with its
// statements. Declarations that the cell carries are left out. The file is valid until Release.
func (c *Cell) File() *ast.File {
	f := &ast.File{Package: c.body.Pos(), Name: &ast.Ident{NamePos: c.body.Pos(), Name: c.Package.Name()}, Imports: c.Imports}
	for _, p := range c.pieces {
		if !p.carried {
			f.Decls = append(f.Decls, p.node)
		}
	}
	f.Decls = append(f.Decls, c.body)
	return f
}

// Remarks returns the notes with their positions, also those about text that earlier cells had. Commit removes them.
func (c *Cell) Remarks() ErrorList {
	var list ErrorList
	for _, n := range c.noted {
		list = append(list, &Error{Pos: c.Fset.Position(n.pos), Msg: n.key.msg})
	}
	slices.SortStableFunc(list, func(x, y *Error) int {
		if x.Pos.Line != y.Pos.Line {
			return x.Pos.Line - y.Pos.Line
		}
		return x.Pos.Column - y.Pos.Column
	})
	return list
}

// A lineTable has the offsets of the line starts of a text.
type lineTable []int

func linesOf(src string) lineTable {
	starts := make(lineTable, 1, 1+strings.Count(src, "\n"))
	for i := 0; ; {
		n := strings.IndexByte(src[i:], '\n')
		if n < 0 {
			return starts
		}
		i += n + 1
		starts = append(starts, i)
	}
}

// position returns the line and column of an offset, counted from 1.
func (t lineTable) position(offset int) (line, column int) {
	line = sort.SearchInts(t, offset+1)
	return line, offset - t[line-1] + 1
}

// text returns a line of src, whose table t is, without its newline.
func (t lineTable) text(src string, line int) string {
	end := len(src)
	if line < len(t) {
		end = t[line] - 1
	}
	return src[t[line-1]:end]
}
