package vm

import (
	"go/ast"
	"go/token"
	"go/types"
)

// declaration compiles var statements in a function.
func (c *compiler) declaration(s *ast.DeclStmt) {
	d, ok := s.Decl.(*ast.GenDecl)
	if !ok || d.Tok != token.VAR {
		return
	}
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		switch {
		case len(v.Values) == 0:
			for _, id := range v.Names {
				if o, ok := c.source.Info.Defs[id].(*types.Var); ok && id.Name != "_" {
					c.declare(o, c.shape(id, c.subst(o.Type())), nil)
				}
			}
		default:
			var lhs []ast.Expr
			for _, id := range v.Names {
				lhs = append(lhs, id)
			}
			c.define(s, lhs, v.Values)
		}
	}
}

// declare declares a local variable with the value x, or with its zero value if x is nil.
func (c *compiler) declare(o *types.Var, s shape, x *operand) *variable {
	v := &variable{shape: s, boxed: s.file != memory && c.facts.Escapes(o)}
	switch {
	case s.file == memory:
		c.declareMemory(v, o, x)
	case v.boxed:
		box := c.referenceRegister()
		c.emit(opNew, box, 0, 0, c.memoryType(s.typ), 0)
		if x != nil {
			c.store(box, 0, *x)
		}
		v.reg = box
	default:
		v.reg = c.register(s)
		switch {
		case x != nil:
			c.move(operand{shape: s, reg: v.reg}, *x)
		case s.file == scalar:
			c.do(opConst, v.reg, 0, 0)
		default:
			c.do(opNil, v.reg, 0, 0)
		}
	}
	c.variables[o] = v
	return v
}

// declareMemory declares a variable whose value is in memory. If it is hoisted out of a loop, it keeps its
// memory from one iteration to the next.
func (c *compiler) declareMemory(v *variable, o *types.Var, x *operand) {
	v.owned = !c.facts.Escapes(o)
	k := c.memoryType(v.typ)
	if at, ok := c.hoisted[o]; ok {
		v.reg = at
		switch {
		case x == nil:
			c.emit(opZeroM, at, 0, 0, k, 0)
		case x.owned && x.offset == 0:
			c.do(opMovP, at, x.reg, 0)
		default:
			c.emit(opCopyM, at, c.address(*x), 0, k, 0)
		}
		return
	}
	v.reg = c.referenceRegister()
	switch {
	case x == nil:
		c.emit(opNew, v.reg, 0, 0, k, 0)
	default:
		c.own(*x, &operand{shape: v.shape, reg: v.reg})
	}
}

// hoist allocates, before a loop, the memory of the variables that are declared in it and do not escape, and of literals that are only keys
// of maps.
func (c *compiler) hoist(loop ast.Node) {
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.RangeStmt:
			if c.iterator(n) != nil {
				return false // its body is another function
			}
		case *ast.IndexExpr:
			c.hoistKey(n)
		}
		id, ok := n.(*ast.Ident)
		if !ok || id.Name == "_" {
			return true
		}
		o, ok := c.source.Info.Defs[id].(*types.Var)
		if !ok || o.IsField() || c.facts.Escapes(o) {
			return true
		}
		if _, done := c.hoisted[o]; done {
			return true
		}
		s := c.shape(id, c.subst(o.Type()))
		if s.file != memory {
			return true
		}
		at := c.referenceRegister()
		c.emit(opNew, at, 0, 0, c.memoryType(s.typ), 0)
		c.hoisted[o] = at
		return true
	})
}

// hoistKey allocates the memory of T{…} in m[T{…}].
func (c *compiler) hoistKey(e *ast.IndexExpr) {
	key, ok := ast.Unparen(e.Index).(*ast.CompositeLit)
	if !ok || c.scratch[key] != 0 || key.Type == nil {
		return
	}
	m, ok := c.typeOf(e.X).Underlying().(*types.Map)
	if !ok || types.IsInterface(c.subst(m.Key())) {
		return
	}
	s := c.shapeOf(key)
	if s.file != memory {
		return
	}
	at := c.referenceRegister()
	c.emit(opNew, at, 0, 0, c.memoryType(s.typ), 0)
	if c.scratch == nil {
		c.scratch = map[*ast.CompositeLit]uint16{}
	}
	c.scratch[key] = at
}
