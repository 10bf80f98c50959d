package lower

// Composite literals:
//
//	P{1, 2}                        ->  Pʹ1{X: 1, Y: 2}
//	[]P{{1}}                       ->  []Pʹ1{Pʹ1{X: 1}}
//	[]int{*p}                      ->  []int{0: (*p)}

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/lower/layout"
)

func (f *function) composite(e *ast.CompositeLit) string {
	if text, ok := f.table(e); ok {
		return text
	}
	t, prefix := f.typeOf(e), ""
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t, prefix = p.Elem(), "&"
	}
	var items []string
	switch u := t.Underlying().(type) {
	case *types.Struct:
		if promotes(e, u) {
			return f.promoted(e, t, prefix)
		}
		for i, item := range e.Elts {
			field := i
			if kv, ok := item.(*ast.KeyValueExpr); ok {
				item = kv.Value
				for field = 0; u.Field(field).Name() != kv.Key.(*ast.Ident).Name; field++ {
				}
			}
			if u.Field(field).Name() == "_" {
				f.blankField(item)
				continue
			}
			name := layout.FieldName(u, field)
			if isCompiled(t) {
				name = u.Field(field).Name()
			}
			items = append(items, name+": "+f.exprTo(item, u.Field(field).Type()))
		}
	case *types.Map:
		for i, item := range e.Elts {
			if i%64 == 63 {
				f.stop()
			}
			kv := item.(*ast.KeyValueExpr)
			key := f.key(kv.Key, u.Key())
			if c, ok := ast.Unparen(kv.Key).(*ast.CallExpr); ok && f.env != nil && f.Info.Types[c.Fun].IsType() {
				// For these type arguments it is a constant, which may occur twice.
				key = fmt.Sprintf("func(k %s) %[1]s { return k }(%s)", f.typ(u.Key()), key)
			}
			items = append(items, key+": "+f.exprTo(kv.Value, u.Elem()))
		}
	default:
		var elem types.Type
		switch u := u.(type) {
		case *types.Slice:
			elem = u.Elem()
		case *types.Array:
			elem = u.Elem()
		}
		items = f.elements(e.Elts, elem)
	}
	return prefix + f.typ(t) + "{" + list(items) + "}"
}

// promotes reports whether a key of a struct literal is a promoted field.
func promotes(e *ast.CompositeLit, u *types.Struct) bool {
	return slices.ContainsFunc(e.Elts, func(item ast.Expr) bool {
		kv, ok := item.(*ast.KeyValueExpr)
		return ok && !slices.ContainsFunc(slices.Collect(u.Fields()), func(v *types.Var) bool { return v.Name() == kv.Key.(*ast.Ident).Name })
	})
}

// promoted lowers a struct literal whose keys are promoted fields, which yaegi does not support. The
// values are evaluated in source order.
//
//	T{N: f(), Burrow: g()}  ->  (*func(a0 int, a1 string) *Tʹ1 { r := new(Tʹ1); r.N = a0; r.Habitat.Burrow = a1; return r }(f(), g()))
func (f *function) promoted(e *ast.CompositeLit, t types.Type, prefix string) string {
	var parameters, sets, values []string
	for i, item := range e.Elts {
		kv := item.(*ast.KeyValueExpr)
		name := kv.Key.(*ast.Ident).Name
		o, path, _ := types.LookupFieldOrMethod(t, false, f.Info.ObjectOf(kv.Key.(*ast.Ident)).Pkg(), name)
		v := o.(*types.Var)
		parameters = append(parameters, fmt.Sprintf("a%d %s", i, f.typ(v.Type())))
		sets = append(sets, fmt.Sprintf("%s = a%d; ", f.field("r", t, path), i))
		values = append(values, f.exprTo(kv.Value, v.Type()))
	}
	typ := f.typ(t)
	x := fmt.Sprintf("func(%s) *%s { r := new(%[2]s); %[3]sreturn r }(%[4]s)", list(parameters), typ, strings.Join(sets, ""), list(values))
	if prefix == "&" {
		return x
	}
	return "(*" + x + ")"
}

// elements lowers the elements of a slice or array literal. yaegi parses a dereferenced pointer among
// them as a pointer type unless it has a key.
func (f *function) elements(list []ast.Expr, t types.Type) []string {
	var items []string
	index := int64(0)
	for i, element := range list {
		if i%64 == 63 {
			f.stop()
		}
		key := ""
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			index, _ = constant.Int64Val(constant.ToInt(f.Info.Types[kv.Key].Value))
			key, element = f.expr(kv.Key)+": ", kv.Value
		}
		x := f.exprTo(element, t)
		if key == "" {
			x = item(index, x)
		}
		items = append(items, key+x)
		index++
	}
	return items
}

// item returns the lowered element x of a literal without keys. yaegi takes elements without a key for types, and fails for
// some expressions in parentheses.
func item(index int64, x string) string {
	if strings.HasPrefix(x, "(") || strings.Contains(x, "(*") || isShortened(x) {
		return strconv.FormatInt(index, 10) + ": " + x
	}
	return x
}

// sliceLiteral returns a slice literal of lowered elements.
func sliceLiteral(typ string, elements []string) string {
	items := make([]string, len(elements))
	for i, x := range elements {
		items[i] = item(int64(i), x)
	}
	return typ + "{" + list(items) + "}"
}

// blankField checks the value of a blank field, which stays zero.
func (f *functionTypes) blankField(value ast.Expr) {
	if f.mayPanic(value) {
		f.unsupported(value, "a call as the value of a blank field", "call it before")
	}
}
