package vm

// Behind a statement that calls compiled code that may wait is a check for an interrupt; see desugar.MayWait. In a cell it is also
// behind the record that the statement has defined variables, because an interrupted call must not lose its results:
//
//	run, err := accel.Fit(ctx, model, train)  ->  run, err = accel.Fit(ctx, model, train); Defined(0, 1); check

import (
	"go/ast"
	"unsafe"

	"github.com/quernlab/quern/interp/desugar"
)

// afterWait emits a check behind n if one is needed. If n defines variables for parts of a statement, the check follows the
// assignments of that statement; if a record follows, it follows that.
func (c *compiler) afterWait(n ast.Node) {
	switch s, ok := n.(*ast.AssignStmt); {
	case !desugar.MayWait(c.source.Info, n):
	case ok && (c.recorded || desugar.DefinesAdded(c.source.Info, s)):
		c.owesCheck = true
	default:
		c.interruptible()
	}
}

// beforeNext emits the check that afterWait has left to the statements before s.
func (c *compiler) beforeNext(s ast.Stmt) {
	if c.owesCheck && !desugar.IsPart(c.source.Info, s) && !c.isRecord(s) {
		c.owesCheck = false
		c.interruptible()
	}
}

// isRecordAt reports whether list[i] exists and is a record.
func (c *compiler) isRecordAt(list []ast.Stmt, i int) bool {
	return i < len(list) && c.isRecord(list[i])
}

// isRecord reports whether s tells the session that variables of a cell are defined.
func (c *compiler) isRecord(s ast.Stmt) bool {
	x, ok := s.(*ast.ExprStmt)
	if !ok || !c.cellBody {
		return false
	}
	call, ok := x.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	f := c.calledFunction(call)
	return f != nil && f.Pkg() != nil && f.Pkg().Path() == "quern/session" && f.Name() == "Defined"
}

// initial compiles the init statement of another one.
func (c *compiler) initial(init ast.Stmt) {
	c.stmt(init, "")
	c.beforeNext(nil)
}

// interruptible emits a check for an interrupt.
func (c *code) interruptible() {
	c.native("check for an interrupt", &native{run: func(t *thread, _, _ unsafe.Pointer) { t.checkInterrupt() }})
}

// checkInterrupt ends the goroutine if its cell is interrupted.
func (t *thread) checkInterrupt() {
	if t.vm.stop.Load() {
		t.vm.config.Stop()
	}
}
