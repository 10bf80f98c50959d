package compile

import (
	"go/ast"
	"go/constant"
	"go/types"
	"reflect"
	"strings"
	"unsafe"

	"github.com/quernlab/quern/interp/vm"
)

// composite compiles T{...}. A struct or an array is in new memory.
func (c *compiler) composite(e *ast.CompositeLit, want *operand) operand {
	t := c.typeOf(e)
	if p, ok := t.Underlying().(*types.Pointer); ok { // &T{} with the type elided
		return c.newVariable(c.shape(e, t), c.compositeOf(e, p.Elem(), nil), want)
	}
	return c.compositeOf(e, t, want)
}

// newVariable returns a pointer of shape s to a new variable with the value x.
func (c *code) newVariable(s vm.Shape, x operand, want *operand) operand {
	var at uint16
	if x.File == vm.Memory {
		at = c.own(x, nil).reg
	} else {
		at = c.boxValue(x)
	}
	return c.moveInto(operand{Shape: s, reg: at}, want)
}

// compositeOf compiles a composite literal of type t, whose recorded type may be a pointer to t.
func (c *compiler) compositeOf(e *ast.CompositeLit, t types.Type, want *operand) operand {
	s := c.shape(e, t)
	if c.source.Table != nil && c.substitute == nil {
		if table, ok := c.source.Table(e); ok {
			return c.table(s, table, want)
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct, *types.Array:
		if at := c.scratch[e]; at != 0 {
			if !setsAll(e, t) {
				c.emit(vm.OpZeroM, at, 0, 0, c.memoryType(s.Type), 0)
			}
			c.fillComposite(e, t, at, 0)
			return operand{Shape: s, reg: at}
		}
		dst := c.temporary(s)
		dst.owned = true
		c.emit(vm.OpNew, dst.reg, 0, 0, c.memoryType(s.Type), 0)
		c.fillComposite(e, t, dst.reg, 0)
		return dst
	case *types.Slice:
		dst := c.temporary(s)
		typ, at := s.Type, dst.reg
		c.makeElements(typ, at, c.elementCount(e))
		c.elements(e, u.Elem(), typ.Elem(), at, 0)
		return c.moveInto(dst, want)
	case *types.Map:
		dst := c.temporary(s)
		c.makeMap(dst.reg, s.Type, vm.NoRegister)
		access := c.mapAccess(e, u)
		for _, x := range e.Elts {
			m := c.mark()
			kv := x.(*ast.KeyValueExpr)
			key := c.exprTo(kv.Key, u.Key(), nil)
			value := c.exprTo(kv.Value, u.Elem(), nil)
			c.mapSet(location{kind: inMapEntry, Shape: c.shape(e, u.Elem()), reg: dst.reg, key: key, access: access}, value)
			c.release(m)
		}
		return c.moveInto(dst, want)
	}
	c.fail(e, "a composite literal of %s", t)
	return operand{}
}

// setsAll reports whether a literal of type t sets all fields.
func setsAll(e *ast.CompositeLit, t types.Type) bool {
	u, ok := t.Underlying().(*types.Struct)
	if !ok || len(e.Elts) != u.NumFields() {
		return false
	}
	names := map[string]bool{"_": false}
	for f := range u.Fields() {
		names[f.Name()] = f.Name() != "_"
	}
	for i, x := range e.Elts {
		name := u.Field(i).Name()
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			name, x = kv.Key.(*ast.Ident).Name, kv.Value
		}
		if _, inPlace := ast.Unparen(x).(*ast.CompositeLit); inPlace || !names[name] {
			return false
		}
	}
	return true
}

// table compiles a literal of constants whose value is made when it is compiled, and copied when it is evaluated.
func (c *compiler) table(s vm.Shape, table func() reflect.Value, want *operand) operand {
	dst := c.temporary(s)
	dst.owned = s.File == vm.Memory
	at := dst.reg
	c.native("table "+s.Type.String(), &vm.Native{Run: func(_ *vm.Thread, nb, sb unsafe.Pointer) {
		p := table()
		s.Fill(nb, sb, at, p.UnsafePointer())
	}})
	return c.moveInto(dst, want)
}

// fillComposite sets the fields or elements of a new value in memory.
func (c *compiler) fillComposite(e *ast.CompositeLit, t types.Type, at uint16, offset int32) {
	s := c.shape(e, t)
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i, x := range e.Elts {
			path := []int{i}
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
				path = c.fieldPath(e, t, kv.Key.(*ast.Ident))
			}
			at, offset, field := c.fieldIn(e, t, path, at, offset)
			if field.Name() == "_" { // stays zero
				m := c.mark()
				c.exprTo(x, c.subst(field.Type()), nil)
				c.release(m)
				continue
			}
			c.component(x, c.subst(field.Type()), at, offset)
		}
	case *types.Array:
		c.elements(e, u.Elem(), s.Type.Elem(), at, offset)
	}
}

// fieldPath returns the path to the field of t that is the key of a composite literal. Since Go 1.27 it may be promoted.
func (c *compiler) fieldPath(n ast.Node, t types.Type, key *ast.Ident) []int {
	o := c.source.Info.ObjectOf(key)
	u := t.Underlying().(*types.Struct)
	for i := range u.NumFields() {
		if u.Field(i) == o || o != nil && u.Field(i).Name() == o.Name() {
			return []int{i}
		}
	}
	if o != nil {
		if _, path, _ := types.LookupFieldOrMethod(t, true, o.Pkg(), o.Name()); path != nil {
			return path
		}
	}
	c.fail(n, "an unknown field in a composite literal")
	return nil
}

// fieldIn returns where the field at the end of a path is in a value of type t that is offset bytes after the address in register at.
func (c *compiler) fieldIn(n ast.Node, t types.Type, path []int, at uint16, offset int32) (uint16, int32, *types.Var) {
	var field *types.Var
	for _, i := range path {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			pointer := c.load(pointerShape, at, offset, nil)
			at, offset, t = c.checkedAddress(location{kind: inMemory, Shape: c.shape(n, p.Elem()), reg: pointer.reg}), 0, p.Elem()
		}
		field = t.Underlying().(*types.Struct).Field(i)
		offset += int32(c.shape(n, t).Type.Field(i).Offset)
		t = c.subst(field.Type())
	}
	return at, offset, field
}

// elements sets elements of new memory that is offset bytes after the address in register at.
func (c *compiler) elements(e *ast.CompositeLit, t types.Type, typ reflect.Type, at uint16, offset int32) {
	index := int64(0)
	for i, x := range e.Elts {
		if i%stopEvery == stopEvery-1 && c.source.Stop != nil {
			c.source.Stop()
		}
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			index = c.index(kv.Key)
			x = kv.Value
		}
		where := int64(offset) + index*int64(typ.Size())
		if where > 1<<30 {
			c.fail(e, "a literal of more than 1 GB")
		}
		c.component(x, t, at, int32(where))
		index++
	}
}

func (c *compiler) index(key ast.Expr) int64 {
	k, exact := constant.Int64Val(constant.ToInt(c.source.Info.Types[key].Value))
	if !exact {
		c.fail(key, "an index that does not fit in an int64")
	}
	return k
}

// stopEvery is the number of elements between two checks whether the compilation should stop.
const stopEvery = 64

// component sets one field or element of new memory.
func (c *compiler) component(x ast.Expr, t types.Type, at uint16, offset int32) {
	m := c.mark()
	defer c.release(m)
	if lit, ok := ast.Unparen(x).(*ast.CompositeLit); ok {
		switch t.Underlying().(type) {
		case *types.Struct, *types.Array:
			c.fillComposite(lit, t, at, offset)
			return
		}
	}
	c.store(at, offset, c.exprTo(x, t, nil))
}

// elementCount returns the length of a slice literal.
func (c *compiler) elementCount(e *ast.CompositeLit) int {
	index, most := int64(0), int64(0)
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			index = c.index(kv.Key)
		}
		index++
		most = max(most, index)
	}
	return int(most)
}

// functionLiteral compiles a function literal to a function value.
func (c *compiler) functionLiteral(e *ast.FuncLit, want *operand) operand {
	s := c.shapeOf(e)
	fn, from := c.function(e, c.literalSignature(e), nil)
	dst := c.destination(s, want)
	c.makeClosure(fn, from, dst)
	return dst
}

// literalSignature returns the signature of a function literal with the parameter variables that its body
// refers to. (In an instance of a generic function, typeOf returns a signature with other variables.)
func (c *compiler) literalSignature(e *ast.FuncLit) *types.Signature {
	sig, ok := c.source.Info.Types[e].Type.(*types.Signature)
	if !ok {
		c.fail(e, "a function literal without a type")
	}
	return sig
}

// function compiles the code of a function literal with the signature sig. It returns the registers that
// hold what it captures: the addresses of variables, or pointers that do not change; the captures that begin adds come first.
func (c *compiler) function(e *ast.FuncLit, sig *types.Signature, begin func(inner *compiler)) (fn *vm.Function, from []uint16) {
	fn = c.unit.newFunction(strings.TrimSuffix(c.fn.Name, ".func") + ".func")
	fn.Literal = c.source.Position(e)
	inner := &compiler{
		code: c.of(fn), source: c.source, substitute: c.substitute,
		variables: map[types.Object]*variable{}, facts: c.facts, hoisted: map[types.Object]uint16{}, labels: map[string]*label{}, loops: 1,
	}
	inner.body(e, sig, nil, e.Body, func() (loaded []*variable) {
		if begin != nil {
			begin(inner)
		}
		for _, o := range c.capturedVariables(e) {
			at, x := inner.capture(e, o, c.variables[o])
			from = append(from, at)
			if x != nil {
				loaded = append(loaded, x)
			}
		}
		return loaded
	})
	return fn, from
}

// capturedVariables returns the variables of c that the nodes, a function literal or the body of a range
// over a function, use.
func (c *compiler) capturedVariables(nodes ...ast.Node) (list []types.Object) {
	seen := map[types.Object]bool{}
	visit := func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := c.source.Info.Uses[id]; o != nil && c.variables[o] != nil && !seen[o] {
				seen[o] = true
				list = append(list, o)
			}
		}
		return true
	}
	for _, n := range nodes {
		ast.Inspect(n, visit)
	}
	return list
}
