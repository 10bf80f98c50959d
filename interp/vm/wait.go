package vm

// Behind a statement that calls compiled code that may wait is a check for an interrupt; see desugar.MayWait.

import (
	"go/ast"
	"unsafe"

	"github.com/quernlab/quern/interp/desugar"
)

// afterWait emits a check behind n if one is needed. If n defines variables for parts of a statement, the check follows the
// assignments of that statement.
func (c *compiler) afterWait(n ast.Node) {
	switch s, ok := n.(*ast.AssignStmt); {
	case !desugar.MayWait(c.source.Info, n):
	case ok && desugar.DefinesAdded(c.source.Info, s):
		c.owesCheck = true
	default:
		c.interruptible()
	}
}

// beforeNext emits the check that afterWait has left to the statements before s.
func (c *compiler) beforeNext(s ast.Stmt) {
	if c.owesCheck && !desugar.IsPart(c.source.Info, s) {
		c.owesCheck = false
		c.interruptible()
	}
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
