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
	if x != nil {
		v := c.reserve(o, s)
		c.initialize(o, v, *x)
		return v
	}
	v := &variable{Shape: s, boxed: s.File != vm.Memory && c.facts.Escapes(o)}
	switch {
	case s.File == vm.Memory:
		c.declareZero(v, o)
	case v.boxed:
		v.reg = c.referenceRegister()
		c.emit(vm.OpNew, v.reg, 0, 0, c.memoryType(s.Type), 0)
	case s.File == vm.Scalar:
		v.reg = c.register(s)
		c.do(vm.OpConst, v.reg, 0, 0)
	default:
		v.reg = c.register(s)
		c.do(vm.OpNil, v.reg, 0, 0)
	}
	c.variables[o] = v
	return v
}

// declareZero declares a variable whose value is in memory. If it is hoisted out of a loop, it keeps its memory from one iteration to
// the next.
func (c *compiler) declareZero(v *variable, o *types.Var) {
	v.owned = !c.facts.Escapes(o)
	k := c.memoryType(v.Type)
	if at, ok := c.hoisted[o]; ok {
		v.reg = at
		c.emit(vm.OpZeroM, at, 0, 0, k, 0)
		return
	}
	v.reg = c.referenceRegister()
	c.emit(vm.OpNew, v.reg, 0, 0, k, 0)
}

// copied reports whether function literals that use the variable o capture its value instead of the variable: a single pointer that
// never changes after the declaration.
func (c *compiler) copied(o types.Object, s vm.Shape) bool {
	return s.Width == "P" && !c.facts.Changes(o)
}

// hoist allocates, before a loop, the memory of the variables that are declared in it and do not escape, and of literals that are only keys
// of maps, or copied.
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
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN && len(n.Lhs) == 1 && !isBlank(n.Lhs[0]) {
				c.hoistAssigned(n.Rhs[0], c.typeOf(n.Lhs[0]))
			}
		case *ast.CallExpr:
			if c.source.Info.Types[n.Fun].IsBuiltin() && calleeName(n.Fun) == "append" && !n.Ellipsis.IsValid() {
				for _, x := range n.Args[1:] {
					c.hoistAssigned(x, c.typeOf(n).Underlying().(*types.Slice).Elem())
				}
			}
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

// maxGlobals limits the slots for addresses of variables of the session.
const maxGlobals = 16

// hoistGlobals loads, before an outermost loop, the addresses of the variables of the session that it uses. The result ends the loop.
func (c *compiler) hoistGlobals(loop ast.Node) (end func()) {
	if c.globals != nil {
		return func() {}
	}
	c.globals = map[types.Object]uint16{}
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.RangeStmt:
			if c.iterator(n) != nil {
				return false
			}
		case *ast.Ident:
			v, ok := c.source.Info.Uses[n].(*types.Var)
			if !ok || v.IsField() || c.variables[v] != nil || len(c.globals) == maxGlobals || c.source.Global(v) == "" {
				return true
			}
			if _, known := c.globals[v]; !known {
				c.globals[v] = c.global(n, v).reg
			}
		}
		return true
	})
	return func() { c.globals = nil }
}

// hoistKey allocates the memory of T{…} in m[T{…}].
func (c *compiler) hoistKey(e *ast.IndexExpr) {
	if m, ok := c.typeOf(e.X).Underlying().(*types.Map); ok {
		c.hoistLiteral(e.Index, c.subst(m.Key()))
	}
}

// hoistAssigned allocates the memory of T{…} in s[i] = T{…} and append(s, T{…}), which copy it. Afterwards it keeps nothing alive but texts.
func (c *compiler) hoistAssigned(value ast.Expr, t types.Type) {
	if isPlain(t) {
		c.hoistLiteral(value, t)
	}
}

// isPlain reports whether values of type t consist of numbers and texts.
func isPlain(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer
	case *types.Array:
		return isPlain(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if !isPlain(f.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

// hoistLiteral allocates the memory of e, which is converted to t, if it is a literal of a struct or array.
func (c *compiler) hoistLiteral(e ast.Expr, t types.Type) {
	literal, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok || c.scratch[literal] != 0 || literal.Type == nil || types.IsInterface(t) {
		return
	}
	s := c.shapeOf(literal)
	if s.File != vm.Memory {
		return
	}
	at := c.referenceRegister()
	c.emit(vm.OpNew, at, 0, 0, c.memoryType(s.Type), 0)
	if c.scratch == nil {
		c.scratch = map[*ast.CompositeLit]uint16{}
	}
	c.scratch[literal] = at
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
	variables := make([]*variable, len(lhs))
	for i, e := range lhs {
		if o := c.declaredVariable(e); o != nil {
			variables[i] = c.reserve(o, c.shape(e, c.subst(o.Type())))
		}
	}
	m := c.mark()
	values, from := c.values(n, lhs, rhs, variables)
	for i, e := range lhs {
		switch v := variables[i]; {
		case v != nil:
			o := c.declaredVariable(e)
			c.initialize(o, v, c.converted(n, values[i], from[i], c.subst(o.Type()), nil))
		case !isBlank(e):
			p := c.locate(e)
			c.set(p, c.converted(n, values[i], from[i], c.typeOf(e), nil))
		}
	}
	c.release(m)
}

// reserve returns a variable that initialize declares, with its registers.
func (c *compiler) reserve(o *types.Var, s vm.Shape) *variable {
	v := &variable{Shape: s}
	switch escapes := c.facts.Escapes(o); {
	case s.File == vm.Memory:
		v.owned = !escapes
		if at, ok := c.hoisted[o]; ok {
			v.reg = at
		} else {
			v.reg = c.referenceRegister()
		}
	case escapes && c.facts.Changes(o):
		v.boxed, v.reg = true, c.referenceRegister()
	default:
		v.reg = c.register(s)
		if escapes && !c.copied(o, s) {
			v.box = c.referenceRegister()
		}
	}
	return v
}

// initialize declares the variable o, which reserve has returned, with the value x.
func (c *compiler) initialize(o *types.Var, v *variable, x operand) {
	_, hoisted := c.hoisted[o]
	switch {
	case v.File == vm.Memory && !hoisted:
		c.own(x, &operand{Shape: v.Shape, reg: v.reg})
	case v.File == vm.Memory && x.owned && x.offset == 0:
		c.do(vm.OpMovP, v.reg, x.reg, 0)
	case v.File == vm.Memory:
		c.emit(vm.OpCopyM, v.reg, c.address(x), 0, c.memoryType(v.Type), 0)
	case v.boxed:
		c.emit(vm.OpNew, v.reg, 0, 0, c.memoryType(v.Type), 0)
		c.store(v.reg, 0, x)
	default:
		c.move(operand{Shape: v.Shape, reg: v.reg}, x)
		c.fillBox(v)
	}
	c.variables[o] = v
}

// fillBox stores a variable that does not change in the memory that function literals capture.
func (c *code) fillBox(v *variable) {
	if v.box != 0 {
		c.emit(vm.OpNew, v.box, 0, 0, c.memoryType(v.Type), 0)
		c.store(v.box, 0, operand{Shape: v.Shape, reg: v.reg})
	}
}

// defineOne compiles x := e.
func (c *compiler) defineOne(o *types.Var, e ast.Expr) {
	t := c.subst(o.Type())
	v := c.reserve(o, c.shape(e, t))
	m := c.mark()
	c.initialize(o, v, c.exprTo(e, t, v.want()))
	c.release(m)
}

// want returns the register of a variable that is being declared as the destination of its value; nil if the value is in memory.
func (v *variable) want() *operand {
	if v == nil || v.boxed || v.File == vm.Memory {
		return nil
	}
	return &operand{Shape: v.Shape, reg: v.reg}
}

// values compiles the right side of an assignment to several variables. It returns the values, which later
// assignments do not change, and their types. declared are the variables that it declares; their values may be in their registers.
func (c *compiler) values(n ast.Node, lhs, rhs []ast.Expr, declared []*variable) (values []operand, from []types.Type) {
	if len(rhs) == len(lhs) {
		for i, e := range rhs {
			t := c.typeOf(e)
			if !isBlank(lhs[i]) {
				// nil and constants take the type of the target.
				t = c.typeOf(lhs[i])
			} else if c.isNil(e) {
				c.fail(n, "nil without a type")
			}
			if declared != nil && declared[i].want() != nil {
				values = append(values, c.exprTo(e, t, declared[i].want()))
			} else {
				values = append(values, c.value(e, t))
			}
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
