package describe

import (
	"bytes"
	"fmt"
	"go/constant"
	"go/format"
	"go/types"
	"math/big"
	"path"
	"slices"
	"strings"
)

// A Table is the Go source of the symbols of a package, in the form that yaegi reads:
//
//	constant, function   "Name": reflect.ValueOf(pkg.Name), an untyped constant as a constant.Value
//	variable             "Name": reflect.ValueOf(&pkg.Name).Elem(), so that it can be set
//	type                 "Name": reflect.ValueOf((*pkg.Name)(nil))
//	interface            also "_Name", a struct that implements it by calling one field WMethod for each method
//
// Package reflect cannot represent generic functions and types; their sources are in interp/generic.
type Table struct {
	Package  *types.Package
	imports  map[string]string // import path to the name in the file
	names    map[string]bool   // names in use
	Values   []string          // lines of the table
	Types    []string
	Wrappers []string
	structs  bytes.Buffer
}

// NewTable returns the table of the names of a package that satisfy want. key is the key of the package in
// yaegi's map; the name of an interface's wrapper begins with "_".
func NewTable(pkg *types.Package, want func(key, name string) bool) *Table {
	t := &Table{
		Package: pkg,
		imports: map[string]string{"reflect": "reflect"},
		names:   map[string]bool{"reflect": true},
	}
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() || !hasValue(object) {
			continue
		}
		if want(t.Key(), name) {
			t.add(object)
		}
		if methods := wrapped(object); methods != nil && want(t.Key(), "_"+name) {
			t.wrap(name, methods)
		}
	}
	return t
}

// Empty reports whether the package has no symbols.
func (t *Table) Empty() bool { return len(t.Values)+len(t.Types)+len(t.Wrappers) == 0 }

// Key returns the key of the package in yaegi's map.
func (t *Table) Key() string { return path.Join(t.Package.Path(), t.Package.Name()) }

// hasValue reports whether package reflect can represent the object. It cannot represent generics and
// constraints.
func hasValue(object types.Object) bool {
	switch o := object.(type) {
	case *types.Func:
		return o.Signature().TypeParams().Len() == 0
	case *types.TypeName:
		switch x := o.Type().(type) {
		case *types.Named:
			if x.TypeParams().Len() > 0 && x.TypeArgs().Len() == 0 {
				return false
			}
		case *types.Alias:
			if x.TypeParams().Len() > 0 {
				return false
			}
		}
		i, ok := o.Type().Underlying().(*types.Interface)
		return !ok || i.IsMethodSet()
	}
	return true
}

// wrapped returns the methods of an interface that code in other packages can implement; nil for any other
// object. An interface cannot be implemented if a method is unexported or mentions a type of an internal
// package.
func wrapped(object types.Object) []*types.Func {
	if _, ok := object.(*types.TypeName); !ok {
		return nil
	}
	i, ok := object.Type().Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return nil
	}
	var methods []*types.Func
	for m := range i.Methods() {
		if !m.Exported() || mentionsInternal(m.Signature()) {
			return nil
		}
		methods = append(methods, m)
	}
	return methods
}

// mentionsInternal reports whether the source text of the type would need an import of an internal package.
func mentionsInternal(t types.Type) bool {
	internal := false
	types.TypeString(t, func(p *types.Package) string {
		internal = internal || !Importable(p.Path())
		return p.Name()
	})
	return internal
}

func (t *Table) add(object types.Object) {
	name := object.Name()
	switch o := object.(type) {
	case *types.Const:
		t.Values = append(t.Values, fmt.Sprintf("%q: reflect.ValueOf(%s),", name, t.constant(o)))
	case *types.Func:
		t.Values = append(t.Values, fmt.Sprintf("%q: reflect.ValueOf(%s),", name, t.qualified(name)))
	case *types.Var:
		t.Values = append(t.Values, fmt.Sprintf("%q: reflect.ValueOf(&%s).Elem(),", name, t.qualified(name)))
	case *types.TypeName:
		t.Types = append(t.Types, fmt.Sprintf("%q: reflect.ValueOf((*%s)(nil)),", name, t.qualified(name)))
	}
}

// constant returns an expression for the value of a constant. An untyped number may not fit any Go type, so
// it is passed as text.
func (t *Table) constant(c *types.Const) string {
	basic, ok := c.Type().(*types.Basic)
	if !ok || basic.Info()&types.IsUntyped == 0 {
		return t.qualified(c.Name())
	}
	var kind, text string
	switch c.Val().Kind() {
	case constant.String:
		kind, text = "STRING", c.Val().ExactString()
	case constant.Int:
		kind, text = "INT", c.Val().ExactString()
	case constant.Float:
		f, ok := constant.Val(c.Val()).(*big.Float)
		if !ok {
			f = new(big.Float).SetRat(constant.Val(c.Val()).(*big.Rat))
		}
		kind, text = "FLOAT", f.Text('g', int(f.Prec()))
	default:
		return t.qualified(c.Name())
	}
	return fmt.Sprintf("%s.MakeFromLiteral(%q, %s.%s, 0)",
		t.use("go/constant", "constant"), text, t.use("go/token", "token"), kind)
}

func (t *Table) wrap(name string, methods []*types.Func) {
	structure := "wrap_" + Identifier(t.Package.Path()) + "_" + name
	t.Wrappers = append(t.Wrappers, fmt.Sprintf("%q: reflect.ValueOf((*%s)(nil)),", "_"+name, structure))
	var fields, bodies strings.Builder
	described := false
	for _, m := range methods {
		described = described || m.Name() == "Raw" || m.Name() == "GoType"
		parameters, arguments, results := t.signature(m.Signature())
		fmt.Fprintf(&fields, "\tW%s func%s %s\n", m.Name(), parameters, results)
		fmt.Fprintf(&bodies, "func (W %s) %s%s %s {\n", structure, m.Name(), parameters, results)
		if m.Name() == "String" {
			bodies.WriteString("\tif W.WString == nil {\n\t\treturn \"\"\n\t}\n")
		}
		if m.Signature().Results().Len() > 0 {
			bodies.WriteString("\treturn ")
		}
		fmt.Fprintf(&bodies, "W.W%s(%s)\n}\n", m.Name(), arguments)
	}
	if !described { // compiled code that uses reflection finds the value of a cell through these methods, as in a box
		fmt.Fprintf(&bodies, "func (W %s) Raw() interface{} {\n\tif b, ok := W.IValue.(interface{ Raw() interface{} }); ok {\n\t\treturn b.Raw()\n\t}\n\treturn W.IValue\n}\n", structure)
		t.use("reflect", "reflect")
		fmt.Fprintf(&bodies, "func (W %s) GoType() reflect.Type {\n\tif b, ok := W.IValue.(interface{ GoType() reflect.Type }); ok {\n\t\treturn b.GoType()\n\t}\n\treturn reflect.TypeOf(W.IValue)\n}\n", structure)
	}
	fmt.Fprintf(&t.structs, "\n// %s implements %s with functions; IValue is the value they are methods of.\ntype %s struct {\n\tIValue interface{}\n%s}\n\n%s",
		structure, t.qualified(name), structure, fields.String(), bodies.String())
}

// signature formats the parameters (with names), the arguments of a call with these names, and the results.
func (t *Table) signature(s *types.Signature) (parameters, arguments, results string) {
	var ps, as, rs []string
	for i := range s.Params().Len() {
		name, typ := fmt.Sprintf("a%d", i), s.Params().At(i).Type()
		if s.Variadic() && i == s.Params().Len()-1 {
			element := "byte" // only for append([]byte, string...), which is not a method
			if slice, ok := typ.(*types.Slice); ok {
				element = types.TypeString(slice.Elem(), t.qualifier)
			}
			ps, as = append(ps, name+" ..."+element), append(as, name+"...")
			continue
		}
		ps, as = append(ps, name+" "+types.TypeString(typ, t.qualifier)), append(as, name)
	}
	for v := range s.Results().Variables() {
		rs = append(rs, types.TypeString(v.Type(), t.qualifier))
	}
	return "(" + strings.Join(ps, ", ") + ")", strings.Join(as, ", "), "(" + strings.Join(rs, ", ") + ")"
}

func (t *Table) qualified(name string) string { return t.qualifier(t.Package) + "." + name }

func (t *Table) qualifier(pkg *types.Package) string { return t.use(pkg.Path(), pkg.Name()) }

// use imports a package and returns its name in the file, which is unique.
func (t *Table) use(importPath, name string) string {
	if used, ok := t.imports[importPath]; ok {
		return used
	}
	unique := name
	for i := 2; t.names[unique]; i++ {
		unique = fmt.Sprintf("%s%d", name, i)
	}
	t.imports[importPath], t.names[unique] = unique, true
	return unique
}

// Header is the first line of generated files.
const Header = "// Code generated by interp/symbols/internal/generate. DO NOT EDIT.\n\n"

// Head returns the beginning of a generated file. constraint is its build constraint, or "".
func Head(packageName, constraint string) string {
	text := Header
	if constraint != "" {
		text += "//go:build " + constraint + "\n\n"
	}
	return text + "package " + packageName + "\n\n"
}

// Source returns the file of the table. constraint is its build constraint, or "".
func (t *Table) Source(packageName, constraint string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(Head(packageName, constraint) + "import (\n")
	var paths []string
	for p := range t.imports {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		if name := t.imports[p]; name == path.Base(p) {
			fmt.Fprintf(&b, "\t%q\n", p)
		} else {
			fmt.Fprintf(&b, "\t%s %q\n", name, p)
		}
	}
	b.WriteString(")\n\n")
	t.write(&b)
	source, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("symbols of %s: %w\n%s", t.Package.Path(), err, b.Bytes())
	}
	return source, nil
}

// write writes the function that returns the table, and the wrappers.
func (t *Table) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "func %s() map[string]reflect.Value {\n\treturn map[string]reflect.Value{\n", Function(t.Package.Path()))
	for _, lines := range [][]string{t.Values, t.Types, t.Wrappers} {
		for _, line := range lines {
			fmt.Fprintf(b, "\t\t%s\n", line)
		}
	}
	b.WriteString("\t}\n}\n")
	b.Write(t.structs.Bytes())
}

// Function returns the name of the function that returns a package's table.
func Function(importPath string) string { return "symbols_" + Identifier(importPath) }

// Identifier converts an import path to a part of a Go name or file name.
func Identifier(importPath string) string {
	return strings.NewReplacer("/", "_", "-", "_", ".", "_", "~", "_").Replace(importPath)
}
