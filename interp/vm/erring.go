package vm

import (
	"go/ast"
	"go/types"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// callErrors compiles errors.Is and errors.As. The run time has its own, which know
// boxes: whether what is in them is comparable, and of which type it is.
func (c *compiler) callErrors(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	registry := c.machine.config.Registry
	if registry == nil || c.several(e, sig) || c.deferred != nil && c.deferred.call == e {
		c.fail(e, "this call of %s", o.FullName())
	}
	var test func(sb unsafe.Pointer) bool
	before := c.mark()
	err := c.exprTo(e.Args[0], sig.Params().At(0).Type(), nil).at
	if o.Name() == "Is" {
		target := c.exprTo(e.Args[1], sig.Params().At(1).Type(), nil).at
		test = func(sb unsafe.Pointer) bool { return registry.ErrorsIs(*failure(sb, err), *failure(sb, target)) }
	} else {
		target, static := c.errorTarget(e.Args[1], sig.Params().At(1).Type())
		test = func(sb unsafe.Pointer) bool { return registry.ErrorsAs(*failure(sb, err), target(sb), static) }
	}
	c.release(before)
	result := c.temporary(boolShape)
	at := result.at
	c.native(o.FullName(), &native{run: func(_ *thread, nb, sb unsafe.Pointer) { *integer(nb, at) = truth(test(sb)) }})
	return []operand{result}
}

// errorTarget compiles the second argument of errors.As: what gives its value, and its
// type, nil if that is an interface.
func (c *compiler) errorTarget(e ast.Expr, parameter types.Type) (value func(sb unsafe.Pointer) any, static *rt.Type) {
	registry := c.machine.config.Registry
	t := c.typeOf(e)
	if types.IsInterface(t) || c.isNil(e) {
		at := c.exprTo(e, parameter, nil).at
		return func(sb unsafe.Pointer) any { return *iface(sb, at) }, nil
	}
	p, ok := t.Underlying().(*types.Pointer)
	if !ok || registry.Mentions(p.Elem()) && !c.named(p.Elem()) {
		c.fail(e, "errors.As with a target of type %s", t)
	}
	x := c.expr(e, nil)
	pack, at := c.machine.pack(x.shape, false), x.at
	static = registry.Describe(t)
	if !registry.Mentions(t) {
		return func(sb unsafe.Pointer) any { return pack(nil, sb, at) }, static
	}
	return func(sb unsafe.Pointer) any { return static.Box(pack(nil, sb, at)) }, static
}
