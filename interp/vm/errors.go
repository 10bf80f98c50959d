package vm

import (
	"go/ast"
	"go/types"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// callErrors compiles errors.Is and errors.As by functions of the runtime library, which compare and assign
// the values in boxes.
func (c *compiler) callErrors(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	registry := c.vm.config.Registry
	if registry == nil || c.argumentCountDiffers(e, sig) || c.deferred != nil && c.deferred.call == e {
		c.fail(e, "a call of %s that is deferred or has several values as arguments", o.FullName())
	}
	var test func(sb unsafe.Pointer) bool
	before := c.mark()
	err := c.exprTo(e.Args[0], sig.Params().At(0).Type(), nil).reg
	if o.Name() == "Is" {
		target := c.exprTo(e.Args[1], sig.Params().At(1).Type(), nil).reg
		test = func(sb unsafe.Pointer) bool { return registry.ErrorsIs(*errorAt(sb, err), *errorAt(sb, target)) }
	} else {
		target, static := c.errorTarget(e.Args[1], sig.Params().At(1).Type())
		test = func(sb unsafe.Pointer) bool { return registry.ErrorsAs(*errorAt(sb, err), target(sb), static) }
	}
	c.release(before)
	result := c.temporary(boolShape)
	at := result.reg
	c.native(o.FullName(), &native{run: func(_ *thread, nb, sb unsafe.Pointer) { *intAt(nb, at) = boolToInt(test(sb)) }})
	return []operand{result}
}

// errorTarget compiles the second argument of errors.As. It returns a function that reads the value, and
// the static type, which is nil for an interface.
func (c *compiler) errorTarget(e ast.Expr, parameter types.Type) (value func(sb unsafe.Pointer) any, static *rt.Type) {
	registry := c.vm.config.Registry
	t := c.typeOf(e)
	if types.IsInterface(t) || c.isNil(e) {
		at := c.exprTo(e, parameter, nil).reg
		return func(sb unsafe.Pointer) any { return *anyAt(sb, at) }, nil
	}
	p, ok := t.Underlying().(*types.Pointer)
	if !ok || registry.Mentions(p.Elem()) && !c.methodsKnown(p.Elem()) {
		c.fail(e, "errors.As with a target of type %s", t)
	}
	x := c.expr(e, nil)
	pack, at := c.vm.pack(x.shape, false), x.reg
	static = registry.Describe(t)
	if !registry.Mentions(t) {
		return func(sb unsafe.Pointer) any { return pack(nil, sb, at) }, static
	}
	return func(sb unsafe.Pointer) any { return static.Box(pack(nil, sb, at)) }, static
}

// UncompiledError reports that a function of a package could not be compiled when it was called for the first time.
type UncompiledError struct {
	Function string
	Err      error
}

func (e *UncompiledError) Error() string { return e.Function + " cannot be called: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *UncompiledError) Unwrap() error { return e.Err }
