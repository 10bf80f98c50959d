package compile

import (
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"unsafe"

	"github.com/quernlab/quern/interp/vm"
)

// assertion compiles x.(T), or v, ok = x.(T) if comma is set.
func (c *compiler) assertion(e *ast.TypeAssertExpr, comma bool) (v, ok operand, t types.Type) {
	defer c.withPosition(e)()
	t = c.typeOf(e.Type)
	source := c.typeOf(e.X)
	x := c.expr(e.X, nil)
	subject, is := c.subject(x, source), c.typeTest(e, t)
	v = c.temporary(c.shape(e, t))
	ok = c.temporary(boolShape)
	load := c.unpacker(t, v)
	at, found := v.reg, ok.reg
	registry, s := c.vm.Registry(), v.Shape
	target, from := registry.Describe(t), registry.Describe(source)
	zero, pointer := reflect.Zero(s.Type), reflect.Zero(reflect.PointerTo(s.Type)).Interface()
	c.native("assert "+s.Type.String(), &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
		value := subject(sb)
		fits := is(value)
		switch {
		case fits:
			load(nb, sb, value)
		case comma:
			s.Put(nb, sb, at, zero)
		default:
			registry.AssertionFailed(value, from, target, pointer)
		}
		*vm.IntAt(nb, found) = vm.BoolToInt(fits)
	}})
	return v, ok, t
}

// subject returns a function that reads the interface value x of type t as an any.
func (c *code) subject(x operand, t types.Type) func(sb unsafe.Pointer) any {
	load, at := c.loadAny(t), x.reg
	return func(sb unsafe.Pointer) any { return load(sb, at) }
}

// typeTest returns a function that reports whether the dynamic type of a value is, or implements, t.
func (c *code) typeTest(n ast.Node, t types.Type) func(x any) bool {
	registry := c.vm.Registry()
	if registry == nil {
		c.fail(n, "an assertion")
	}
	s, id, target := c.shape(n, t), registry.ID(t), registry.Describe(t)
	switch {
	case types.IsInterface(t) && c.isCompiled(t):
		return func(x any) bool {
			_, ok := registry.Convert(x, target)
			return ok
		}
	case types.IsInterface(t):
		return func(x any) bool { return registry.Implements(x, target) }
	case registry.Mentions(t):
		return func(x any) bool { return registry.Is(x, id) }
	}
	typ := s.Type
	return func(x any) bool { return reflect.TypeOf(x) == typ }
}

// unpacker returns a function that loads the value of an interface that has passed the type test for t into
// a register.
func (c *code) unpacker(t types.Type, to operand) func(nb, sb unsafe.Pointer, x any) {
	registry := c.vm.Registry()
	id, s, at := registry.ID(t), to.Shape, to.reg
	switch {
	case types.IsInterface(t) && !isEmptyInterface(t):
		convert := c.withTable(t)
		return func(_, sb unsafe.Pointer, x any) { convert(x, sb, at) }
	case types.IsInterface(t):
		return func(_, sb unsafe.Pointer, x any) { *vm.AnyAt(sb, at) = x }
	case registry.Mentions(t):
		return func(nb, sb unsafe.Pointer, x any) {
			v, _ := registry.As(x, id)
			s.Unpack(nb, sb, at, v)
		}
	}
	return func(nb, sb unsafe.Pointer, x any) { s.Unpack(nb, sb, at, x) }
}

// typeSwitch compiles a type switch. A native function selects the clause.
func (c *compiler) typeSwitch(s *ast.TypeSwitchStmt, name string) {
	m := c.mark()
	defer c.release(m)
	if s.Init != nil {
		c.initial(s.Init)
		c.setPosition(s)
	}
	var x ast.Expr
	switch a := s.Assign.(type) {
	case *ast.ExprStmt:
		x = ast.Unparen(a.X).(*ast.TypeAssertExpr).X
	case *ast.AssignStmt:
		x = ast.Unparen(a.Rhs[0]).(*ast.TypeAssertExpr).X
	}
	source := c.typeOf(x)
	v := c.snapshot(c.expr(x, nil))
	subject := c.subject(v, source)
	t := &target{label: name, exit: newLabel()}
	bodies := make([]*label, len(s.Body.List))
	tests := make([][]func(any) bool, len(s.Body.List))
	otherwise := t.exit
	for i, cc := range s.Body.List {
		bodies[i] = newLabel()
		clause := cc.(*ast.CaseClause)
		if clause.List == nil {
			otherwise = bodies[i]
		}
		for _, e := range clause.List {
			if c.isNil(e) {
				tests[i] = append(tests[i], func(x any) bool { return x == nil })
			} else {
				tests[i] = append(tests[i], c.typeTest(e, c.typeOf(e)))
			}
		}
	}
	found := c.temporary(intShape)
	at := found.reg
	c.native("find the case", &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
		value := subject(sb)
		*vm.IntAt(nb, at) = int64(slices.IndexFunc(tests, func(list []func(any) bool) bool {
			return slices.ContainsFunc(list, func(is func(any) bool) bool { return is(value) })
		}))
	}})
	for i := range bodies {
		if tests[i] != nil {
			c.jump(bodies[i], vm.OpIfEqK, at, 0, int32(i))
		}
	}
	c.jump(otherwise, vm.OpJmp, 0, 0, 0)
	c.targets = append(c.targets, t)
	for i, cc := range s.Body.List {
		clause := cc.(*ast.CaseClause)
		c.bind(bodies[i])
		m := c.mark()
		c.bindCase(clause, v, subject)
		c.list(clause.Body)
		c.release(m)
		c.jump(t.exit, vm.OpJmp, 0, 0, 0)
	}
	c.targets = c.targets[:len(c.targets)-1]
	c.bind(t.exit)
}

// bindCase declares the variable of a clause of a type switch over v.
func (c *compiler) bindCase(clause *ast.CaseClause, v operand, subject func(unsafe.Pointer) any) {
	o, _ := c.source.Info.Implicits[clause].(*types.Var)
	if o == nil {
		return
	}
	if len(clause.List) != 1 || c.isNil(clause.List[0]) {
		c.declare(o, v.Shape, &v)
		return
	}
	t := c.typeOf(clause.List[0])
	x := c.temporary(c.shape(clause, t))
	load := c.unpacker(t, x)
	c.native("value of the case", &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) { load(nb, sb, subject(sb)) }})
	c.declare(o, x.Shape, &x)
}
