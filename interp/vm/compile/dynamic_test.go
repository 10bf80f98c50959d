package compile_test

import (
	"context"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// TestReplacedMethods calls methods through interfaces while later cells replace them, and declare other types with the same
// names.
func TestReplacedMethods(t *testing.T) {
	cells := []struct{ source, want string }{
		{"type S interface{ M(int) string }\ntype T struct{ n int }\nfunc (t T) M(i int) string { return fmt.Sprint(\"T\", t.n, i) }\nfunc (t *U) M(i int) string { t.n += i; return fmt.Sprint(\"U\", t.n) }\ntype U struct{ n int }", ""},
		{"func all(list []S) (out string) {\nfor i, s := range list {\nout += s.M(i)\n}\nreturn\n}\nu := &U{1}\nlist := []S{T{1}, u, T{2}}", ""},
		{"fmt.Print(all(list), all(list))", "T1 0U2T2 2T1 0U3T2 2"},
		{"func (t T) M(i int) string { return fmt.Sprint(\"new\", t.n) }", ""},
		{"fmt.Print(all(list))", "new1U4new2"},
		{"func (t T) M(i int) string { defer func() { recover() }(); return fmt.Sprint(\"deferred\", t.n) }", ""},
		{"fmt.Print(all(list))", "deferred1U5deferred2"},
		{"func (t T) M(i int) string { return \"last\" }\nfmt.Print(all(list))", "lastU6last"},
		{"type V struct{ *U }\nlist = append(list, V{u}, &V{u})\nfmt.Print(all(list))", "lastU7lastU10U14"},
		{"func is(x any) string { switch x.(type) { case T: return \"T\"; case *U: return \"U\" }; return \"?\" }\nfmt.Print(is(list[0]), is(u), is(3))", "TU?"},
		{"old := list[0]\ntype T struct{ s string }\nfmt.Print(is(old), is(T{}))", "?T"},
	}
	var out strings.Builder
	s, err := interp.New(interp.Stdout(&out), interp.Stderr(&out))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cells {
		out.Reset()
		if _, err := s.Execute(context.Background(), i+1, c.source); err != nil || out.String() != c.want {
			t.Errorf("%s\ngot %s, want %s, error %v", c.source, out.String(), c.want, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
