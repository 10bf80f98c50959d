package vm

import (
	"go/ast"
	"go/types"
)

// functionInstance returns the compiled form of the instance of a generic function
// that e is; nil if there is none.
func (c *compiler) functionInstance(e ast.Expr, o *types.Func) *Function {
	id := calleeIdent(e)
	in, ok := c.source.Info.Instances[id]
	if !ok || c.source.Function == nil {
		return nil
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

// methodInstance returns the compiled form of m, the method of an instance of a generic
// type; nil if there is none.
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

// method returns the method that a selection denotes, and the embedded fields on the
// way to it. In a generic function the checker saw a type parameter, or a type
// made with one.
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

// instance compiles an instance, if that has not been done; nil if it cannot be.
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

// Add compiles an instance that no function of the unit has asked for. It reports
// whether the VM runs it.
func (u *Unit) AddInstance(d Declaration) bool {
	for {
		// Those that were compiled while another was found impossible may call it.
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

// functionOf returns the generic function that e names with its type arguments.
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
