package compile

import (
	"go/ast"
	"go/constant"
	"go/types"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// literal compiles a composite literal.
func (c *compiler) literal(e *ast.CompositeLit) value {
	t := c.subst(c.info.TypeOf(e))
	if formatOf(t) != program.Plain {
		return c.zero(e, t, "a 16-bit float") // its fields belong to package kernel
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		s := &structure{fields: make([]value, u.NumFields())}
		for i, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				for k := range u.NumFields() {
					if u.Field(k).Name() == kv.Key.(*ast.Ident).Name {
						i = k
					}
				}
				x = kv.Value
			}
			s.fields[i] = c.copyOf(c.valueAs(x, c.subst(u.Field(i).Type())))
		}
		for i, f := range s.fields {
			if f == nil {
				s.fields[i] = c.zero(e, u.Field(i).Type(), u.Field(i).Name())
			}
		}
		return s
	case *types.Array:
		a := c.zero(e, t, "an array literal")
		i := 0
		for _, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				k, _ := constant.Int64Val(constant.ToInt(c.info.Types[kv.Key].Value))
				i, x = int(k), kv.Value
			}
			to := c.elementPlaceOf(x, a, program.Int(i), u.Elem(), false)
			c.assign(x, to, c.valueAs(x, u.Elem()))
			i++
		}
		return a
	case *types.Slice:
		c.fail(e, "a kernel cannot make slices: declare an array and slice it")
	}
	c.fail(e, "a literal of type %s is not supported in a kernel%s", types.TypeString(t, (*types.Package).Name), reason(t))
	return nil
}
