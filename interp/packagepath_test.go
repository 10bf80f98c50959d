package interp_test

import "testing"

// Unexported names of two packages differ, and types have the import path of their package.
func TestModulePackagesDiffer(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/two@v1.0.0/go.mod": "module example.com/two\n",
		"example.com/two@v1.0.0/a/a.go": `package a

type Sealed interface{ seal() string }

type Base struct{ hidden int }

func (Base) seal() string { return "a" }

func Seal(s Sealed) string { return s.seal() }

func IsSealed(x any) bool { _, ok := x.(Sealed); return ok }

func Make(n int) Base { return Base{n} }
`,
		"example.com/two@v1.0.0/b/b.go": `package b

import "example.com/two/a"

type Sealed interface{ seal() string }

// Field has a field with the name of a promoted method of another package.
type Field struct {
	a.Base
	seal int
}

// Both has two methods with one name.
type Both struct{ a.Sealed }

func (Both) seal() string { return "b" }

type Other struct{}

func (Other) seal() string { return "other" }

func Seal(s Sealed) string { return s.seal() }

func Value(s Sealed) func() string { return s.seal }

func Deferred(s Sealed) (out string) {
	defer func() { out = s.seal() + "!" }()
	return ""
}
`,
		"example.com/two@v1.0.0/other/a/a.go": "package a\n\ntype Base struct{}\n\nfunc Take(Base) {}\n",
	}))
	n.must(t, "%get example.com/two", "example.com/two v1.0.0\n")
	n.must(t, "import (\n\t\"reflect\"\n\t\"example.com/two/a\"\n\t\"example.com/two/b\"\n)", "")
	for _, row := range []struct{ in, want string }{
		{"a.Seal(b.Field{}), a.IsSealed(b.Field{}), a.IsSealed(&b.Field{})", `= "a", true, true`},
		{"a.Seal(b.Both{b.Field{}}), b.Seal(b.Both{b.Field{}}), b.Value(b.Both{b.Field{}})(), b.Deferred(&b.Both{})", `= "a", "b", "b", "b!"`},
		{"a.IsSealed(b.Other{}), b.Seal(b.Other{})", `= false, "other"`},
		{"type Own struct{}\nfunc (Own) seal() string { return \"own\" }\na.IsSealed(Own{})", "= false"},
		{"t := reflect.TypeOf(a.Make(1))\nt.PkgPath(), t.String(), t.Field(0).PkgPath", `= "example.com/two/a", "a.Base", "example.com/two/a"`},
		{"a.Make(2)", "= {hidden:2}"},
		{"a.Make(1) == a.Make(1), a.Make(1) == a.Make(2)", "= true, false"},
		{"a.Make(1).hidden", "! compile error: cell[10]:1:11: a.Make(1).hidden undefined (cannot refer to unexported field hidden)\n    a.Make(1).hidden\n              ^"},
		{"import other \"example.com/two/other/a\"\nother.Take(a.Make(1))", "! compile error: cell[11]:2:12: cannot use a.Make(1) (value of struct type \"example.com/two/a\".Base) as \"example.com/two/other/a\".Base value in argument to other.Take\n    other.Take(a.Make(1))\n               ^"},
	} {
		n.must(t, row.in, row.want)
	}
}
