package source

import (
	"go/ast"
	"go/types"
	"path"
	"strconv"
	"strings"
)

// A reflectedFunction replaces a function of package reflect that packages link to, as reflect2 does, by the exported functions. Its
// parameters and results have the types of the declaration: those of type descriptors, headers of slices and iterators are the package's own.
type reflectedFunction struct {
	parameters string // their names
	body       string
}

// typeOf declares t, the type whose descriptor typ points to. The first word of an interface value is the descriptor of its type.
const typeOf = `
	var x any
	*(*unsafe.Pointer)(unsafe.Pointer(&x)) = unsafe.Pointer(typ)
	t := reflect.TypeOf(x)
	`

// mapOf declares v, the map m of the type typ.
const mapOf = typeOf + `v := reflect.NewAt(t, unsafe.Pointer(&m)).Elem()
	`

// nextEntry stores pointers to copies of the next key and value of the iterator i in the first two words of it, and nil after the last entry.
const nextEntry = `words[0], words[1] = nil, nil
	if i.Next() {
		key, value := reflect.New(i.Key().Type()), reflect.New(i.Value().Type())
		key.Elem().SetIterKey(i)
		value.Elem().SetIterValue(i)
		words[0], words[1] = key.UnsafePointer(), value.UnsafePointer()
	}
`

// reflected are these functions by their names in package reflect.
var reflected = map[string]reflectedFunction{
	"unsafe_New":      {"typ", typeOf + "return reflect.New(t).UnsafePointer()\n"},
	"unsafe_NewArray": {"typ, n", typeOf + "return reflect.MakeSlice(reflect.SliceOf(t), n, n).UnsafePointer()\n"},
	"typedmemmove":    {"typ, dst, src", typeOf + "reflect.NewAt(t, dst).Elem().Set(reflect.NewAt(t, src).Elem())\n"},
	"typedslicecopy": {"typ, dst, src", typeOf + `s := reflect.SliceOf(t)
	return reflect.Copy(reflect.NewAt(s, unsafe.Pointer(&dst)).Elem(), reflect.NewAt(s, unsafe.Pointer(&src)).Elem())
`},
	"ifaceE2I": {"typ, src, dst", typeOf + "reflect.NewAt(t, dst).Elem().Set(reflect.ValueOf(src))\n"},

	"makemap":   {"typ, n", typeOf + "return reflect.MakeMapWithSize(t, n).UnsafePointer()\n"},
	"mapassign": {"typ, m, key, value", mapOf + "v.SetMapIndex(reflect.NewAt(t.Key(), key).Elem(), reflect.NewAt(t.Elem(), value).Elem())\n"},
	"mapaccess": {"typ, m, key", mapOf + `found := v.MapIndex(reflect.NewAt(t.Key(), key).Elem())
	if !found.IsValid() {
		return nil
	}
	value := reflect.New(t.Elem())
	value.Elem().Set(found)
	return value.UnsafePointer()
`},
	// The third word of an iterator is a pointer that its package does not use.
	"mapiterinit": {"typ, m, it", mapOf + `i := v.MapRange()
	words := (*[3]unsafe.Pointer)(unsafe.Pointer(it))
	words[2] = unsafe.Pointer(i)
	` + nextEntry},
	"mapiternext": {"it", `
	words := (*[3]unsafe.Pointer)(unsafe.Pointer(it))
	i := (*reflect.MapIter)(words[2])
	` + nextEntry},
}

// replacement returns the source of f for a declaration in a file. ok is false if it has other parameters, or types of packages that the file
// imports under other names.
func (f reflectedFunction) replacement(d *ast.FuncDecl, file *ast.File) (r replacement, ok bool) {
	var parameters []string
	for _, field := range d.Type.Params.List {
		for range max(1, len(field.Names)) {
			parameters = append(parameters, types.ExprString(field.Type))
		}
	}
	names := strings.Split(f.parameters, ", ")
	if len(names) != len(parameters) {
		return r, false
	}
	for i, name := range names {
		parameters[i] = name + " " + parameters[i]
	}
	result := ""
	if d.Type.Results.NumFields() == 1 {
		result = types.ExprString(d.Type.Results.List[0].Type) + " "
	}
	r.imports = []string{"reflect", "unsafe"}
	ok = true
	ast.Inspect(d.Type, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is {
			imported := importOf(file, types.ExprString(s.X))
			ok = ok && imported != ""
			r.imports = append(r.imports, imported)
			return false
		}
		return true
	})
	r.text = "NAME(" + strings.Join(parameters, ", ") + ") " + result + "{" + f.body + "}"
	return r, ok
}

// importOf returns the path that a file imports under its own name.
func importOf(file *ast.File, name string) string {
	for _, spec := range file.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err == nil && spec.Name == nil && path.Base(imported) == name {
			return imported
		}
	}
	return ""
}
