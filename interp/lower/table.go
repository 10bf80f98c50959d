package lower

// Large literals of constants are made when the cell is lowered, and copied when they are evaluated: instructions for each element
// would take time and memory.

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"
)

// tableSize is the smallest number of constants of such a literal.
const tableSize = 32

// constantTable returns a function that makes the value of a literal and returns its address, if the literal is large and only contains
// constants.
func (e *emitter) constantTable(lit *ast.CompositeLit) (func() reflect.Value, bool) {
	b := &tableBuilder{e: e, types: map[types.Type]reflect.Type{}}
	if constants, ok := b.count(lit); !ok || constants < tableSize {
		return nil, false
	}
	t := e.Info.Types[lit].Type
	made, ok := b.reflectType(t)
	if !ok || made.Kind() == reflect.Pointer {
		return nil, false
	}
	content := reflect.New(made)
	return func() reflect.Value { return copied(content) }, b.fill(content.Elem(), lit, t)
}

// constantOf returns the value of a constant expression, or nil for any other expression.
// go/types records nothing about the elements of check.Cell.Tables.
func (e *emitter) constantOf(x ast.Expr) constant.Value {
	if tv, ok := e.Info.Types[x]; ok || len(e.cell.Tables) == 0 {
		return tv.Value
	}
	if minus, ok := x.(*ast.UnaryExpr); ok && minus.Op == token.SUB {
		if c := e.constantOf(minus.X); c != nil {
			return constant.UnaryOp(token.SUB, c, 0)
		}
	}
	if literal, ok := x.(*ast.BasicLit); ok {
		return constant.MakeFromLiteral(literal.Value, literal.Kind, 0)
	}
	return nil
}

// isTable reports whether an expression is one of check.Cell.Tables, or the address of one.
func (e *emitter) isTable(x ast.Expr) bool {
	x = ast.Unparen(x)
	if address, ok := x.(*ast.UnaryExpr); ok && address.Op == token.AND {
		x = ast.Unparen(address.X)
	}
	literal, ok := x.(*ast.CompositeLit)
	return ok && e.cell.Tables[literal]
}

// tableBuilder builds the value of a literal.
type tableBuilder struct {
	e     *emitter
	types map[types.Type]reflect.Type // nil for types that cannot be created
}

// count counts the constants in a literal. ok is false if it contains anything else.
func (b *tableBuilder) count(e *ast.CompositeLit) (n int, ok bool) {
	for i, x := range e.Elts {
		if i%64 == 63 {
			b.e.stop()
		}
		if pair, ok := x.(*ast.KeyValueExpr); ok {
			x = pair.Value
		}
		x = ast.Unparen(x)
		if b.e.constantOf(x) != nil {
			n++
			continue
		}
		inner, ok := x.(*ast.CompositeLit)
		if !ok {
			return 0, false
		}
		m, ok := b.count(inner)
		if !ok {
			return 0, false
		}
		n += m
	}
	return n, true
}

func (b *tableBuilder) reflectType(t types.Type) (reflect.Type, bool) {
	made, known := b.types[t]
	if !known {
		made, _ = b.e.layout.Reflect(t)
		b.types[t] = made
	}
	return made, made != nil
}

// fill sets v to the value of a literal, and reports whether that is possible.
func (b *tableBuilder) fill(v reflect.Value, e *ast.CompositeLit, t types.Type) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok { // an element without its &T
		v.Set(reflect.New(v.Type().Elem()))
		return b.fill(v.Elem(), e, p.Elem())
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return v.Kind() == reflect.Struct && b.fillStruct(v, e, u)
	case *types.Map:
		return v.Kind() == reflect.Map && b.fillMap(v, e, u)
	case *types.Slice:
		if v.Kind() != reflect.Slice {
			return false
		}
		length := b.length(e)
		v.Set(reflect.MakeSlice(v.Type(), length, length))
		return b.fillElements(v, e, u.Elem())
	case *types.Array:
		return v.Kind() == reflect.Array && b.fillElements(v, e, u.Elem())
	}
	return false
}

func (b *tableBuilder) fillStruct(v reflect.Value, e *ast.CompositeLit, u *types.Struct) bool {
	if promotes(e, u) || v.NumField() != u.NumFields() {
		return false
	}
	for i, x := range e.Elts {
		if pair, ok := x.(*ast.KeyValueExpr); ok {
			for i = 0; u.Field(i).Name() != pair.Key.(*ast.Ident).Name; i++ {
			}
			x = pair.Value
		}
		if u.Field(i).Name() == "_" {
			continue
		}
		if !b.set(v.Field(i), x, u.Field(i).Type()) {
			return false
		}
	}
	return true
}

func (b *tableBuilder) fillMap(v reflect.Value, e *ast.CompositeLit, u *types.Map) bool {
	v.Set(reflect.MakeMapWithSize(v.Type(), len(e.Elts)))
	for i, x := range e.Elts {
		if i%64 == 63 {
			b.e.stop()
		}
		pair := x.(*ast.KeyValueExpr)
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if !b.set(key, pair.Key, u.Key()) || !b.set(value, pair.Value, u.Elem()) {
			return false
		}
		v.SetMapIndex(key, value)
	}
	return true
}

// length returns the length of a slice literal.
func (b *tableBuilder) length(e *ast.CompositeLit) (length int) {
	next := 0
	for _, x := range e.Elts {
		next = b.index(x, next) + 1
		length = max(length, next)
	}
	return length
}

// index returns the index of an element of a slice or array literal.
func (b *tableBuilder) index(x ast.Expr, next int) int {
	if pair, ok := x.(*ast.KeyValueExpr); ok {
		n, _ := constant.Int64Val(constant.ToInt(b.e.constantOf(pair.Key)))
		return int(n)
	}
	return next
}

func (b *tableBuilder) fillElements(v reflect.Value, e *ast.CompositeLit, elem types.Type) bool {
	next := 0
	for i, x := range e.Elts {
		if i%64 == 63 {
			b.e.stop()
		}
		at := b.index(x, next)
		next = at + 1
		if pair, ok := x.(*ast.KeyValueExpr); ok {
			x = pair.Value
		}
		if !b.set(v.Index(at), x, elem) {
			return false
		}
	}
	return true
}

// set sets v, of type t, to a constant or to a literal, and reports whether that is possible.
func (b *tableBuilder) set(v reflect.Value, x ast.Expr, t types.Type) bool {
	x = ast.Unparen(x)
	if !v.CanSet() {
		return false
	}
	if c := b.e.constantOf(x); c != nil {
		return setConstant(v, c)
	}
	inner, ok := x.(*ast.CompositeLit)
	if !ok {
		return false
	}
	if have := b.e.Info.Types[inner].Type; !types.Identical(have, t) {
		return false // it is converted to an interface
	}
	return b.fill(v, inner, t)
}

// setConstant sets v, of a basic type, to a constant. The type checker has verified that it fits.
func setConstant(v reflect.Value, c constant.Value) bool {
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(constant.BoolVal(c))
	case v.Kind() == reflect.String:
		v.SetString(constant.StringVal(c))
	case v.CanInt():
		n, exact := constant.Int64Val(constant.ToInt(c))
		v.SetInt(n)
		return exact
	case v.CanUint():
		n, exact := constant.Uint64Val(constant.ToInt(c))
		v.SetUint(n)
		return exact
	case v.Kind() == reflect.Float32:
		n, _ := constant.Float32Val(constant.ToFloat(c))
		v.SetFloat(float64(n))
	case v.Kind() == reflect.Float64:
		n, _ := constant.Float64Val(constant.ToFloat(c))
		v.SetFloat(n)
	default: // complex numbers, and interfaces, which need a dynamic type
		return false
	}
	return true
}

// copied returns a pointer to a deep copy of the value that p points to.
func copied(p reflect.Value) reflect.Value {
	to := reflect.New(p.Type().Elem())
	copyTo(to.Elem(), p.Elem())
	return to
}

func copyTo(to, from reflect.Value) {
	if isFlat(from.Type()) {
		to.Set(from)
		return
	}
	switch from.Kind() {
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(copied(from).Convert(to.Type()))
		}
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		if isFlat(from.Type().Elem()) {
			reflect.Copy(to, from)
			return
		}
		copyElements(to, from)
	case reflect.Array:
		copyElements(to, from)
	case reflect.Struct:
		for i := range from.NumField() {
			if to.Field(i).CanSet() {
				copyTo(to.Field(i), from.Field(i))
			}
		}
	case reflect.Map:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeMapWithSize(to.Type(), from.Len()))
		for entries := from.MapRange(); entries.Next(); {
			value := reflect.New(to.Type().Elem()).Elem()
			copyTo(value, entries.Value())
			to.SetMapIndex(entries.Key(), value)
		}
	}
}

func copyElements(to, from reflect.Value) {
	for i := range from.Len() {
		copyTo(to.Index(i), from.Index(i))
	}
}

// isFlat reports whether an assignment of a value of type t is a deep copy.
func isFlat(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return isFlat(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !isFlat(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return false
	}
	return true
}

// promotes reports whether a key of a struct literal is a promoted field.
func promotes(e *ast.CompositeLit, u *types.Struct) bool {
	return slices.ContainsFunc(e.Elts, func(item ast.Expr) bool {
		kv, ok := item.(*ast.KeyValueExpr)
		return ok && !slices.ContainsFunc(slices.Collect(u.Fields()), func(v *types.Var) bool { return v.Name() == kv.Key.(*ast.Ident).Name })
	})
}
