package rt

import (
	"cmp"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// typeString writes t as reflect.Type.String does for a compiled type: package
// names in front of names, "interface {}" for any, "uint8" for byte.
func typeString(t types.Type) string {
	var b strings.Builder
	writeType(&b, t)
	return b.String()
}

func writeType(b *strings.Builder, t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			b.WriteString("unsafe.Pointer")
			return
		}
		b.WriteString(types.Typ[t.Kind()].Name()) // byte is uint8, rune is int32
	case *types.Named:
		writeNamed(b, t, (*types.Package).Name)
	case *types.TypeParam:
		b.WriteString(t.Obj().Name())
	case *types.Pointer:
		b.WriteByte('*')
		writeType(b, t.Elem())
	case *types.Slice:
		b.WriteString("[]")
		writeType(b, t.Elem())
	case *types.Array:
		b.WriteString("[" + strconv.FormatInt(t.Len(), 10) + "]")
		writeType(b, t.Elem())
	case *types.Map:
		b.WriteString("map[")
		writeType(b, t.Key())
		b.WriteByte(']')
		writeType(b, t.Elem())
	case *types.Chan:
		writeChan(b, t)
	case *types.Signature:
		b.WriteString("func")
		writeSignature(b, t)
	case *types.Struct:
		writeStruct(b, t)
	case *types.Interface:
		writeInterface(b, t)
	case *types.Tuple:
		writeTuple(b, t, false)
	default:
		b.WriteString(t.String())
	}
}

// writeNamed writes a name and its type arguments. Inside brackets the linker's
// names are used, which have the whole package path.
func writeNamed(b *strings.Builder, t *types.Named, qualify func(*types.Package) string) {
	if pkg := t.Obj().Pkg(); pkg != nil {
		b.WriteString(qualify(pkg) + ".")
	}
	b.WriteString(t.Obj().Name())
	if t.TypeArgs().Len() == 0 {
		return
	}
	b.WriteByte('[')
	for i := range t.TypeArgs().Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		if named, ok := types.Unalias(t.TypeArgs().At(i)).(*types.Named); ok {
			writeNamed(b, named, (*types.Package).Path)
			continue
		}
		writeType(b, t.TypeArgs().At(i))
	}
	b.WriteByte(']')
}

func writeChan(b *strings.Builder, t *types.Chan) {
	switch t.Dir() {
	case types.SendOnly:
		b.WriteString("chan<- ")
	case types.RecvOnly:
		b.WriteString("<-chan ")
	default:
		b.WriteString("chan ")
		if elem, ok := types.Unalias(t.Elem()).(*types.Chan); ok && elem.Dir() == types.RecvOnly {
			b.WriteByte('(')
			writeChan(b, elem)
			b.WriteByte(')')
			return
		}
	}
	writeType(b, t.Elem())
}

func writeSignature(b *strings.Builder, s *types.Signature) {
	b.WriteByte('(')
	writeTuple(b, s.Params(), s.Variadic())
	b.WriteByte(')')
	switch s.Results().Len() {
	case 0:
	case 1:
		b.WriteByte(' ')
		writeType(b, s.Results().At(0).Type())
	default:
		b.WriteString(" (")
		writeTuple(b, s.Results(), false)
		b.WriteByte(')')
	}
}

func writeTuple(b *strings.Builder, t *types.Tuple, variadic bool) {
	for i := range t.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		v := t.At(i).Type()
		if slice, ok := v.(*types.Slice); ok && variadic && i == t.Len()-1 {
			b.WriteString("...")
			v = slice.Elem()
		}
		writeType(b, v)
	}
}

func writeStruct(b *strings.Builder, t *types.Struct) {
	b.WriteString("struct {")
	for i := range t.NumFields() {
		if i > 0 {
			b.WriteByte(';')
		}
		f := t.Field(i)
		b.WriteByte(' ')
		if !f.Embedded() {
			b.WriteString(f.Name() + " ")
		}
		writeType(b, f.Type())
		if t.Tag(i) != "" {
			b.WriteString(" " + strconv.Quote(t.Tag(i)))
		}
	}
	if t.NumFields() > 0 {
		b.WriteByte(' ')
	}
	b.WriteByte('}')
}

func writeInterface(b *strings.Builder, t *types.Interface) {
	b.WriteString("interface {")
	for i, m := range sortedMethods(t) {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteByte(' ')
		if !m.Exported() && m.Pkg() != nil {
			b.WriteString(m.Pkg().Name() + ".")
		}
		b.WriteString(m.Name())
		writeSignature(b, m.Type().(*types.Signature))
	}
	if t.NumMethods() > 0 {
		b.WriteByte(' ')
	}
	b.WriteByte('}')
}

// sortedMethods returns the methods of an interface in the order in which the
// runtime looks for them.
func sortedMethods(t *types.Interface) []*types.Func {
	methods := make([]*types.Func, 0, t.NumMethods())
	for m := range t.Methods() {
		methods = append(methods, m)
	}
	slices.SortFunc(methods, func(a, b *types.Func) int { return cmp.Compare(a.Name(), b.Name()) })
	return methods
}
