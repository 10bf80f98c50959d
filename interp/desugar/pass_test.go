package desugar

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/symbols"
)

func TestPassOrder(t *testing.T) {
	for i, p := range passes {
		for _, before := range p.after {
			if !slices.ContainsFunc(passes[:i], func(p pass) bool { return p.name == before }) {
				t.Errorf("pass %s must run after pass %s", p.name, before)
			}
		}
	}
}

// TestTypes type-checks programs after each pass. Each expression must have the type that the pass recorded.
func TestTypes(t *testing.T) {
	files, err := filepath.Glob("../internal/programs/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".go") {
				testTypes(t, filepath.Base(file)+"/"+f.Name, f.Data)
			}
		}
	}
}

// TestSwitch is TestTypes for forms of switches that are rare in programs.
func TestSwitch(t *testing.T) {
	testTypes(t, "switch.go", []byte(`package main

type T struct{ a any }

func zero() int { return 0 }

func constraint[E comparable](x, y E) bool {
	switch z := x; z {
	case y, x:
		return true
	}
	return false
}

func main() {
	var i any = true
	var p *T
	f := 1.5
	switch i {
	case nil, 1, "a", T{1}, p:
	}
	switch {
	case i, f > 1:
	}
outer:
	switch x := zero(); x + 1 {
	default:
		break outer
	case 1 << 3:
		switch y := x; (T{y}) {
		case T{x}:
			fallthrough
		case (T{i}):
			break
		}
	}
	switch zero() {
	}
	switch 5 {
	default:
	case zero():
	}
	switch f < 2 {
	case true:
	}
	switch f {
	case 1, 'a', 2.5:
	}
	switch p {
	case nil, new(T):
	}
}
`))
}

func testTypes(t *testing.T, name string, source []byte) {
	t.Helper()
	file, info, err := check(name, source)
	if err != nil {
		return // a program for another release of Go
	}
	if file, info, err = check(name, withTypes(t, file, info)); err != nil {
		t.Fatal(err)
	}
	s := &Source{
		Info: info,
		Note: func(e ast.Expr, tv types.TypeAndValue) { info.Types[e] = tv },
		Use: func(id *ast.Ident, v *types.Var) {
			info.Uses[id], info.Types[id] = v, types.TypeAndValue{Type: v.Type()}
		},
		Define:      func(id *ast.Ident, v *types.Var) { info.Defs[id] = v },
		Interpreted: func(p *types.Package) bool { return p.Path() == "main" },
		Records:     func(ast.Stmt) bool { return false },
	}
	known := map[*ast.FuncDecl]*facts.Function{}
	for _, p := range passes {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				if known[d] == nil {
					known[d] = facts.Of(info, nil, info.Defs[d.Name].(*types.Func).Signature(), d.Body)
				}
				d.Body.List = p.run(s, known[d], d.Body.List)
			}
		}
		compare(t, name+" after "+p.name, file, info)
	}
}

// withTypes returns the text of a file in which all composite literals have types, so that a pass can move them.
func withTypes(t *testing.T, file *ast.File, info *types.Info) []byte {
	t.Helper()
	add := func(e *ast.Expr) {
		lit, ok := (*e).(*ast.CompositeLit)
		if !ok || lit.Type != nil {
			return
		}
		of := info.TypeOf(lit)
		if pointer, ok := of.Underlying().(*types.Pointer); ok {
			of, *e = pointer.Elem(), &ast.UnaryExpr{Op: token.AND, X: lit}
		}
		text := types.TypeString(of, func(p *types.Package) string {
			if p.Path() == "main" {
				return ""
			}
			return p.Name()
		})
		var err error
		if lit.Type, err = parser.ParseExpr(text); err != nil {
			t.Fatal(err)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if n, ok := n.(*ast.CompositeLit); ok {
			for i := range n.Elts {
				if kv, ok := n.Elts[i].(*ast.KeyValueExpr); ok {
					add(&kv.Key)
					add(&kv.Value)
				} else {
					add(&n.Elts[i])
				}
			}
		}
		return true
	})
	var text bytes.Buffer
	if err := printer.Fprint(&text, token.NewFileSet(), file); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

var (
	fset     = token.NewFileSet()
	packages = symbols.Importer(fset)
)

func check(name string, source []byte) (*ast.File, *types.Info, error) {
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{},
	}
	_, err = (&types.Config{Importer: packages}).Check("main", fset, []*ast.File{file}, info)
	return file, info, err
}

// compare type-checks the text of a file, and compares the types of its expressions with the recorded ones.
func compare(t *testing.T, name string, file *ast.File, info *types.Info) {
	t.Helper()
	named := map[types.Object]string{} // variables that a pass has added need unique names
	ast.Inspect(file, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if v, ok := info.ObjectOf(id).(*types.Var); ok && IsAdded(v) {
			if named[v] == "" {
				named[v] = "early" + strconv.Itoa(len(named))
			}
			id.Name = named[v]
		}
		return true
	})
	var text bytes.Buffer
	if err := printer.Fprint(&text, token.NewFileSet(), file); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	again, fresh, err := check(name, text.Bytes())
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, &text)
		return
	}
	old, list := expressions(file), expressions(again)
	if len(old) != len(list) {
		t.Errorf("%s: %d expressions, of which %d were printed", name, len(old), len(list))
		return
	}
	for i, e := range list {
		if got, want := typeString(info, old[i]), typeString(fresh, e); got != want {
			t.Errorf("%s: the recorded type of %s is %s, want %s", name, types.ExprString(e), got, want)
		}
	}
}

func expressions(file *ast.File) (list []ast.Expr) {
	ast.Inspect(file, func(n ast.Node) bool {
		// The printer adds and removes parentheses.
		if e, ok := n.(ast.Expr); ok && ast.Unparen(e) == e {
			list = append(list, e)
		}
		return true
	})
	return list
}

func typeString(info *types.Info, e ast.Expr) string {
	t := info.TypeOf(e)
	if t == nil || t == types.Typ[types.Invalid] { // a label
		return "none"
	}
	return types.Default(t).String() // a condition is an untyped boolean in an if statement and a bool in a case
}
