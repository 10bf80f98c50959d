package structure

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestShown checks that users can find the exported names of the public packages: each function, type, variable and
// constant is in a notebook, an example program, an Example test or a page of the documentation. A type is also shown if
// a shown function, or a method or field of a shown type, has it in its signature, and a constant if another one of its type is.
// A name that is in none of them is not needed, or its example is missing.
func TestShown(t *testing.T) {
	t.Parallel()
	packages, err := publicPackages()
	if err != nil {
		t.Fatal(err)
	}
	s := shownNames(t)
	var names []name
	for _, p := range packages {
		names = append(names, exported(p)...)
	}
	for again := true; again; {
		again = false
		for _, n := range names {
			if _, isType := n.object.(*types.TypeName); !isType && s.shows(n) {
				again = s.see(n.object.Type()) || again
			}
		}
	}
	for _, n := range names {
		if full := n.pkg.Name() + "." + n.object.Name(); n.of == nil && s.shows(n) == (unshown[full] != "") {
			if unshown[full] != "" {
				t.Errorf("%s is shown: remove it from the list unshown", full)
				continue
			}
			t.Errorf("%s: no notebook, example or page shows %s. Remove it, make it internal, or show it: in an Example test, or in docs/names.md", n.line, full)
		}
	}
}

// unshown are the names that need not be shown, with the reason.
var unshown = map[string]string{
	"search.Advise":        forAccel,
	"search.Check":         forAccel,
	"search.FindBatchSize": forAccel,
	"search.FindLR":        forAccel,
	"search.Training":      forAccel,
}

// forAccel is the reason for what only package accel can call: programs call the function of accel with the same name.
const forAccel = "its settings are made of the options of accel"

// TestErrorsPage checks that docs/errors.md lists the errors of the public packages: types with a method Error, and variables.
func TestErrorsPage(t *testing.T) {
	t.Parallel()
	packages, err := publicPackages()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	failure := types.Universe.Lookup("error").Type()
	for _, p := range packages {
		for _, n := range exported(p) {
			switch o := n.object.(type) {
			case *types.TypeName:
				_, isInterface := o.Type().Underlying().(*types.Interface)
				if is := types.Implements(types.NewPointer(o.Type()), failure.Underlying().(*types.Interface)); is && !isInterface && !o.IsAlias() || is && internal(declaredIn(o)) {
					want["*"+p.Name()+"."+o.Name()] = true
				}
			case *types.Var:
				if n.of == nil && types.Identical(o.Type(), failure) {
					want[p.Name()+"."+o.Name()] = true
				}
			}
		}
	}
	got := map[string]bool{}
	_, table, _ := strings.Cut(read(t, "docs/errors.md"), "\n|---|---|\n")
	for line := range strings.Lines(table) {
		for _, m := range regexp.MustCompile("`(\\*?\\w+\\.\\w+)`").FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
			got[m[1]] = true
		}
	}
	for name := range want {
		if !got[name] {
			t.Errorf("docs/errors.md does not list %s", name)
		}
	}
	for name := range got {
		if !want[name] {
			t.Errorf("docs/errors.md lists %s, which is no error of a public package", name)
		}
	}
}

// declaredIn returns the path of the package that declares the type of an alias.
func declaredIn(alias *types.TypeName) string {
	if t, ok := types.Unalias(alias.Type()).(*types.Named); ok && t.Obj().Pkg() != nil {
		return t.Obj().Pkg().Path()
	}
	return ""
}

// shown are names that users see.
type shown struct {
	qualified map[string]bool          // package.Name, as in the text
	types     map[*types.TypeName]bool // of functions, methods and fields that are shown
}

func (s *shown) shows(n name) bool {
	switch o := n.object.(type) {
	case *types.TypeName:
		return s.types[o] || s.qualified[n.pkg.Name()+"."+o.Name()]
	case *types.Const:
		if of, ok := o.Type().(*types.Named); ok && s.types[of.Obj()] {
			return true
		}
	}
	if n.of != nil {
		return s.shows(name{pkg: n.pkg, object: n.of})
	}
	return s.qualified[n.pkg.Name()+"."+n.object.Name()]
}

// see marks the named types in a type as shown, and reports whether there was a new one.
func (s *shown) see(t types.Type) (more bool) {
	each := func(list ...types.Type) {
		for _, t := range list {
			more = s.see(t) || more
		}
	}
	switch t := t.(type) {
	case *types.Alias:
		if o := t.Obj(); !s.types[o] {
			s.types[o], more = true, true
		}
		each(t.Rhs())
	case *types.Named:
		if o := t.Obj(); !s.types[o] {
			s.types[o], more = true, true
		}
		for a := range t.TypeArgs().Types() {
			each(a)
		}
	case *types.Signature:
		each(t.Params(), t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			each(v.Type())
		}
	case *types.Map:
		each(t.Key(), t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		each(t.Elem())
	}
	return more
}

// shownNames reads the texts for users.
func shownNames(t *testing.T) *shown {
	t.Helper()
	s := &shown{map[string]bool{}, map[*types.TypeName]bool{}}
	words := regexp.MustCompile(`(\w*)\)?\]?\.\s*([A-Z]\w*)`)
	add := func(text string) {
		for _, m := range words.FindAllStringSubmatch(text, -1) {
			s.qualified[m[1]+"."+m[2]] = true
		}
	}
	walk(t, ".md", func(name string) {
		if name == "README.md" || strings.HasPrefix(name, "docs/") && !strings.HasPrefix(name, "docs/decisions/") {
			add(read(t, name))
		}
	})
	walk(t, ".ipynb", func(name string) {
		var notebook struct{ Cells []struct{ Source []string } }
		if err := json.Unmarshal([]byte(read(t, name)), &notebook); err != nil {
			t.Fatal(err)
		}
		for _, c := range notebook.Cells {
			add(strings.Join(c.Source, ""))
		}
	})
	walk(t, ".go", func(name string) {
		switch {
		case strings.HasPrefix(name, "examples/"):
			add(read(t, name))
		case strings.HasSuffix(name, "_test.go") && withinAny(filepath.Dir(name), publicTrees):
			add(examples(t, name))
		}
	})
	return s
}

// examples returns the source of the Example functions of a file.
func examples(t *testing.T, name string) string {
	t.Helper()
	text := read(t, name)
	if !strings.Contains(text, "\nfunc Example") {
		return ""
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(d.Name.Name, "Example") {
			all.WriteString(text[fset.Position(d.Pos()).Offset:fset.Position(d.End()).Offset])
		}
	}
	return all.String()
}
