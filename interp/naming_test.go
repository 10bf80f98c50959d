package interp_test

import (
	"regexp"
	"strings"
	"testing"
)

// A row is a sequence of cells, separated by "---", and their complete output.
type row struct{ name, in, want string }

// predeclared matches the note that TestNoteOfPredeclaredNames tests.
var predeclared = regexp.MustCompile(`(stderr: )?note: \w+ is predeclared in Go: this cell redefines it, also for later cells \(cell\[\d+\]:\d+:\d+\)\n`)

// runRows runs each row.
func runRows(t *testing.T, rows []row) {
	t.Parallel()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			var got strings.Builder
			for _, src := range strings.Split(r.in, "\n---\n") {
				got.WriteString(line(n.run(src)))
			}
			if got := predeclared.ReplaceAllString(got.String(), ""); got != r.want {
				t.Errorf("%s:\n got %q\nwant %q", r.in, got, r.want)
			}
		})
	}
}

func TestAliasMethods(t *testing.T) {
	runRows(t, []row{
		{"of an earlier type", "type Number int32\n---\ntype N2 = Number\nfunc (n N2) Foo() bool { return true }\n---\nfmt.Println(Number(3).Foo())", "true\n"},
		{"used in its cell", "type Number int32\n---\ntype N2 = Number\nfunc (n N2) Foo() bool { return n > 2 }\nfmt.Println(Number(3).Foo(), N2(1).Foo())", "true false\n"},
		{"type redefined later", "type Number int32\n---\ntype N2 = Number\nfunc (n N2) Foo() bool { return true }\n---\ntype Number int64\n---\nNumber(3).Foo()", "= true\n"},
		{"chain and pointers", "type P struct{ X int }\n---\ntype A = P\ntype B = A\ntype PB = *B\nfunc (b *B) Inc() { b.X++ }\nfunc (b PB) Dec(n int) *P { b.X -= n; return b }\nfunc (b (B)) Get() B { return b }\np := P{4}\np.Inc(); p.Dec(3)\np.Get()", "= {X:2}\n"},
		{"alias of an earlier cell for a pointer", "type P struct{ X int }\ntype PP = *P\n---\nfunc (p PP) Inc() { p.X++ }\np := P{}\np.Inc()\np.X", "= 1\n"},
		{"alias for a pointer in one cell", "type P struct{ X int }\ntype PP = *P\nfunc (p PP) Inc() { p.X++ }\np := P{}\np.Inc()\nvar i interface{ Inc() } = &p\ni.Inc()\np.X", "= 2\n"},
		{"pointer to an alias for a pointer", "type P struct{}\n---\ntype PP = *P\nfunc (p *PP) M() {}", "! compile error: cell[2]:2:6: invalid receiver type *main.PP\n    func (p *PP) M() {}\n         ^\n"},
		{"alias of a dot import", "import . \"time\"\n---\ntype D = Duration\nfunc (d D) M() {}", "! compile error: cell[2]:2:6: cannot define a method on Duration, which is not a type of this notebook\n    func (d D) M() {}\n         ^\n"},
		{"type of a dot import", "import . \"time\"\n---\nfunc (d Duration) M() {}", "! compile error: cell[2]:1:6: cannot define a method on Duration, which is not a type of this notebook\n    func (d Duration) M() {}\n         ^\n"},
		{"alias of an instance", "type S[T any] []T\ntype SI = S[int]\n---\nfunc (s SI) M() {}", "! compile error: cell[2]:1:6: cannot define a method on SI, which is not a type of this notebook\n    func (s SI) M() {}\n         ^\n"},
	})
}

func TestNamesOfBuiltins(t *testing.T) {
	runRows(t, []row{
		{"without a value", "func min(xs ...int) { fmt.Println(\"mine\", len(xs)) }\n---\nmin(1)", "mine 1\n"},
		{"in its cell", "func max(xs ...int) { fmt.Println(\"mine\", len(xs)) }\nmax(1)", "mine 1\n"},
		{"with a value", "func complex(s string) string { return s + \"!\" }\n---\ncomplex(\"a\")", "= \"a!\"\n"},
		{"two values", "real := func(x int) (int, error) { return x, nil }\nreal(3)", "= 3, <nil>\n"},
		{"a variable", "imag := func(x int) { fmt.Println(x) }\n---\nimag(3)", "3\n"},
		{"the builtin", "min(3, 2)\n---\nreal(2i + 1)", "= 2\n= 1\n"},
		{"recover and panic", "func recover() string { return \"mine\" }\nfunc panic(x ...any) { fmt.Println(\"panicked\", x) }\nfunc g() string { defer func() { recover() }(); panic(\"x\"); return recover() }\n---\ng()", "panicked [x]\n= \"mine\"\n"},
		{"len and append", "func len(x int) int { return x * 2 }\nfunc append(a, b string) string { return a + b }\n---\nlen(3), append(\"a\", \"b\")", "= 6, \"ab\"\n"},
	})
}

func TestVariablesNamedLikeTypes(t *testing.T) {
	const s = "type I interface { A() string }\ntype s struct{}\nfunc NewS() (I, error) { return &s{}, nil }\nfunc (c *s) A() string { return \"a\" }\n---\n"
	const T = "type T struct{ n int }\nfunc helper() int { return 1 }\nfunc New() *T { return &T{helper()} }\nfunc (t *T) Get() int { return t.n }\n---\nT := New()\n---\n"
	runRows(t, []row{
		{"constructor", s + "s, _ := NewS()\nfmt.Println(s.A())", "a\n"},
		{"cell run again", s + "s, _ := NewS()\n---\ns, _ := NewS()\ns.A()", "= \"a\"\n"},
		{"variable of another type", s + "s := 5\n---\nx, _ := NewS()\nfmt.Printf(\"%T %s %d\\n\", x, x.A(), s)", "*main.s a 5\n"},
		{"constructor compiled again", T + "func helper() int { return 10 }\nfmt.Println(New().Get(), T.Get())\n---\nfmt.Printf(\"%T\\n\", New())", "10 1\n*main.T\n"},
		{"variable again", T + "var T = New().n\n---\nfunc helper() int { return 30 }\nNew().n + T", "= 31\n"},
		{"type again", T + "type T struct{ n int }\nfunc (t *T) Get() int { return -t.n }\n---\nNew().Get()", "= -1\n"},
		{"generic type", "type list[E any] struct{ items []E }\nfunc newList[E any](xs ...E) *list[E] { return &list[E]{xs} }\nfunc (l *list[E]) Len() int { return len(l.items) }\n---\nlist := newList(1, 2)\n---\nnewList(\"a\").Len() + list.Len()", "= 3\n"},
		{"constant and function", "type kind int\nconst kindA kind = 3\nfunc mk() kind { return kindA }\n---\nconst kind = 4\n---\nfunc kind() string { return \"f\" }\n---\nconst kindA = 5\n---\nkind(), mk()", "= \"f\", 5\n"},
	})
}
