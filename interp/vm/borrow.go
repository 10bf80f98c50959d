package vm

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/quernlab/quern/interp/facts"
)

// A struct or an array is passed by its address. The caller of f(x) would have to copy x, because f may change its parameter, or something
// else may change x before f has read it. It need not if f only reads the parameter and changes nothing meanwhile. Only the code of f
// knows that, and which code that is may change when f is declared again. So the caller only says in its instruction whether it lends variables of its
// own, and f copies what it needs to:
//
//	first instruction:  copy the parameters that f does not only read    a call that lends variables begins here
//	Function.start:     the code of f                                    any other call begins here

// lends is in the field j of a call instruction whose arguments may be variables of the caller.
const lends = 1

// lending returns what the instruction of a call with the arguments in b has in its field j.
func (b *callFrame) lending() int32 {
	if b.lent {
		return lends
	}
	return 0
}

// ownParameters emits the copies of the parameters for which keep says so. at are their registers.
func (c *code) ownParameters(at []uint16, keep func(i int) bool) {
	for i, s := range c.fn.parameters {
		if s.file == memory && keep(i) {
			c.emit(opCloneM, at[i], at[i], 0, c.memoryType(s.typ), 0)
		}
	}
	c.fn.start = len(c.fn.code)
}

func all(int) bool { return true }

// onlyReads reports whether a function body changes nothing but its own variables, and calls nothing that does. Then parameters that it does
// not assign to remain the same while it runs.
func (c *compiler) onlyReads(body *ast.BlockStmt) bool {
	only := true
	local := func(e ast.Expr) bool {
		if isBlank(e) {
			return true
		}
		v := facts.Root(c.source.Info, func(e ast.Expr) types.Type { return c.typeOf(e).Underlying() }, e)
		return v != nil && c.facts.Declared(v) && !c.facts.Escapes(v)
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				only = only && local(e)
			}
		case *ast.IncDecStmt:
			only = only && local(n.X)
		case *ast.RangeStmt:
			switch c.typeOf(n.X).Underlying().(type) {
			case *types.Signature, *types.Chan: // others run meanwhile
				only = false
			}
			for _, e := range []ast.Expr{n.Key, n.Value} {
				only = only && (e == nil || local(e))
			}
		case *ast.CallExpr:
			only = only && c.changesNothing(n)
		case *ast.UnaryExpr:
			only = only && n.Op != token.ARROW
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.SelectStmt:
			only = false
		}
		return only
	})
	return only
}

// readers are packages whose functions change nothing that is reached from numbers, texts and points in time.
var readers = map[string]bool{
	"cmp": true, "math": true, "math/bits": true, "math/cmplx": true, "strconv": true, "strings": true, "time": true, "unicode": true, "unicode/utf8": true,
}

// changesNothing reports whether a call is a conversion, or calls a function that changes nothing, apart from its arguments.
func (c *compiler) changesNothing(e *ast.CallExpr) bool {
	if tv := c.source.Info.Types[e.Fun]; tv.IsType() {
		return true
	} else if tv.IsBuiltin() {
		switch calleeName(e.Fun) {
		case "append", "clear", "close", "copy", "delete", "print", "println", "recover":
			return false
		}
		return true
	}
	f := c.calledFunction(e)
	if f == nil || f.Pkg() == nil || !readers[f.Pkg().Path()] || strings.HasPrefix(f.Name(), "Append") || f.FullName() == "time.Sleep" {
		return false
	}
	sig, ok := c.typeOf(e.Fun).Underlying().(*types.Signature)
	if !ok || sig.Recv() != nil && !isValue(sig.Recv().Type()) {
		return false
	}
	for v := range sig.Params().Variables() {
		t := c.subst(v.Type())
		if s, ok := t.(*types.Slice); ok && f.Pkg().Path() == "cmp" {
			t = s.Elem()
		}
		if !isValue(t) {
			return false
		}
	}
	return true
}

// isValue reports whether a value of type t leads to nothing that a call of a compiled function could change: it is a number, a text or a
// point in time.
func isValue(t types.Type) bool {
	if _, ok := t.Underlying().(*types.Basic); ok {
		return true
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time" && n.Obj().Name() == "Time"
}
