package vm

import (
	"go/ast"
	"go/types"
)

// functionInstance returns the compiled instance of a generic function that e denotes, or nil.
func (c *compiler) functionInstance(e ast.Expr, o *types.Func) *Function {
	id := calleeIdent(e)
	in, ok := c.source.Info.Instances[id]
	if !ok || c.source.Function == nil {
		return nil
	}
	if o.Signature().Recv() != nil {
		c.fail(e, "the generic method %s", o.Name())
	}
	var arguments []types.Type
	for t := range in.TypeArgs.Types() {
		arguments = append(arguments, c.subst(t))
	}
	d, ok := c.source.Function(id, o, arguments)
	if !ok {
		return nil
	}
	return c.unit.instance(d)
}

// methodInstance returns the compiled form of m, a method of an instance of a generic type, or nil.
func (c *compiler) methodInstance(m *types.Func) *Function {
	t := types.Unalias(m.Signature().Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || named.TypeArgs().Len() == 0 || c.source.Method == nil {
		return nil
	}
	d, ok := c.source.Method(named, m)
	if !ok {
		return nil
	}
	return c.unit.instance(d)
}

// method returns the method that a selector denotes, and the path to it through embedded fields. In a
// generic function it looks the method up again, because the checker saw the type parameter.
func (c *compiler) method(x *ast.SelectorExpr, sel *types.Selection) (*types.Func, []int) {
	m, path := sel.Obj().(*types.Func), sel.Index()
	if m.Origin().Signature().TypeParams() != nil {
		c.fail(x, "the generic method %s", m.Name())
	}
	if c.substitute != nil {
		o, index, _ := types.LookupFieldOrMethod(c.typeOf(x.X), true, m.Pkg(), m.Name())
		found, ok := o.(*types.Func)
		if !ok {
			c.fail(x, "the method %s", m.Name())
		}
		m, path = found, index
	}
	return m, path[:len(path)-1]
}

// instance returns the compiled instance, compiling it on first use; nil if that is not possible.
func (u *Unit) instance(d Declaration) *Function {
	if f := u.callee(d.Key); f != nil {
		return f
	}
	if u.failed[d.Key] {
		return nil
	}
	u.declared[d.Key] = &Function{name: d.Name}
	u.instances = append(u.instances, d)
	u.use(d.Key)
	if reason := u.compile(d); reason != "" {
		u.reasons[d.Name] = reason
		u.discard(d.Key)
		return nil
	}
	return u.declared[d.Key]
}

// AddInstance compiles an instance that no function of the unit refers to. It reports whether the VM runs
// it.
func (u *Unit) AddInstance(d Declaration) bool {
	for {
		// If an instance was discarded, others that were compiled before may call it.
		instances, failed := len(u.instances), len(u.failed)
		f := u.instance(d)
		if len(u.failed) == failed {
			return f != nil
		}
		for _, d := range u.instances[instances:] {
			delete(u.declared, d.Key)
		}
		u.instances = u.instances[:instances]
		if u.failed[d.Key] {
			return false
		}
	}
}

// genericFunction returns the generic function that e instantiates.
func (c *compiler) genericFunction(e ast.Expr) (*types.Func, bool) {
	id := calleeIdent(e)
	if id == nil {
		return nil, false
	}
	if _, ok := c.source.Info.Instances[id]; !ok {
		return nil, false
	}
	o, ok := c.source.Info.Uses[id].(*types.Func)
	return o, ok
}
