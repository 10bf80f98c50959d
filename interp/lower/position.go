package lower

// Before a statement that may panic, lowered code stores the number of its position in a variable of the activation,
// which a traceback reads:
//
//	func f() { xs[i] = g() }            ->  func fʹ1() { ...; atʹ := 12; xs[i] = gʹ1() }
//	func f() { if c { xs[i] = g() } }   ->  func fʹ1() { var atʹ int; ...; if c { atʹ = 12; xs[i] = gʹ1() } }
//
// For a panic, yaegi reports the function but only its first line.

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
	"sync"

	"github.com/quernlab/quern/interp/check"
)

// A position number contains the file, line and column, so that a session needs no table that grows with each cell. The
// number 0 means no position.
const (
	columnBits = 20
	lineBits   = 22
)

// fileTable numbers the files of positions. The number of a cell's file follows from the cell; the table only contains
// files of packages.
type fileTable struct {
	mu      sync.Mutex
	names   []string
	numbers map[string]int
}

// number returns the number of a file: odd for a cell and even for any other file.
func (f *fileTable) number(name string) int {
	if cell, ok := cellNumber(name); ok {
		return 2*cell + 1
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, ok := f.numbers[name]
	if !ok {
		f.names = append(f.names, name)
		n = 2 * len(f.names)
		if f.numbers == nil {
			f.numbers = map[string]int{}
		}
		f.numbers[name] = n
	}
	return n
}

// name returns the file with that number.
func (f *fileTable) name(number int) (string, bool) {
	if number%2 == 1 {
		return check.Filename(number / 2), true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := number/2 - 1; i >= 0 && i < len(f.names) {
		return f.names[i], true
	}
	return "", false
}

// cellNumber returns the number of the cell with that file name.
func cellNumber(filename string) (int, bool) {
	text, ok := strings.CutPrefix(filename, "cell[")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(text, "]"))
	return n, err == nil && n >= 0 && check.Filename(n) == filename
}

// Position returns the position for a number in lowered code. It may be called from any goroutine.
func (p *Program) Position(number int) (token.Position, bool) {
	if number <= 0 {
		return token.Position{}, false
	}
	name, ok := p.files.name(number >> (lineBits + columnBits))
	if !ok {
		return token.Position{}, false
	}
	return token.Position{Filename: name, Line: number >> columnBits & (1<<lineBits - 1), Column: number & (1<<columnBits - 1)}, true
}

func (e *emitter) positionOf(n ast.Node) token.Position {
	if n == nil || !n.Pos().IsValid() {
		return token.Position{}
	}
	return e.Fset.Position(n.Pos())
}

// position returns the number of the position of n.
func (e *emitter) position(n ast.Node) int {
	p := e.positionOf(n)
	if p.Filename == "" {
		return 0
	}
	return e.files.number(p.Filename)<<(lineBits+columnBits) | min(p.Line, 1<<lineBits-1)<<columnBits | min(p.Column, 1<<columnBits-1)
}

// store stores the position of n if it may panic or if always is set.
func (f *function) store(w *writer, n ast.Node, always bool) {
	if always || f.mayPanic(n) {
		f.storePosition(w, n)
	}
}

func (f *function) storePosition(w *writer, n ast.Node) {
	number := f.position(n)
	c := &f.code
	c.stores++
	if c.stores == 1 && w == c.writer && w.indent == c.indent && len(f.facts.JumpLabels) == 0 {
		c.inline = true
		w.line("%s := %d", Position, number)
		return
	}
	w.line("%s = %d", Position, number)
}

// Position is the variable of an activation with the number of the position of the current statement.
const Position = "atʹ"

// activationCode is the code of one activation.
type activationCode struct {
	writer *writer
	indent int  // indentation outside of all blocks
	stores int  // number of stored positions
	inline bool // the first store declares the variable
}

// positioned lowers the code of one activation, and declares the position variable if it is needed.
func (f *function) positioned(w *writer, statements func(*writer)) {
	outer := f.code
	f.code = activationCode{writer: &writer{indent: w.indent}, indent: w.indent}
	statements(f.code.writer)
	if f.code.stores > 0 && !f.code.inline {
		w.line("var %s int", Position)
	}
	w.text.WriteString(f.code.writer.text.String())
	f.code = outer
}

// mayPanic reports whether the evaluation of n may panic. It ignores nested statements and function literals.
func (f *functionTypes) mayPanic(n ast.Node) (may bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if may {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt:
			return false
		case *ast.CallExpr:
			tv := f.Info.Types[n.Fun]
			if tv.IsType() {
				_, array := under(f.typeOf(n)).(*types.Array)
				may = array
			} else if tv.IsBuiltin() {
				switch calleeIdent(n.Fun).Name {
				case "len", "cap", "append", "copy", "delete", "new", "min", "max", "complex", "real", "imag", "recover":
				default:
					may = true
				}
			} else {
				may = true
			}
		case *ast.IndexExpr:
			if tv := f.Info.Types[n.Index]; !tv.IsType() {
				may = true
			}
		case *ast.SliceExpr, *ast.StarExpr, *ast.TypeAssertExpr, *ast.SendStmt:
			may = true
		case *ast.SelectorExpr:
			if sel := f.Info.Selections[n]; sel != nil && (sel.Indirect() || types.IsInterface(f.typeOf(n.X))) {
				may = true
			}
		case *ast.UnaryExpr:
			may = n.Op == token.ARROW
		case *ast.BinaryExpr:
			may = f.operatorPanics(n.Op, n.X, n.Y)
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 {
				may = f.operatorPanics(n.Tok, n.Lhs[0], n.Rhs[0])
			}
		}
		return !may
	})
	return may
}

func (f *functionTypes) operatorPanics(op token.Token, x, y ast.Expr) bool {
	switch op {
	case token.QUO, token.REM, token.QUO_ASSIGN, token.REM_ASSIGN:
		b, ok := f.coreOf(x).(*types.Basic)
		return ok && b.Info()&types.IsInteger != 0 && f.Info.Types[y].Value == nil
	case token.SHL, token.SHR, token.SHL_ASSIGN, token.SHR_ASSIGN:
		b, ok := f.coreOf(y).(*types.Basic)
		return ok && b.Info()&types.IsUnsigned == 0 && f.Info.Types[y].Value == nil
	case token.EQL, token.NEQ:
		return types.IsInterface(f.typeOf(x)) && types.IsInterface(f.typeOf(y))
	}
	return false
}
