package facts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// The variable v of each function has the properties that are listed.
const source = `package p

type T struct{ f int }

func (t T) value()    {}
func (t *T) pointer() {}

func plain() { v := 1; _ = v }                            // declared counts
func parameter(v int) { _ = v }                           // declared
func result() (v int) { return }                          // declared
func addressed() { v := T{}; _ = &v.f }                   // declared addressed
func throughPointer() { v := &T{}; _ = &v.f }             // declared
func sliced() { var v [2]int; _ = v[:] }                  // declared addressed
func slice() { var v []int; _ = v[:] }                    // declared
func byValue() { var v T; v.value() }                     // declared
func byPointer() { var v T; v.pointer() }                 // declared addressed
func ofPointer() { v := &T{}; v.pointer() }               // declared
func captured() { v := 1; _ = func() int { return v } }   // declared captured
func capturedParameter(v int) { func() { _ = v }() }      // declared captured
func ofLiteral() { _ = func(v int) int { return v } }     // declared
func assigned() { v := T{}; v.f = 1; v.f++; _ = v }              // declared assigned
func elsewhere() { v := 1; _ = v; func() { v = 2 }() }   // declared captured assigned exposed
func rangeValue() { v := 1; for _, v = range []int{-1} {}; _ = v } // declared assigned
func body(seq func(func(int) bool)) { v := 1; for range seq { _ = v } }              // declared body counts
func returned(seq func(func(int) bool)) (v int) { for x := range seq { return x }; return } // declared body
func caseVariable(x any) { switch v := x.(type) { case T: v.pointer() } }            // declared addressed
func generic[P interface{ *T; pointer() }](v P) { v.pointer() }                      // declared addressed
func counter() { for v := 0; v < 3; v += 2 { _ = v } }    // declared assigned counts
func down() { for v := 9; v > 0; v-- { _ = v } }          // declared assigned
func ranged() { for v := range 3 { _ = v } }              // declared counts
`

func TestProperties(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	if _, err := (&types.Config{}).Check("p", fset, []*ast.File{file}, info); err != nil {
		t.Fatal(err)
	}
	want := map[int]string{}
	for _, c := range file.Comments {
		want[fset.Position(c.Pos()).Line] = strings.TrimSpace(c.Text())
	}
	for _, d := range file.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Recv != nil {
			continue
		}
		got := describe(info, decl, Of(info, nil, info.Defs[decl.Name].(*types.Func).Signature(), decl.Body))
		if want := want[fset.Position(decl.Pos()).Line]; got != want {
			t.Errorf("%s: v is %s, want %s", decl.Name.Name, got, want)
		}
	}
}

// describe lists the properties of the variable v.
func describe(info *types.Info, decl *ast.FuncDecl, f *Function) string {
	var v types.Object
	for id, o := range info.Defs {
		if id.Name == "v" && decl.Pos() <= id.Pos() && id.Pos() < decl.End() && o != nil {
			v = o
		}
	}
	for n, o := range info.Implicits {
		if _, clause := n.(*ast.CaseClause); clause && decl.Pos() <= n.Pos() && n.Pos() < decl.End() {
			v = o
		}
	}
	var list []string
	for _, row := range []struct {
		name string
		has  bool
	}{
		{"declared", f.Declared(v)},
		{"addressed", f.Shared(v) && !f.Captured(v)},
		{"captured", f.Captured(v)},
		{"body", f.Escapes(v) && !f.Shared(v)},
		{"assigned", f.Assigned(v)},
		{"exposed", f.Exposed(v) && (!f.Shared(v) || f.Captured(v))},
		{"counts", f.Counts(v)},
	} {
		if row.has {
			list = append(list, row.name)
		}
	}
	return strings.Join(list, " ")
}

func TestParameterAt(t *testing.T) {
	integer, text := types.Typ[types.Int], types.Typ[types.String]
	signature := func(variadic bool, of ...types.Type) *types.Signature {
		var params []*types.Var
		for _, p := range of {
			params = append(params, types.NewParam(token.NoPos, nil, "", p))
		}
		return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), nil, variadic)
	}
	list := types.NewSlice(text)
	for name, row := range map[string]struct {
		sig    *types.Signature
		i      int
		spread bool
		want   types.Type
	}{
		"a builtin":         {nil, 0, false, nil},
		"none":              {signature(false), 0, false, nil},
		"first":             {signature(false, integer, text), 0, false, integer},
		"last":              {signature(false, integer, text), 1, false, text},
		"too many":          {signature(false, integer), 1, false, nil},
		"variadic":          {signature(true, integer, list), 1, false, text},
		"more of them":      {signature(true, integer, list), 5, false, text},
		"before a variadic": {signature(true, integer, list), 0, false, integer},
		"a slice for them":  {signature(true, integer, list), 1, true, list},
	} {
		if got := ParameterAt(row.sig, row.i, row.spread); got != row.want {
			t.Errorf("%s: got %v, want %v", name, got, row.want)
		}
	}
}
