package compile

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/interp/vm"
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
func (c *compiler) declare(o *types.Var, s vm.Shape, x *operand) *variable {
	v := &variable{Shape: s, boxed: s.File != vm.Memory && c.facts.Escapes(o) && (x == nil || !c.copied(o, s))}
	switch {
	case s.File == vm.Memory:
		c.declareMemory(v, o, x)
	case v.boxed:
		box := c.referenceRegister()
		c.emit(vm.OpNew, box, 0, 0, c.memoryType(s.Type), 0)
		if x != nil {
			c.store(box, 0, *x)
		}
		v.reg = box
	default:
		v.reg = c.register(s)
		switch {
		case x != nil:
			c.move(operand{Shape: s, reg: v.reg}, *x)
		case s.File == vm.Scalar:
			c.do(vm.OpConst, v.reg, 0, 0)
		default:
			c.do(vm.OpNil, v.reg, 0, 0)
		}
	}
	c.variables[o] = v
	return v
}

// copied reports whether function literals that use the variable o capture its value instead of the variable: a single pointer that
// never changes after the declaration.
func (c *compiler) copied(o types.Object, s vm.Shape) bool {
	return s.Width == "P" && !c.facts.Changes(o)
}

// declareMemory declares a variable whose value is in memory. If it is hoisted out of a loop, it keeps its
// memory from one iteration to the next.
func (c *compiler) declareMemory(v *variable, o *types.Var, x *operand) {
	v.owned = !c.facts.Escapes(o)
	k := c.memoryType(v.Type)
	if at, ok := c.hoisted[o]; ok {
		v.reg = at
		switch {
		case x == nil:
			c.emit(vm.OpZeroM, at, 0, 0, k, 0)
		case x.owned && x.offset == 0:
			c.do(vm.OpMovP, at, x.reg, 0)
		default:
			c.emit(vm.OpCopyM, at, c.address(*x), 0, k, 0)
		}
		return
	}
	v.reg = c.referenceRegister()
	switch {
	case x == nil:
		c.emit(vm.OpNew, v.reg, 0, 0, k, 0)
	default:
		c.own(*x, &operand{Shape: v.Shape, reg: v.reg})
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
		if s.File != vm.Memory {
			return true
		}
		at := c.referenceRegister()
		c.emit(vm.OpNew, at, 0, 0, c.memoryType(s.Type), 0)
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
	if s.File != vm.Memory {
		return
	}
	at := c.referenceRegister()
	c.emit(vm.OpNew, at, 0, 0, c.memoryType(s.Type), 0)
	if c.scratch == nil {
		c.scratch = map[*ast.CompositeLit]uint16{}
	}
	c.scratch[key] = at
}

// declaredVariable returns the local variable that e declares; nil if e is assigned to.
func (c *compiler) declaredVariable(e ast.Expr) *types.Var {
	id, ok := e.(*ast.Ident)
	if !ok || id.Name == "_" {
		return nil
	}
	v, _ := c.source.Info.Defs[id].(*types.Var)
	if v != nil && c.source.Global(v) != "" {
		return nil
	}
	return v
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// define compiles x, y := a, b and var x, y = a, b.
func (c *compiler) define(n ast.Node, lhs, rhs []ast.Expr) {
	if len(lhs) == 1 && len(rhs) == 1 {
		if v := c.declaredVariable(lhs[0]); v != nil {
			c.defineOne(v, rhs[0])
			return
		}
	}
	// Reserve the registers of the variables below those of the temporaries, so that they survive the
	// release of the temporaries.
	variables := make([]*types.Var, len(lhs))
	registers := make([]uint16, len(lhs))
	for i, e := range lhs {
		if v := c.declaredVariable(e); v != nil {
			variables[i] = v
			s := c.shape(e, c.subst(v.Type()))
			if _, done := c.hoisted[v]; !done {
				registers[i] = c.variableRegister(v, s)
			}
		}
	}
	m := c.mark()
	values, from := c.values(n, lhs, rhs)
	for i, e := range lhs {
		switch v := variables[i]; {
		case v != nil:
			t := c.subst(v.Type())
			x := c.converted(n, values[i], from[i], t, nil)
			c.declareAt(v, c.shape(e, t), registers[i], x)
		case !isBlank(e):
			p := c.locate(e)
			c.set(p, c.converted(n, values[i], from[i], c.typeOf(e), nil))
		}
	}
	c.release(m)
}

// variableRegister reserves the register of a variable.
func (c *compiler) variableRegister(v *types.Var, s vm.Shape) uint16 {
	if s.File == vm.Memory || c.facts.Escapes(v) {
		return c.referenceRegister()
	}
	return c.register(s)
}

// declareAt declares a variable in a reserved register, with the value x.
func (c *compiler) declareAt(o *types.Var, s vm.Shape, at uint16, x operand) {
	v := &variable{Shape: s, reg: at, boxed: s.File != vm.Memory && c.facts.Escapes(o) && !c.copied(o, s)}
	switch {
	case s.File == vm.Memory:
		v.owned = !c.facts.Escapes(o)
		if hoisted, ok := c.hoisted[o]; ok {
			v.reg = hoisted
			if x.owned && x.offset == 0 {
				c.do(vm.OpMovP, v.reg, x.reg, 0)
			} else {
				c.emit(vm.OpCopyM, v.reg, c.address(x), 0, c.memoryType(s.Type), 0)
			}
		} else {
			c.own(x, &operand{Shape: s, reg: at})
		}
	case v.boxed:
		c.emit(vm.OpNew, at, 0, 0, c.memoryType(s.Type), 0)
		c.store(at, 0, x)
	default:
		c.move(operand{Shape: s, reg: at}, x)
	}
	c.variables[o] = v
}

// defineOne compiles x := e. A value in a register is computed directly into the register of x.
func (c *compiler) defineOne(v *types.Var, e ast.Expr) {
	t := c.subst(v.Type())
	s := c.shape(e, t)
	if at, ok := c.hoisted[v]; ok {
		m := c.mark()
		c.declareAt(v, s, at, c.exprTo(e, t, nil))
		c.release(m)
		return
	}
	at := c.variableRegister(v, s)
	m := c.mark()
	if s.File == vm.Memory || c.facts.Escapes(v) && !c.copied(v, s) {
		c.declareAt(v, s, at, c.exprTo(e, t, nil))
	} else {
		c.exprTo(e, t, &operand{Shape: s, reg: at})
		c.variables[v] = &variable{Shape: s, reg: at}
	}
	c.release(m)
}

// values compiles the right side of an assignment to several variables. It returns the values, which later
// assignments do not change, and their types.
func (c *compiler) values(n ast.Node, lhs, rhs []ast.Expr) (values []operand, from []types.Type) {
	if len(rhs) == len(lhs) {
		for i, e := range rhs {
			t := c.typeOf(e)
			if !isBlank(lhs[i]) {
				// nil and constants take the type of the target.
				t = c.typeOf(lhs[i])
			} else if c.isNil(e) {
				c.fail(n, "nil without a type")
			}
			values = append(values, c.value(e, t))
			from = append(from, t)
		}
		return values, from
	}
	return c.tuple(n, rhs[0])
}

// tuple compiles an expression with several values.
func (c *compiler) tuple(n ast.Node, e ast.Expr) (values []operand, from []types.Type) {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		tuple, ok := c.source.Info.Types[e].Type.(*types.Tuple)
		if !ok {
			c.fail(n, "an expression with several values")
		}
		for v := range tuple.Variables() {
			from = append(from, c.subst(v.Type()))
		}
		return c.compileCall(x), from
	case *ast.IndexExpr:
		p := c.elementLocation(x)
		if p.kind != inMapEntry {
			c.fail(n, "an expression with several values")
		}
		ok := c.temporary(boolShape)
		v := c.mapGet(p, &ok, nil)
		return []operand{v, ok}, []types.Type{c.elementType(x), types.Typ[types.Bool]}
	case *ast.UnaryExpr: // a receive
		v, open, t := c.receive(x.X)
		return []operand{v, open}, []types.Type{t, types.Typ[types.Bool]}
	case *ast.TypeAssertExpr:
		v, ok, t := c.assertion(x, true)
		return []operand{v, ok}, []types.Type{t, types.Typ[types.Bool]}
	}
	c.fail(n, "several values of %T", e)
	return nil, nil
}

func (c *compiler) elementType(x *ast.IndexExpr) types.Type {
	return c.subst(c.typeOf(x.X).Underlying().(*types.Map).Elem())
}
