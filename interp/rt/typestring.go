package rt

import (
	"cmp"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// typeString formats t as reflect.Type.String does for a compiled type: with package names,
// and with "interface {}" for any and "uint8" for byte.
func typeString(t types.Type) string {
	w := typeWriter{qualify: (*types.Package).Name}
	w.write(t)
	return w.String()
}

// typeWriter formats one type. In type arguments it writes names as the linker does, with
// the whole package path.
type typeWriter struct {
	strings.Builder
	qualify   func(*types.Package) string
	arguments bool // inside type arguments
}

func (w *typeWriter) write(t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			w.WriteString("unsafe.Pointer")
			return
		}
		w.WriteString(types.Typ[t.Kind()].Name()) // byte is uint8, rune is int32
	case *types.Named:
		w.named(t)
	case *types.Pointer:
		w.WriteByte('*')
		w.write(t.Elem())
	case *types.Slice:
		w.WriteString("[]")
		w.write(t.Elem())
	case *types.Array:
		w.WriteString("[" + strconv.FormatInt(t.Len(), 10) + "]")
		w.write(t.Elem())
	case *types.Map:
		w.WriteString("map[")
		w.write(t.Key())
		w.WriteByte(']')
		w.write(t.Elem())
	case *types.Chan:
		w.channel(t)
	case *types.Signature:
		w.WriteString("func")
		w.signature(t)
	case *types.Struct:
		w.structure(t)
	case *types.Interface:
		w.iface(t)
	default: // a type parameter: no value has this type
		w.WriteString(t.String())
	}
}

func (w *typeWriter) named(t *types.Named) {
	if pkg := t.Obj().Pkg(); pkg != nil {
		w.WriteString(w.qualify(pkg) + ".")
	}
	name := t.Obj().Name()
	if t.TypeArgs().Len() == 0 {
		w.WriteString(name)
		return
	}
	if local, ok := strings.CutSuffix(name, "]"); ok { // see LocalTypeName
		w.WriteString(local + ";")
	} else {
		w.WriteString(name + "[")
	}
	w.typeArguments(slices.Collect(t.TypeArgs().Types()))
	w.WriteByte(']')
}

func (w *typeWriter) typeArguments(list []types.Type) {
	outer, nested := w.qualify, w.arguments
	w.qualify, w.arguments = (*types.Package).Path, true
	for i, t := range list {
		if i > 0 {
			w.WriteByte(',')
		}
		w.write(t)
	}
	w.qualify, w.arguments = outer, nested
}

// LocalTypeName returns the name that package reflect has for a type that a generic function declares, such as "node[int]" in an
// instance for int.
func LocalTypeName(name string, arguments []types.Type) string {
	var w typeWriter
	w.typeArguments(arguments)
	return name + "[" + w.String() + "]"
}

func (w *typeWriter) channel(t *types.Chan) {
	switch t.Dir() {
	case types.SendOnly:
		w.WriteString("chan<- ")
	case types.RecvOnly:
		w.WriteString("<-chan ")
	default:
		w.WriteString("chan ")
		if elem, ok := types.Unalias(t.Elem()).(*types.Chan); ok && elem.Dir() == types.RecvOnly {
			w.WriteByte('(')
			w.channel(elem)
			w.WriteByte(')')
			return
		}
	}
	w.write(t.Elem())
}

func (w *typeWriter) signature(s *types.Signature) {
	w.WriteByte('(')
	w.tuple(s.Params(), s.Variadic())
	w.WriteByte(')')
	switch s.Results().Len() {
	case 0:
	case 1:
		w.WriteByte(' ')
		w.write(s.Results().At(0).Type())
	default:
		w.WriteString(" (")
		w.tuple(s.Results(), false)
		w.WriteByte(')')
	}
}

func (w *typeWriter) tuple(t *types.Tuple, variadic bool) {
	for i := range t.Len() {
		if i > 0 {
			w.WriteString(", ")
		}
		v := t.At(i).Type()
		if slice, ok := v.(*types.Slice); ok && variadic && i == t.Len()-1 {
			w.WriteString("...")
			v = slice.Elem()
		}
		w.write(v)
	}
}

func (w *typeWriter) structure(t *types.Struct) {
	w.WriteString("struct {")
	for i := range t.NumFields() {
		if i > 0 {
			w.WriteByte(';')
		}
		f := t.Field(i)
		w.WriteByte(' ')
		if !f.Embedded() {
			if w.arguments && !f.Exported() {
				w.WriteString(w.qualify(f.Pkg()) + ".")
			}
			w.WriteString(f.Name() + " ")
		}
		w.write(f.Type())
		if t.Tag(i) != "" {
			w.WriteString(" " + strconv.Quote(t.Tag(i)))
		}
	}
	if t.NumFields() > 0 {
		w.WriteByte(' ')
	}
	w.WriteByte('}')
}

func (w *typeWriter) iface(t *types.Interface) {
	w.WriteString("interface {")
	for i, m := range sortedMethods(t) {
		if i > 0 {
			w.WriteByte(';')
		}
		w.WriteByte(' ')
		if !m.Exported() && m.Pkg() != nil {
			w.WriteString(w.qualify(m.Pkg()) + ".")
		}
		w.WriteString(m.Name())
		w.signature(m.Signature())
	}
	if t.NumMethods() > 0 {
		w.WriteByte(' ')
	}
	w.WriteByte('}')
}

// sortedMethods returns the methods of an interface in the order in which the runtime
// compares them.
func sortedMethods(t *types.Interface) []*types.Func {
	methods := make([]*types.Func, 0, t.NumMethods())
	for m := range t.Methods() {
		methods = append(methods, m)
	}
	slices.SortFunc(methods, func(a, b *types.Func) int { return cmp.Compare(a.Name(), b.Name()) })
	return methods
}
