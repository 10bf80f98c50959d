package generic_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/generic"
	"github.com/quernlab/quern/interp/symbols"
)

// refused has the generic names of the standard library that are not supported on purpose.
var refused = map[string]bool{
	"encoding/json/jsontext.AppendUnquote": true,
	"encoding/json/v2.GetOption":           true,
	"encoding/json/v2.MarshalFunc":         true,
	"encoding/json/v2.MarshalToFunc":       true,
	"encoding/json/v2.UnmarshalFromFunc":   true,
	"encoding/json/v2.UnmarshalFunc":       true,
}

// TestSameAPI compares the exported generic API of every standard package with that of the package that replaces it.
func TestSameAPI(t *testing.T) {
	fset := token.NewFileSet()
	importer := symbols.Importer(fset)
	compared := 0
	for _, path := range symbols.Paths() {
		if strings.Contains(path, ".") { // ours
			continue
		}
		standard, err := importer.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		want := genericNames(standard)
		files, ok := generic.Source(path)
		if !ok {
			for name := range want {
				if !refused[path+"."+name] {
					t.Errorf("%s.%s has no body", path, name)
				}
			}
			continue
		}
		ours := check(t, fset, importer, path, files)
		for name, object := range want {
			mine := ours.Scope().Lookup(name)
			switch {
			case mine == nil && refused[path+"."+name]:
			case mine == nil:
				t.Errorf("%s.%s has no body", path, name)
			default:
				compared++
				if got, want := describe(mine), describe(object); got != want {
					t.Errorf("%s.%s is\n%s\nwant\n%s", path, name, got, want)
				}
			}
		}
		for _, name := range ours.Scope().Names() {
			if token.IsExported(name) && want[name] == nil {
				t.Errorf("%s.%s is no generic name of the standard package", path, name)
			}
		}
	}
	if compared < 70 {
		t.Errorf("only %d names compared", compared)
	}
}

// TestKeepsRules checks that the sources follow the rules in doc.go.
func TestKeepsRules(t *testing.T) {
	fset := token.NewFileSet()
	for _, path := range symbols.Paths() {
		files, _ := generic.Source(path)
		for name, text := range files {
			file, err := parser.ParseFile(fset, path+"/"+name, text, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				wrong := ""
				switch n := n.(type) {
				case *ast.ImportSpec:
					imported := strings.Trim(n.Path.Value, `"`)
					// A source may import the standard package that it replaces.
					ours := imported == "github.com/quernlab/quern/interp/generic/compiled" || imported == path
					if imported == "C" || strings.Contains(imported, ".") && !ours {
						wrong = "import of " + imported
					}
				case *ast.SelectorExpr:
					if p, ok := n.X.(*ast.Ident); ok && p.Name == "unsafe" && n.Sel.Name != "Pointer" {
						wrong = "unsafe." + n.Sel.Name
					}
				case *ast.LabeledStmt:
					wrong = "label"
				case *ast.FuncDecl:
					if n.Name.Name == "init" || n.Body == nil {
						wrong = "function " + n.Name.Name
					}
				}
				if wrong != "" {
					t.Errorf("%s: %s", fset.Position(n.Pos()), wrong)
				}
				return true
			})
			for _, d := range file.Decls {
				if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR {
					t.Errorf("%s: package variable", fset.Position(d.Pos()))
				}
			}
		}
	}
}

func TestSourceUnknown(t *testing.T) {
	for _, path := range []string{"", "fmt", "compiled", "context", "cmp/cmp.go"} {
		if _, ok := generic.Source(path); ok {
			t.Errorf("Source(%q): found", path)
		}
	}
}

func genericNames(p *types.Package) map[string]types.Object {
	found := make(map[string]types.Object)
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		switch o := object.(type) {
		case *types.Func:
			if o.Signature().TypeParams().Len() > 0 {
				found[name] = o
			}
		case *types.TypeName:
			named, ok := o.Type().(*types.Named)
			i, isInterface := o.Type().Underlying().(*types.Interface)
			if ok && named.TypeParams().Len() > 0 || isInterface && !i.IsMethodSet() {
				found[name] = o
			}
		}
	}
	return found
}

func check(t *testing.T, fset *token.FileSet, importer types.Importer, path string, sources map[string]string) *types.Package {
	t.Helper()
	var files []*ast.File
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		file, err := parser.ParseFile(fset, path+"/"+name, sources[name], 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	p, err := (&types.Config{Importer: importer}).Check(path, fset, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// describe renders the API of an object: type parameters with their constraints, the types of parameters and results,
// methods, and the underlying function type or constraint. The structs have no exported fields.
func describe(o types.Object) string {
	var b strings.Builder
	switch o := o.(type) {
	case *types.Func:
		parameters(&b, o.Signature().TypeParams())
		signature(&b, o.Signature())
	case *types.TypeName:
		named := o.Type().(*types.Named)
		parameters(&b, named.TypeParams())
		if _, ok := named.Underlying().(*types.Struct); !ok {
			b.WriteString(types.TypeString(named.Underlying(), nil))
		}
		var methods []string
		for m := range named.Methods() {
			if m.Exported() {
				var b strings.Builder
				fmt.Fprintf(&b, "\n%s %s", m.Name(), types.TypeString(m.Signature().Recv().Type(), nil))
				signature(&b, m.Signature())
				methods = append(methods, b.String())
			}
		}
		slices.Sort(methods)
		b.WriteString(strings.Join(methods, ""))
	}
	return b.String()
}

func parameters(b *strings.Builder, list *types.TypeParamList) {
	for p := range list.TypeParams() {
		fmt.Fprintf(b, "[%s %s]", p, types.TypeString(p.Constraint().Underlying(), nil))
	}
}

func signature(b *strings.Builder, s *types.Signature) {
	for _, tuple := range []*types.Tuple{s.Params(), s.Results()} {
		b.WriteString("(")
		for v := range tuple.Variables() {
			b.WriteString(types.TypeString(v.Type(), nil) + ",")
		}
		b.WriteString(")")
	}
	fmt.Fprint(b, s.Variadic())
}
