package typeparts_test

import (
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/typeparts"
)

func TestAll(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		"int":                             "",
		"*int":                            "int",
		"[]string":                        "string",
		"[3]bool":                         "bool",
		"chan<- error":                    "error",
		"map[string][]int":                "string []int",
		"struct{ A int; b []byte }":       "int []byte",
		"func(int, ...string) (*A, bool)": "int []string *A bool",
		"func()":                          "",
		"A":                               "",
		"B":                               "A",
		"interface{ M(int) }":             "",
	} {
		pkg := types.NewPackage("main", "main")
		a := types.NewTypeName(token.NoPos, pkg, "A", nil)
		types.NewNamed(a, types.NewStruct([]*types.Var{types.NewField(token.NoPos, pkg, "F", types.Typ[types.Int], false)}, nil), nil)
		pkg.Scope().Insert(a)
		b := types.NewTypeName(token.NoPos, pkg, "B", nil)
		types.NewAlias(b, types.NewSlice(a.Type()))
		pkg.Scope().Insert(b)
		of, err := types.Eval(token.NewFileSet(), pkg, token.NoPos, expr)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		typeparts.All(of.Type, func(p types.Type) {
			got = append(got, types.TypeString(p, func(*types.Package) string { return "" }))
		})
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s consists of %q, want %q", expr, got, want)
		}
		if got, want := typeparts.Any(of.Type, func(types.Type) bool { return true }), want != ""; got != want {
			t.Errorf("%s: Any returns %t", expr, got)
		}
	}
}
