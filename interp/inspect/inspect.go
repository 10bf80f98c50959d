package inspect

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/origin"
)

// A Description describes a name.
type Description struct {
	Declaration string // in Go
	Doc         string // plain text; may be empty
	// Variable is set if the name is a variable of the session.
	Variable *types.Var
}

// Markdown returns the description with the declaration in a Go code block.
func (d Description) Markdown() string {
	text := "```go\n" + d.Declaration + "\n```"
	if d.Doc != "" {
		text += "\n\n" + d.Doc
	}
	return text
}

// Plain returns the description as plain text.
func (d Description) Plain() string {
	if d.Doc == "" {
		return d.Declaration
	}
	return d.Declaration + "\n\n" + d.Doc
}

// Doc returns the documentation of an exported name of a compiled package. The name of a method is "T.M";
// for the package itself it is "".
type Doc func(path, name string) string

// At describes the name at a byte offset of src. With a detail above 0 it adds the methods of a type and
// the source of declarations in cells.
func At(c *check.Checker, doc Doc, src string, offset, detail int) (d Description, ok bool) {
	offset = min(max(offset, 0), len(src))
	if d, ok := keyword(src, offset); ok {
		return d, true
	}
	visited := false
	visit := func(s *check.Sketch) {
		visited = true
		v := &describer{s, doc, detail}
		if d, ok = v.describeAt(offset); !ok {
			// Inside an argument list: describe the called function.
			list := tokensBefore(src, offset)
			if n := len(list); n > 0 && list[n-1].tok == token.RPAREN && list[n-1].offset == offset-1 {
				list = list[:n-1] // directly after the list
			}
			if at, _, inCall := callee(list); inCall {
				d, ok = v.describeAt(at)
			}
		}
	}
	c.Sketch(src, visit)
	if !visited {
		line := strings.LastIndexByte(src[:offset], '\n') + 1
		end := len(src)
		if i := strings.IndexByte(src[offset:], '\n'); i >= 0 {
			end = offset + i
		}
		src, offset = src[line:end], offset-line
		c.Sketch(src, visit)
	}
	if ok {
		return d, ok
	}
	// Errors elsewhere may hide declarations.
	if text, changed := check.WithoutErrors(src, offset); changed {
		c.Sketch(text, visit)
	}
	return d, ok
}

// keyword describes the keyword at a byte offset of src, or the one that ends there.
func keyword(src string, offset int) (d Description, ok bool) {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, []byte(src), func(token.Position, string) {}, 0)
	for {
		pos, tok, text := s.Scan()
		start := file.Offset(pos)
		switch {
		case tok == token.EOF || start > offset:
			return d, false
		case tok.IsKeyword() && offset <= start+len(text):
			return keywords[text], true
		}
	}
}

// Similar returns src, a name such as accel.fit that At does not know, with a known name that resembles
// its unknown part; "" if there is none.
func Similar(c *check.Checker, src string) (name string) {
	c.Sketch(src, func(s *check.Sketch) {
		v := &describer{Sketch: s}
		for at := 0; at <= len(src); at++ {
			dot := strings.IndexByte(src[at:], '.')
			end := len(src)
			if dot >= 0 {
				end = at + dot
			}
			id := v.Ident(end)
			if id == nil {
				return
			}
			if v.object(id) == nil && (at > 0 || v.PackageOf(id.Name) == nil) {
				if best := v.Similar(id); best != "" {
					name = src[:at] + best + src[end:]
				}
				return
			}
			at = end
		}
	})
	return name
}

type describer struct {
	*check.Sketch
	doc    Doc
	detail int
}

func (v *describer) describeAt(offset int) (Description, bool) {
	id := v.Ident(offset)
	if id == nil {
		return Description{}, false
	}
	if o := v.object(id); o != nil {
		d := v.describe(o)
		if instance, ok := v.Info.Instances[id]; ok {
			d.Declaration += v.instanceComment(id, o, instance)
		}
		return d, true
	}
	if v.selector(id) != nil {
		return Description{}, false
	}
	if p := v.PackageOf(id.Name); p != nil {
		return v.describe(types.NewPkgName(token.NoPos, v.Package, p.Name(), p)), true
	}
	return Description{}, false
}

// object returns the object that an identifier denotes.
func (v *describer) object(id *ast.Ident) types.Object {
	if o := v.Info.Defs[id]; o != nil {
		return o
	}
	if o := v.Info.Uses[id]; o != nil {
		return o
	}
	if sel := v.selector(id); sel != nil {
		if t := v.Info.TypeOf(sel.X); t != nil {
			// Not an expression of Go, but how documentation writes members: Type.Field, and Type.Method also
			// where the method has a pointer as receiver.
			if o, _, _ := types.LookupFieldOrMethod(t, true, v.Package, id.Name); o != nil && v.Info.Types[sel.X].IsType() {
				return o
			}
			for _, m := range v.MethodsOf(t) {
				if m.Name() == id.Name {
					return m
				}
			}
		}
		return nil
	}
	if o := v.Find(id.Name); o != nil {
		return o
	}
	return types.Universe.Lookup(id.Name)
}

// selector returns the selector expression x.id, or nil.
func (v *describer) selector(id *ast.Ident) (found *ast.SelectorExpr) {
	ast.Inspect(v.File, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel == id {
			found = sel
		}
		return found == nil
	})
	return found
}

// instanceComment returns a comment with the type arguments of a generic function at this use.
func (v *describer) instanceComment(id *ast.Ident, o types.Object, i types.Instance) string {
	if _, ok := o.(*types.Func); !ok {
		return ""
	}
	var arguments []string
	for t := range i.TypeArgs.Types() {
		arguments = append(arguments, types.TypeString(t, v.qualifier))
	}
	name := id.Name
	if o.Pkg() != v.Package {
		name = o.Pkg().Name() + "." + name
	}
	return fmt.Sprintf("\n// %s[%s] is a %s", name, strings.Join(arguments, ", "), types.TypeString(i.Type, v.qualifier))
}

func (v *describer) qualifier(p *types.Package) string {
	if p == v.Package {
		return ""
	}
	return p.Name()
}

func (v *describer) describe(o types.Object) Description {
	if o.Parent() == types.Universe {
		if d, ok := predeclared[o.Name()]; ok {
			return d
		}
	}
	switch o := o.(type) {
	case *types.PkgName:
		p := o.Imported()
		return Description{Declaration: fmt.Sprintf("package %s // import %q", p.Name(), origin.ImportPath(p)), Doc: v.doc(p.Path(), "")}
	case *types.TypeName:
		return v.typeName(o)
	case *types.Var:
		return v.variable(o)
	case *types.Func:
		return v.function(o)
	}
	text := types.ObjectString(o, v.qualifier)
	if c, ok := o.(*types.Const); ok {
		text += " = " + c.Val().String()
	}
	return Description{Declaration: text, Doc: v.comment(o, o.Name())}
}

// comment returns the documentation of an object. key is a name or "T.M".
func (v *describer) comment(o types.Object, key string) string {
	switch p := o.Pkg(); {
	case p == nil: // a method of a predeclared type
		return ""
	case p == v.Package:
		return v.Sketch.Doc(o, key)
	default:
		return v.doc(p.Path(), key)
	}
}

func (v *describer) typeName(o *types.TypeName) Description {
	text := types.ObjectString(o, v.qualifier)
	if source := v.Text(o, o.Name()); o.Pkg() == v.Package && source != "" {
		text = source
	} else if o.Pkg() != nil {
		text = fmt.Sprintf("type %s %s", o.Name(), exported(o.Type().Underlying(), o.Pkg() == v.Package, v.qualifier))
	}
	if v.detail > 0 {
		methods := types.NewMethodSet(types.NewPointer(o.Type()))
		for i := range methods.Len() {
			if m := methods.At(i).Obj(); m.Exported() || m.Pkg() == v.Package {
				text += "\n" + types.ObjectString(m, v.qualifier)
			}
		}
	}
	return Description{Declaration: text, Doc: v.comment(o, o.Name())}
}

// exported returns the text of a type. Of a struct it lists the accessible fields, one per line.
func exported(t types.Type, own bool, qualifier types.Qualifier) string {
	st, ok := t.(*types.Struct)
	if !ok || st.NumFields() == 0 {
		return types.TypeString(t, qualifier)
	}
	lines := []string{"struct {"}
	hidden := false
	for i := range st.NumFields() {
		f := st.Field(i)
		if !own && !f.Exported() {
			hidden = true
			continue
		}
		line := "\t" + f.Name() + " " + types.TypeString(f.Type(), qualifier)
		if f.Embedded() {
			line = "\t" + types.TypeString(f.Type(), qualifier)
		}
		lines = append(lines, line)
	}
	if hidden {
		lines = append(lines, "\t// unexported fields")
	}
	return strings.Join(append(lines, "}"), "\n")
}

func (v *describer) variable(o *types.Var) Description {
	kind := "var"
	if o.IsField() {
		kind = "field"
	}
	d := Description{Declaration: fmt.Sprintf("%s %s %s", kind, o.Name(), types.TypeString(o.Type(), v.qualifier))}
	owner := v.owner(o)
	switch {
	case owner != nil && o.Pkg() == v.Package:
		d.Doc = v.FieldDoc(owner, o.Name())
	case owner != nil:
		d.Doc = v.comment(o, owner.Name()+"."+o.Name())
	case o.Pkg() != v.Package:
		d.Doc = v.comment(o, o.Name())
	}
	if v.Live[o.Name()] == types.Object(o) {
		d.Variable = o
		d.Doc = v.typeDoc(o.Type())
	}
	return d
}

// typeDoc returns the first paragraph of the documentation of a type, or of the one that it points to.
func (v *describer) typeDoc(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return ""
	}
	paragraph, _, _ := strings.Cut(v.comment(named.Obj(), named.Obj().Name()), "\n\n")
	return paragraph
}

// owner returns the struct type that declares a field, if it is declared in a package or in the session.
func (v *describer) owner(o *types.Var) types.Object {
	if !o.IsField() || o.Pkg() == nil {
		return nil
	}
	scope := o.Pkg().Scope()
	for _, name := range scope.Names() {
		if t := scope.Lookup(name); declares(t, o) {
			return t
		}
	}
	if o.Pkg() == v.Package {
		for _, t := range v.Live {
			if declares(t, o) {
				return t
			}
		}
	}
	return nil
}

// declares reports whether t is a struct type with the field o.
func declares(t types.Object, o *types.Var) bool {
	if _, ok := t.(*types.TypeName); !ok {
		return false
	}
	st, ok := t.Type().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if f == o.Origin() {
			return true
		}
	}
	return false
}

func (v *describer) function(o *types.Func) Description {
	key := o.Name()
	if recv := o.Signature().Recv(); recv != nil {
		t := types.Unalias(recv.Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		if named, ok := t.(*types.Named); ok {
			key = named.Obj().Name() + "." + o.Name()
		}
	}
	text := wrapped(types.ObjectString(o, v.qualifier), o.Signature().Params().Len())
	if source := v.Text(o, key); v.detail > 0 && o.Pkg() == v.Package && source != "" {
		text = source
	}
	d := Description{Declaration: text, Doc: v.comment(o, key)}
	if all := v.optionsOf(o); len(all) > 0 {
		d.Doc += "\n\nOptions:\n\n" + strings.Join(all, "\n")
	}
	return d
}

// maxLine is the length above which a declaration is wrapped: a front end would break it within words.
const maxLine = 80

// wrapped returns the declaration of a function with the given number of parameters, with a line for each of them if one
// line would be too long.
func wrapped(text string, parameters int) string {
	if len(text) <= maxLine || parameters < 2 {
		return text
	}
	// The list of parameters is the first one at depth 0 that has as many elements; a receiver comes before it.
	for begin := 0; begin < len(text); begin++ {
		if text[begin] != '(' {
			continue
		}
		commas, depth, end := []int{}, 0, begin
		for ; end < len(text); end++ {
			switch c := text[end]; {
			case strings.IndexByte("([{", c) >= 0:
				depth++
			case strings.IndexByte(")]}", c) >= 0:
				depth--
			case c == ',' && depth == 1:
				commas = append(commas, end)
			}
			if depth == 0 {
				break
			}
		}
		if len(commas) != parameters-1 {
			begin = end
			continue
		}
		var b strings.Builder
		from := begin + 1
		b.WriteString(text[:from])
		for _, comma := range commas {
			b.WriteString("\n\t" + text[from:comma+1])
			from = comma + 2
		}
		b.WriteString("\n\t" + text[from:end] + ",\n" + text[end:])
		return b.String()
	}
	return text
}

// optionsOf lists the functions of a package that make a value for the last, variadic parameter of its function o: its
// options.
func (v *describer) optionsOf(o *types.Func) (all []string) {
	f := o.Signature()
	if !f.Variadic() || o.Pkg() == nil || o.Pkg() == v.Package {
		return nil
	}
	option, ok := f.Params().At(f.Params().Len() - 1).Type().(*types.Slice).Elem().(*types.Named)
	if !ok || option.Obj().Pkg() != o.Pkg() || !strings.HasSuffix(option.Obj().Name(), "Option") {
		return nil // such as the layers of nn.Sequential
	}
	scope := o.Pkg().Scope()
	for _, name := range scope.Names() {
		maker, ok := scope.Lookup(name).(*types.Func)
		if !ok || !maker.Exported() || maker.Signature().Results().Len() != 1 || !types.Identical(maker.Signature().Results().At(0).Type(), option) {
			continue
		}
		parameters := strings.TrimPrefix(types.TypeString(types.NewSignatureType(nil, nil, nil, maker.Signature().Params(), nil, maker.Signature().Variadic()), v.qualifier), "func")
		sentence, _, _ := strings.Cut(strings.ReplaceAll(v.comment(maker, name), "\n", " "), ". ")
		all = append(all, "- "+name+parameters+": "+strings.TrimSuffix(strings.TrimPrefix(sentence, name+" "), "."))
	}
	return all
}
