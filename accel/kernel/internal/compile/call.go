package compile

import (
	"go/ast"
	"go/types"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// callee returns the function that a call names: a *types.Func, *types.Builtin, *types.TypeName, or nil.
func (c *compiler) callee(call *ast.CallExpr) types.Object {
	id := c.calleeName(call)
	if id == nil {
		return nil
	}
	return c.info.Uses[id]
}

func (c *compiler) calleeName(call *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	switch f := ast.Unparen(fun).(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	}
	return nil
}

// call compiles a call or conversion and returns its results.
func (c *compiler) call(e *ast.CallExpr) []value {
	defer c.here(e)()
	if c.info.Types[e.Fun].IsType() {
		return []value{c.conversion(e)}
	}
	switch f := c.callee(e).(type) {
	case *types.Builtin:
		return c.builtin(e, f.Name())
	case *types.Func:
		f = f.Origin()
		if f.Pkg() != nil {
			switch f.Pkg().Path() {
			case "math":
				return []value{c.math(e, f.Name())}
			case KernelPath:
				return c.intrinsic(e, f)
			}
		}
		return c.inline(e, f)
	}
	c.fail(e.Fun, "a kernel can call declared functions only")
	return nil
}

func (c *compiler) conversion(e *ast.CallExpr) value {
	to := c.info.TypeOf(e.Fun)
	t, ok := c.scalarType(to)
	if !ok {
		x := c.value(e.Args[0])
		if _, isScalar := x.(program.Operand); isScalar {
			c.scalar(e, to)
		}
		return x // a struct, an array or a slice with the same underlying type
	}
	if v := c.info.Types[e.Args[0]].Value; v != nil && t != program.Bool {
		// Not constant itself: a conversion to a type parameter.
		from, _ := c.scalarType(types.Default(c.info.TypeOf(e.Args[0])))
		return c.convert(c.constant(e, v, from), t)
	}
	return c.convert(c.operand(e.Args[0]), t)
}

// maxInlined limits the calls of a kernel. Functions that call others twice need twice as many at each level.
const maxInlined = 10_000

// inline compiles the body of a function in place of a call.
func (c *compiler) inline(e *ast.CallExpr, f *types.Func) []value {
	decl := c.functions[f]
	switch sig := f.Signature(); {
	case decl == nil || decl.Body == nil:
		c.fail(e.Fun, "%s is not a function of which a kernel has the source", f.Name())
	case sig.Variadic():
		c.fail(e.Fun, "a kernel cannot call variadic functions")
	}
	for caller := c.frame; caller != nil; caller = caller.caller {
		if caller.function == f {
			c.fail(e.Fun, "%s calls itself: recursion is not supported in a kernel", f.Name())
		}
	}
	if c.inlined++; c.inlined > maxInlined {
		c.fail(e.Fun, "the kernel has more than %d calls of functions, with those that the functions contain: each is compiled in place of the call", maxInlined)
	}
	inner := &frame{caller: c.frame, function: f, block: &program.Block{}, variables: map[types.Object]value{}, arguments: c.typeArguments(e, f)}
	outer := c.frame
	c.bind(e, f, inner)
	c.frame = inner
	defer func() { c.frame = outer }()
	results := f.Signature().Results()
	for i := range results.Len() {
		v := results.At(i)
		inner.results = append(inner.results, c.result(decl, v))
		inner.variables[v] = inner.results[i]
	}
	c.add(inner.block)
	c.into(&inner.block.Body, func() { c.statements(decl.Body.List) })
	return inner.results
}

// result declares a variable for a result.
func (c *compiler) result(decl *ast.FuncDecl, v *types.Var) value {
	name := v.Name()
	if name == "" {
		name = "a result of " + decl.Name.Name
	}
	return c.zero(decl.Type.Results, v.Type(), name)
}

// typeArguments returns the type arguments of a call.
func (c *compiler) typeArguments(e *ast.CallExpr, f *types.Func) map[*types.TypeParam]types.Type {
	arguments := map[*types.TypeParam]types.Type{}
	if id := c.calleeName(e); id != nil {
		if instance, ok := c.info.Instances[id]; ok {
			for i := range f.Signature().TypeParams().Len() {
				arguments[f.Signature().TypeParams().At(i)] = c.subst(instance.TypeArgs.At(i))
			}
		}
	}
	if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok && c.info.Selections[sel] != nil {
		if n, ok := types.Unalias(c.subst(c.info.Selections[sel].Recv())).(*types.Named); ok {
			for i := range min(n.TypeArgs().Len(), f.Signature().RecvTypeParams().Len()) {
				arguments[f.Signature().RecvTypeParams().At(i)] = n.TypeArgs().At(i)
			}
		}
	}
	return arguments
}

// bind gives the parameters of a function their values.
func (c *compiler) bind(e *ast.CallExpr, f *types.Func, inner *frame) {
	sig := f.Signature()
	if recv := sig.Recv(); recv != nil {
		sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
		if !ok || c.info.Selections[sel] == nil || c.info.Selections[sel].Kind() != types.MethodVal {
			c.fail(e.Fun, "a kernel can call methods of values only")
		}
		if _, pointer := recv.Type().(*types.Pointer); pointer {
			c.fail(e.Fun, "the method %s has a pointer as receiver, and a kernel cannot use pointers", f.Name())
		}
		through := c.info.Selections[sel].Index() // embedded fields, then the method
		if len(through) > 1 && sig.RecvTypeParams().Len() > 0 {
			c.fail(e.Fun, "a method of an embedded field of a generic type is not supported in a kernel: name the field")
		}
		x := c.field(sel, c.value(sel.X), through[:len(through)-1])
		inner.variables[recv] = c.variable(sel, substitute(recv.Type(), inner.arguments), c.copyOf(x))
	}
	params := sig.Params()
	if len(e.Args) == 1 && params.Len() > 1 {
		for i, x := range c.results(e.Args[0]) {
			inner.variables[params.At(i)] = c.copyOf(x)
		}
		return
	}
	for i, a := range e.Args {
		t := params.At(i).Type()
		if len(inner.arguments) > 0 {
			t = substitute(t, inner.arguments)
		}
		inner.variables[params.At(i)] = c.argument(a, t)
	}
}

// argument returns a new variable with the value of an argument.
func (c *compiler) argument(e ast.Expr, t types.Type) value {
	return c.variable(e, t, c.copyOf(c.valueAs(e, t)))
}
