package vm

import (
	"go/ast"
	"go/types"

	"github.com/quernlab/quern/interp/desugar"
)

// functionInstance returns the instance of a generic function that e denotes, or a function of a generic source; nil if o is a
// function of a compiled package.
func (c *compiler) functionInstance(e ast.Expr, o *types.Func) *Function {
	id := desugar.CalledIdent(e)
	if c.source.Function == nil || id == nil {
		return nil
	}
	var arguments []types.Type
	for t := range c.source.Info.Instances[id].TypeArgs.Types() {
		arguments = append(arguments, c.subst(t))
	}
	d, ok := c.source.Function(id, o, arguments)
	if !ok {
		return nil
	}
	return c.unit.instance(d)
}

// methodInstance returns m, a method of an instance of a generic type, a generic method with the type arguments own, or a method of a type
// that is declared beside generic ones of a compiled package; nil if it is something else.
func (c *compiler) methodInstance(m *types.Func, own []types.Type) *Function {
	t := types.Unalias(m.Signature().Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || c.source.Method == nil {
		return nil
	}
	d, ok := c.source.Method(named, m, own)
	if !ok {
		return nil
	}
	return c.unit.instance(d)
}

// ownArguments returns the type arguments of a generic method that x selects.
func (c *compiler) ownArguments(x *ast.SelectorExpr) (list []types.Type) {
	for t := range c.source.Info.Instances[x.Sel].TypeArgs.Types() {
		list = append(list, c.subst(t))
	}
	return list
}

// method returns the method that a selector denotes, and the path to it through embedded fields. In a
// generic function it looks the method up again, because the checker saw the type parameter.
func (c *compiler) method(x *ast.SelectorExpr, sel *types.Selection) (*types.Func, []int) {
	m, path := sel.Obj().(*types.Func), sel.Index()
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

// instance returns the compiled instance, compiling it on first use.
func (u *Unit) instance(d Declaration) *Function {
	if f := u.callee(d.Key); f != nil {
		return f
	}
	at, body := u.at, u.body
	f := &Function{name: d.Name}
	u.declared[d.Key] = f
	u.instances = append(u.instances, d)
	u.compile(d)
	u.at, u.body = at, body
	return f
}

// AddInstance compiles an instance, even if no function of the unit refers to it.
func (u *Unit) AddInstance(d Declaration) { u.instance(d) }

// genericFunction returns the generic function that e instantiates.
func (c *compiler) genericFunction(e ast.Expr) (*types.Func, bool) {
	id := desugar.CalledIdent(e)
	if id == nil {
		return nil, false
	}
	if _, ok := c.source.Info.Instances[id]; !ok {
		return nil, false
	}
	o, ok := c.source.Info.Uses[id].(*types.Func)
	return o, ok
}
