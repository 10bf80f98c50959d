package complete

import (
	"fmt"
	"go/importer"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/check"
)

var paths = []string{"bytes", "fmt", "math/rand/v2", "net/http", "net/http/httptest", "strings"}

// newSession returns a checker that imports the export data of the local toolchain.
func newSession(t testing.TB, cells ...string) *check.Checker {
	c := check.New(importer.Default(), token.NewFileSet(), check.Guess(func(name string) []string {
		for _, p := range paths {
			if packageName(p) == name {
				return []string{p}
			}
		}
		return nil
	}))
	for i, src := range cells {
		cell, err := c.Check(t.Context(), i+1, src)
		if err != nil {
			t.Fatal(err)
		}
		c.Commit(cell)
	}
	return c
}

var session = []string{
	"import \"strings\"",
	"type Base struct{ ID int }\nfunc (b *Base) Save() {}\ntype User struct {\n\tBase\n\tName string\n\tage int\n}\nfunc (u User) Greet() string { return u.Name }\nu := User{}\nusers := []*User{&u}\ncount := 0",
}

// In each row, | marks the cursor.
var rows = []struct {
	name, in string
	want     []string // must be proposed, in any order
	not      []string // must not be proposed
}{
	{"package", "strings.ToU|", []string{"ToUpper", "ToUpperSpecial"}, []string{"Title"}},
	{"package without import", "bytes.NewB|", []string{"NewBuffer", "NewBufferString"}, nil},
	{"members", "u.|", []string{"Base", "ID", "Name", "age", "Greet", "Save"}, []string{"count"}},
	{"members of an element", "users[0].N|", []string{"Name"}, []string{"age"}},
	{"compiled value", "var b strings.Builder\nb.Write|", []string{"Write", "WriteString"}, []string{"buf"}},
	{"session names", "co|", []string{"count", "const", "continue", "copy", "complex"}, []string{"u"}},
	{"locals", "func f(first int) {\n\tfinal := 1\n\tfi|\n}", []string{"first", "final"}, []string{"count"}},
	{"local after the cursor", "func f() {\n\tlo|\n\tlocal := 1\n}", nil, []string{"local"}},
	{"variables of the cell", "total := 1\nto|", []string{"total"}, nil},
	{"broken loop", "for i, t := range users { t.|", []string{"Name", "Greet"}, nil},
	{"broken call", "fmt.Println(u.Na|", []string{"Name"}, nil},
	{"broken line after", "u.Na|\nif x {{ ]", []string{"Name"}, nil},
	{"keyword", "ret|", []string{"return"}, nil},
	{"struct literal", "v := User{Na|}", []string{"Name"}, nil},
	{"struct literal second key", "v := User{Name: \"\", |}", []string{"age", "Base"}, []string{"Name"}},
	{"value of a key", "v := User{Name: co|}", []string{"count"}, []string{"age"}},
	{"import path", "import \"net/ht|", []string{"net/http", "net/http/httptest"}, []string{"fmt"}},
	{"package names", "ra|", []string{"rand", "range"}, nil},
	{"other case", "strings.toup|", []string{"ToUpper"}, nil},
	{"comment", "// co|", nil, []string{"count"}},
	{"string", "s := \"co|\"", nil, []string{"count"}},
	{"number", "x := 12|", nil, []string{"count"}},
	{"method expression", "User.|", []string{"Greet"}, []string{"Name"}},
	{"after a multi-byte name", "π := u\nπ.Na|", []string{"Name"}, nil},
	{"list of expressions", "count, u.Na|", []string{"Name"}, nil},
	{"generic", "type Box[T any] struct{ Value T }\nb := Box[User]{}\nb.Value.Na|", []string{"Name"}, nil},
}

func TestAt(t *testing.T) {
	t.Parallel()
	c := newSession(t, session...)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			offset := strings.Index(row.in, "|")
			src := row.in[:offset] + row.in[offset+1:]
			start, end, items := At(c, paths, src, offset)
			if start > offset || end < offset || end > len(src) {
				t.Fatalf("range %d to %d around %d", start, end, offset)
			}
			var got []string
			for _, i := range items {
				got = append(got, i.Text)
			}
			for _, w := range row.want {
				if !slices.Contains(got, w) {
					t.Errorf("%q: no %s in %v", row.in, w, got)
				}
			}
			for _, n := range row.not {
				if slices.Contains(got, n) {
					t.Errorf("%q: %s in %v", row.in, n, got)
				}
			}
		})
	}
}

func TestItem(t *testing.T) {
	t.Parallel()
	c := newSession(t, session[0], session[1], "func isBlank(rune) bool { return false }")
	for _, row := range []struct {
		in   string
		want Item
	}{
		{"u.Gr", Item{"Greet", "function", "func() string", "Greet()$0"}},
		{"u.Na", Item{"Name", "field", "string", ""}},
		{"us", Item{"users", "instance", "[]*User", ""}},
		{"Use", Item{"User", "type", "struct{Base; Name string; age int}", ""}},
		{"strin", Item{"string", "type", "", ""}},
		{"strings.ToUpper", Item{"ToUpper", "function", "func(s string) string", "ToUpper(${1:s})$0"}},
		{"htt", Item{"http", "module", "net/http", ""}},
		{"app", Item{"append", "function", "", "append(${1})$0"}},
		{"strings.Rep", Item{"Repeat", "function", "func(s string, count int) string", "Repeat(${1:s}, ${2:count})$0"}},
		{"fmt.Println", Item{"Println", "function", "func(a ...any) (n int, err error)", "Println(${1})$0"}},
		{"fmt.Printf", Item{"Printf", "function", "func(format string, a ...any) (n int, err error)", "Printf(${1:format})$0"}},
		{"User.Gr", Item{"Greet", "function", "func() string", ""}},
		{"strings.Map(strings.ToV", Item{"ToValidUTF8", "function", "func(s string, replacement string) string", "ToValidUTF8(${1:s}, ${2:replacement})$0"}},
		{"strings.IndexFunc(\"\", isB", Item{"isBlank", "function", "func(rune) bool", ""}},
		{"isB", Item{"isBlank", "function", "func(rune) bool", "isBlank(${1:rune})$0"}},
	} {
		_, _, items := At(c, paths, row.in, len(row.in))
		if len(items) == 0 || items[0] != row.want {
			t.Errorf("%q: got %v, want %v first", row.in, items, row.want)
		}
	}
}

// TestWhatFitsComesFirst completes where a type is expected. In each row, | marks the cursor.
func TestWhatFitsComesFirst(t *testing.T) {
	t.Parallel()
	c := newSession(t, session[0], session[1], "width, label, ready, factor := 3, \"a\", true, 2.5\nheight := 4\n"+
		"type Option interface{ apply() }\ntype one struct{}\nfunc (one) apply() {}\nfunc Deep(n int) Option { return one{} }\nfunc Wide() Option { return one{} }\n"+
		"func Fit(name string, n int, options ...Option) {}\nfunc half(n int) float64 { return 0 }\nsizes := map[string]int{}\nvar last []Option")
	for _, row := range []struct{ name, in, want string }{
		{"first argument", "Fit(|", "label"},
		{"second argument", "Fit(label, |", "height width count"},
		{"options", "Fit(label, 1, |", "Wide Deep"},
		{"spread options", "Fit(label, 1, la|)", "last label"},
		{"package of the type", "var b strings.Builder = |", "strings"},
		{"package of a pointer", "var r *strings.Reader = |", "nil strings"},
		{"append to", "last = append(|", "last users"},
		{"appended", "last = append(last, |", "Wide Deep"},
		{"length", "len(|", "last sizes label users"},
		{"type of a variable", "var v strings.|", "Builder Reader Replacer Clone"},
		{"type of a parameter", "func g(x |", "one Option User Base any"},
		{"type of an element", "x := map[string]|", "one Option User Base any"},
		{"made", "type list []int\nx := make(|", "list"},
		{"key to delete", "delete(sizes, |", "label"},
		{"range", "for range |", "last sizes label users"},
		{"further options", "Fit(label, 1, Deep(2), |)", "Wide Deep"},
		{"package members", "strings.Repeat(strings.|", "Clone Join Map Repeat Replace"},
		{"assignment", "label = |", "label"},
		{"variable with a type", "var x float64 = |", "factor half"},
		{"condition", "if | {\n}", "ready"},
		{"comparison", "width < |", "height width count"},
		{"field", "v := User{Name: |}", "label"},
		{"element", "last = []Option{|}", "Wide Deep"},
		{"value of a map", "x := map[string]float64{\"a\": |}", "factor half"},
		{"key", "sizes[|]", "label"},
		{"result", "func f() string { return | }", "f label"},
		{"result of a literal", "f := func() (int, string) { return 1, | }", "label"},
		{"anything", "fmt.Println(|", "Base Deep Fit"},
	} {
		t.Run(row.name, func(t *testing.T) {
			offset := strings.Index(row.in, "|")
			_, _, items := At(c, paths, row.in[:offset]+row.in[offset+1:], offset)
			var got []string
			for _, i := range items[:min(len(items), strings.Count(row.want, " ")+1)] {
				got = append(got, i.Text)
			}
			if strings.Join(got, " ") != row.want {
				t.Errorf("%s: got %v first, want %s", row.in, got, row.want)
			}
		})
	}
}

// TestNoSideEffects checks that completing a method declaration does not declare the method.
func TestNoSideEffects(t *testing.T) {
	t.Parallel()
	c := newSession(t, session...)
	src := "func (u User) New() { u. }"
	At(c, paths, src, len("func (u User) New() { u."))
	if _, err := c.Check(t.Context(), 9, "u.New()"); err == nil {
		t.Error("the method of a cell that was only completed exists")
	}
}

func BenchmarkAt(b *testing.B) {
	cells := slices.Clone(session)
	for i := range 300 {
		cells = append(cells, fmt.Sprintf("var v%d = 1", i))
	}
	c := newSession(b, cells...)
	for b.Loop() {
		At(c, paths, "for i, t := range users { t.", 28)
	}
}
