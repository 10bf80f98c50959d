package compile

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// declare compiles a declaration; rest are the statements behind it.
func (c *compiler) declare(d *ast.GenDecl, rest []ast.Stmt) {
	if d.Tok != token.VAR {
		return // of constants or types
	}
	for _, spec := range d.Specs {
		s := spec.(*ast.ValueSpec)
		var values []value
		if len(s.Values) > 0 {
			var vars []*types.Var
			for _, id := range s.Names {
				v, ok := c.info.Defs[id].(*types.Var)
				if !ok || s.Type == nil && id.Name == "_" {
					v = types.NewVar(id.Pos(), nil, "_", c.info.TypeOf(s.Values[0]))
				}
				vars = append(vars, v)
			}
			values = c.valuesOf(s.Values, types.NewTuple(vars...))
		}
		for i, id := range s.Names {
			v, ok := c.info.Defs[id].(*types.Var)
			switch {
			case id.Name == "_" || !ok:
			case values != nil:
				c.frame.variables[v] = c.variable(id, v.Type(), values[i])
			case c.isShared(v, rest):
				c.frame.variables[v] = c.sharedArray(id, v)
			default:
				c.frame.variables[v] = c.zero(id, v.Type(), v.Name())
			}
		}
	}
}

// sharedCall returns the variable x of a statement kernel.Shared(&x), or nil.
func (c *compiler) sharedCall(s ast.Stmt) *types.Var {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	call, ok := ast.Unparen(e.X).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	f, ok := c.callee(call).(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != KernelPath || f.Name() != "Shared" {
		return nil
	}
	if address, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr); ok && address.Op == token.AND {
		if id, ok := ast.Unparen(address.X).(*ast.Ident); ok {
			if v, ok := c.info.Uses[id].(*types.Var); ok {
				return v
			}
		}
	}
	c.fail(call, "kernel.Shared takes the address of an array: kernel.Shared(&x)")
	return nil
}

// isShared reports whether one of the next statements is kernel.Shared(&v), behind other declarations.
func (c *compiler) isShared(v *types.Var, rest []ast.Stmt) bool {
	for _, s := range rest {
		switch shared := c.sharedCall(s); {
		case shared == v:
			return true
		case shared == nil && !isVar(s):
			return false
		}
	}
	return false
}

// isVar reports whether a statement declares variables without values.
func isVar(s ast.Stmt) bool {
	d, ok := s.(*ast.DeclStmt)
	if !ok || d.Decl.(*ast.GenDecl).Tok != token.VAR {
		return false
	}
	for _, spec := range d.Decl.(*ast.GenDecl).Specs {
		if len(spec.(*ast.ValueSpec).Values) > 0 {
			return false
		}
	}
	return true
}

// declaredBefore reports whether the statements directly before a call of Shared declare its variable.
func declaredBefore(c *compiler, before []ast.Stmt, v *types.Var) bool {
	for i := len(before) - 1; i >= 0; i-- {
		switch s := before[i]; {
		case isVar(s):
			for _, spec := range s.(*ast.DeclStmt).Decl.(*ast.GenDecl).Specs {
				for _, id := range spec.(*ast.ValueSpec).Names {
					if c.info.Defs[id] == v {
						return true
					}
				}
			}
		case c.sharedCall(s) == nil:
			return false
		}
	}
	return false
}

func (c *compiler) sharedArray(id *ast.Ident, v *types.Var) value {
	a, ok := c.subst(v.Type()).Underlying().(*types.Array)
	if !ok {
		c.fail(id, "only an array can be shared, %s is a %s", id.Name, types.TypeString(v.Type(), (*types.Package).Name))
	}
	return c.newArray(id, id.Name, program.Shared, a)
}

// maxArray is the maximum number of scalars of an array, far above what a block or thread can have.
const maxArray = 1 << 24

// newArray returns a new array: an array, or a structArray.
func (c *compiler) newArray(at ast.Node, name string, space program.Space, a *types.Array) value {
	if fields, names := c.fieldArrays(a); names != nil {
		s := &structArray{name: name, of: a}
		for i, f := range fields {
			s.fields = append(s.fields, c.newArray(at, name+"."+names[i], space, f))
		}
		return s
	}
	elem, n, ok := c.element(a)
	if !ok {
		c.fail(at, "an array of %s is not supported: a kernel can have arrays of numbers and bools, and of structs and arrays of them",
			types.TypeString(c.subst(a.Elem()), (*types.Package).Name))
	}
	if n > maxArray {
		c.fail(at, "an array of %d elements is too large for a kernel", n)
	}
	return array{c.newMemory(name, space, elem, n), program.Int(0), a}
}

// clear sets the elements of an array to zero.
func (c *compiler) clear(x value) {
	switch x := x.(type) {
	case array:
		elem, n, _ := c.element(x.of)
		c.count(program.Int(n), func(i program.Operand) { c.store(x.memory, i, program.Operand{Type: elem}) })
	case *structArray:
		for _, f := range x.fields {
			c.clear(f)
		}
	}
}

// zero returns a new variable with the zero value of a type.
func (c *compiler) zero(at ast.Node, t types.Type, name string) value {
	t = c.subst(t)
	if s, ok := c.scalarType(t); ok {
		x := c.newVar(s)
		c.move(x, program.Operand{Type: s})
		return x
	}
	if isThread(t) {
		c.fail(at, "a variable of type kernel.Thread is not supported: use the parameter of the kernel")
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		a := c.newArray(at, name, program.Local, u)
		c.clear(a)
		return a
	case *types.Struct:
		s := &structure{}
		for f := range u.Fields() {
			s.fields = append(s.fields, c.zero(at, f.Type(), name+"."+f.Name()))
		}
		return s
	case *types.Slice:
		return c.copySlice(slice{&backing{}, program.Int(0), program.Int(0), program.Int(0)})
	}
	c.fail(at, "a variable of type %s is not supported in a kernel%s", types.TypeString(t, (*types.Package).Name), reason(t))
	return nil
}

// reason says why a type is not supported.
func reason(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Map:
		return ": there are no maps on a GPU; use a slice or an array"
	case *types.Chan:
		return ": there are no channels on a GPU"
	case *types.Signature:
		return ": a kernel can call declared functions only"
	case *types.Interface:
		return ": a kernel cannot use interfaces"
	case *types.Pointer:
		return ": use a slice, or pass and return a value"
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return ": there are no strings on a GPU"
		}
		if u.Info()&types.IsComplex != 0 {
			return ": use two numbers"
		}
	}
	return ""
}

// variable returns a new variable with a value that nothing else refers to.
func (c *compiler) variable(at ast.Node, t types.Type, x value) value {
	switch v := x.(type) {
	case program.Operand:
		c.scalar(at, t) // an interface is none
		y := c.newVar(v.Type)
		c.move(y, v)
		return y
	case slice:
		return c.copySlice(v)
	case *structure:
		u := c.subst(t).Underlying().(*types.Struct)
		s := &structure{}
		for i, f := range v.fields {
			s.fields = append(s.fields, c.variable(at, u.Field(i).Type(), f)) // it may be a constant
		}
		return s
	case array, *structArray, thread:
		return v // valuesOf has copied it
	}
	c.fail(at, "a variable of type %s is not supported in a kernel%s", types.TypeString(t, (*types.Package).Name), reason(c.subst(t)))
	return nil
}

// copySlice returns a new slice variable, which refers to the same array.
func (c *compiler) copySlice(s slice) slice {
	one := func(x program.Operand) program.Operand {
		y := c.newVar(program.Int64)
		c.move(y, x)
		return y
	}
	of := *s.of
	return slice{&of, one(s.offset), one(s.length), one(s.capacity)}
}

// copyOf returns a copy of a value, which later assignments do not change.
func (c *compiler) copyOf(x value) value {
	switch x := x.(type) {
	case program.Operand:
		return c.temporary(x)
	case slice:
		return c.copySlice(x)
	case elementPlace:
		return c.load(x.memory, x.at)
	case array:
		elem, n, _ := c.element(x.of)
		to := array{c.newMemory(x.memory.Name, program.Local, elem, n), program.Int(0), x.of}
		c.copyArray(to, x)
		return to
	case *structArray:
		to := &structArray{name: x.name, of: x.of}
		for _, f := range x.fields {
			to.fields = append(to.fields, c.copyOf(f))
		}
		return to
	case *structure:
		s := &structure{}
		for _, f := range x.fields {
			s.fields = append(s.fields, c.copyOf(f))
		}
		return s
	}
	return x
}

func (c *compiler) copyArray(to, from array) {
	_, n, _ := c.element(to.of)
	c.count(program.Int(n), func(i program.Operand) {
		x := c.load(from.memory, c.binary(program.Add, from.offset, i))
		c.store(to.memory, c.binary(program.Add, to.offset, i), x)
	})
}

// A place is what can be assigned to: a value, which consists of variables, or an element of a memory; nil for the blank identifier.
type place any

// elementPlace is a scalar element of a memory.
type elementPlace struct {
	memory *program.Memory
	at     program.Operand
}

// place returns the place of an expression. Its indices are evaluated.
func (c *compiler) place(e ast.Expr) place {
	defer c.here(e)()
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if e.Name == "_" {
			return nil
		}
		return c.value(e)
	case *ast.IndexExpr:
		return c.index(e)
	case *ast.SelectorExpr:
		return c.selector(e)
	case *ast.StarExpr:
		c.fail(e, "a kernel cannot use pointers: use a slice, or pass and return a value")
	}
	c.fail(e, "this assignment is not supported in a kernel")
	return nil
}

// assign assigns a value to a place.
func (c *compiler) assign(at ast.Node, to place, x value) {
	switch to := to.(type) {
	case nil:
	case program.Operand:
		if to.IsConst() {
			c.fail(at, "this assignment is not supported in a kernel")
		}
		c.move(to, x.(program.Operand))
	case elementPlace:
		c.store(to.memory, to.at, x.(program.Operand))
	case array:
		c.copyArray(to, x.(array))
	case *structArray:
		for i, f := range to.fields {
			c.assign(at, f, x.(*structArray).fields[i])
		}
	case *structure:
		for i, f := range to.fields {
			c.assign(at, f, x.(*structure).fields[i])
		}
	case slice:
		from := x.(slice)
		if to.of.empty() {
			*to.of = *from.of
		}
		if *from.of != *to.of {
			c.fail(at, "this assignment would let a slice variable refer to another array than before, which is not supported in a kernel: declare a new variable")
		}
		c.move(to.offset, from.offset)
		c.move(to.length, from.length)
		c.move(to.capacity, from.capacity)
	default:
		c.fail(at, "this assignment is not supported in a kernel")
	}
}

// assignAll assigns values, of which nothing refers to the places.
func (c *compiler) assignAll(at ast.Node, to []value, values []value) {
	for i, p := range to {
		c.assign(at, p, values[i])
	}
}

var assignOps = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO, token.REM_ASSIGN: token.REM,
	token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR, token.XOR_ASSIGN: token.XOR, token.AND_NOT_ASSIGN: token.AND_NOT,
	token.SHL_ASSIGN: token.SHL, token.SHR_ASSIGN: token.SHR,
}

func (c *compiler) assignment(s *ast.AssignStmt) {
	if op, ok := assignOps[s.Tok]; ok {
		c.update(s.Lhs[0], func(x program.Operand) program.Operand {
			restore := c.here(s.Rhs[0])
			y := c.rightOperand(s.Rhs[0], op, x.Type)
			restore()
			return c.arithmetic(s, op, x, y)
		})
		return
	}
	if s.Tok == token.DEFINE {
		c.define(s)
		return
	}
	// As in Go: first the indices on the left and the operands on the right, then the assignments from left to right.
	places := make([]place, len(s.Lhs))
	vars := make([]*types.Var, len(s.Lhs))
	for i, e := range s.Lhs {
		places[i] = c.place(e)
		t := c.info.TypeOf(e)
		if t == nil && len(s.Lhs) == len(s.Rhs) { // the blank identifier
			t = types.Default(c.info.TypeOf(s.Rhs[i]))
		}
		vars[i] = types.NewVar(e.Pos(), nil, "", t)
	}
	values := c.valuesOf(s.Rhs, types.NewTuple(vars...))
	for i, p := range places {
		c.assign(s.Lhs[i], p, values[i])
	}
}

func (c *compiler) define(s *ast.AssignStmt) {
	vars := make([]*types.Var, len(s.Lhs))
	for i, e := range s.Lhs {
		id := e.(*ast.Ident)
		v, _ := c.info.Defs[id].(*types.Var)
		if v == nil {
			v, _ = c.info.Uses[id].(*types.Var)
		}
		if v == nil && len(s.Lhs) == len(s.Rhs) {
			v = types.NewVar(id.Pos(), nil, "_", types.Default(c.info.TypeOf(s.Rhs[i])))
		}
		vars[i] = v
	}
	values := c.valuesOf(s.Rhs, types.NewTuple(vars...))
	for i, e := range s.Lhs {
		id := e.(*ast.Ident)
		switch v := c.info.Defs[id]; {
		case id.Name == "_":
		case v != nil:
			c.frame.variables[v] = c.variable(id, v.Type(), values[i])
		default:
			c.assign(id, c.place(id), values[i])
		}
	}
}

// update changes a scalar in a place.
func (c *compiler) update(e ast.Expr, f func(program.Operand) program.Operand) {
	switch p := c.place(e).(type) {
	case elementPlace:
		defer c.here(e)()
		x := c.load(p.memory, p.at)
		c.store(p.memory, p.at, f(x))
	case program.Operand:
		c.move(p, f(p))
	default:
		c.fail(e, "this assignment is not supported in a kernel")
	}
}
