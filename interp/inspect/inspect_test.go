package inspect

import (
	"go/importer"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/check"
)

func newSession(t *testing.T, cells ...string) *check.Checker {
	c := check.New(importer.Default(), token.NewFileSet(), check.Guess(func(name string) []string {
		if name == "strings" || name == "fmt" {
			return []string{name}
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

func doc(path, name string) string { return "doc of " + path + " " + name }

func TestAt(t *testing.T) {
	t.Parallel()
	c := newSession(t, "// User is a person\n// with a name.\ntype User struct {\n\tName string\n}\n\n// Greet says hello.\nfunc (u User) Greet() string { return u.Name }\nu := User{}\nconst Limit = 3\nfunc add(a, b int) int { return a + b }")
	for _, row := range []struct {
		name, in string // | is the cursor
		detail   int
		want     string // the plain text
	}{
		{"variable", "u|", 0, "var u User\n\nUser is a person\nwith a name."},
		{"method as documentation writes it", "strings.Builder.Len|", 0, "func (*strings.Builder).Len() int\n\ndoc of strings Builder.Len"},
		{"method of a type of a cell", "User.Greet|", 0, "func (User).Greet() string\n\nGreet says hello."},
		{"field of a type", "User.Name|", 0, "field Name string"},
		{"type", "Us|er{}", 0, "type User struct {\n\tName string\n}\n\nUser is a person\nwith a name."},
		{"type with methods", "User|", 1, "type User struct {\n\tName string\n}\nfunc (User).Greet() string\n\nUser is a person\nwith a name."},
		{"method", "u.Gr|eet()", 0, "func (User).Greet() string\n\nGreet says hello."},
		{"source of a method", "u.Greet|()", 1, "func (u User) Greet() string { return u.Name }\n\nGreet says hello."},
		{"field", "u.Na|me", 0, "field Name string"},
		{"constant", "Limit|", 0, "const Limit untyped int = 3"},
		{"function of a package", "strings.ToUp|per(\"x\")", 0, "func strings.ToUpper(s string) string\n\ndoc of strings ToUpper"},
		{"method of a package", "var b strings.Builder\nb.Wri|teByte('x')", 0, "func (*strings.Builder).WriteByte(c byte) error\n\ndoc of strings Builder.WriteByte"},
		{"type of a package", "strings.Read|er{}", 0, "type Reader struct {\n\t// unexported fields\n}\n\ndoc of strings Reader"},
		{"package", "str|ings.ToUpper(\"x\")", 0, "package strings // import \"strings\"\n\ndoc of strings "},
		{"predeclared function", "imag|(1i)", 0, "func imag(c complex128) float64\n\nimag returns the imaginary part."},
		{"predeclared type", "uint8|(1)", 0, "type uint8\n\nuint8 is an unsigned number of 8 bits, up to 255."},
		{"predeclared value", "x := true|", 0, "const true\n\ntrue is a bool."},
		{"inside of a call", "add(1, |", 0, "func add(a int, b int) int"},
		{"broken cell", "for {{\nu.Gree|t(", 0, "func (User).Greet() string\n\nGreet says hello."},
		{"keyword", "func f() {\n\tdef|er f()\n}", 0, "defer f()\n\ndefer calls a function when the surrounding one ends, also by a panic; the last one first. Its arguments are evaluated at once."},
		{"keyword in a comment", "x := 1 // for|", 0, ""},
		{"local", "func f(n int) { n| }", 0, "var n int"},
		{"nothing", "x|yz", 0, ""},
		{"number", "1|2", 0, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			offset := strings.Index(row.in, "|")
			d, ok := At(c, doc, row.in[:offset]+row.in[offset+1:], offset, row.detail)
			if got := d.Plain(); got != row.want || ok != (row.want != "") {
				t.Errorf("%q\n got %q\nwant %q", row.in, got, row.want)
			}
		})
	}
}

// Each keyword and each predeclared name of Go has a text.
func TestAllWordsOfGo(t *testing.T) {
	t.Parallel()
	c := newSession(t)
	words := types.Universe.Names()
	for k := token.BREAK; k <= token.VAR; k++ {
		words = append(words, k.String())
	}
	for _, word := range words {
		if d, ok := At(c, doc, word, len(word), 0); !ok || !strings.Contains(d.Declaration, word) || !strings.HasPrefix(d.Doc, word) {
			t.Errorf("%s: %+v", word, d)
		}
	}
}

// TestSimilar has misspelled names.
func TestSimilar(t *testing.T) {
	t.Parallel()
	c := newSession(t, "type User struct{ Name string }\nfunc (u User) Greet() {}\nperson := User{}")
	for _, row := range []struct{ in, want string }{
		{"strings.toupper", "strings.ToUpper"},
		{"perzon", "person"},
		{"perzon.Name", "person.Name"},
		{"person.Nam", "person.Name"},
		{"User.Gret", "User.Greet"},
		{"strings.Bilder.Len", "strings.Builder.Len"},
		{"strings.Xyzzy", ""},
		{"qqqqqq", ""},
		{"", ""},
	} {
		if got := Similar(c, row.in); got != row.want {
			t.Errorf("%q: got %q, want %q", row.in, got, row.want)
		}
	}
}

// TestWrapped has a line for each parameter of a long declaration.
func TestWrapped(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		in         string
		parameters int
		want       string
	}{
		{"func f(a int, b int) error", 2, "func f(a int, b int) error"},
		{"func (*packageName.Receiver).Method(first map[string]int, second func(a, b int) (c, d int), third ...string) (n int, err error)", 3,
			"func (*packageName.Receiver).Method(\n\tfirst map[string]int,\n\tsecond func(a, b int) (c, d int),\n\tthird ...string,\n) (n int, err error)"},
		{"func only(f func(first map[string]int, second func(a, b int) (c, d int), third ...string) (n int, err error))", 1,
			"func only(f func(first map[string]int, second func(a, b int) (c, d int), third ...string) (n int, err error))"},
		{"func generic[Key comparable, Value any, Result interface{ Less() bool }](keys []Key, values []Value) []Result", 2,
			"func generic[Key comparable, Value any, Result interface{ Less() bool }](\n\tkeys []Key,\n\tvalues []Value,\n) []Result"},
	} {
		if got := wrapped(row.in, row.parameters); got != row.want {
			t.Errorf("got %s\nwant %s", got, row.want)
		}
	}
}

// TestPredeclared requires a description of each predeclared name.
func TestPredeclared(t *testing.T) {
	t.Parallel()
	for _, name := range types.Universe.Names() {
		if d := predeclared[name]; d.Declaration == "" || d.Doc == "" {
			t.Errorf("no description of %s", name)
		}
	}
	if len(predeclared) != len(types.Universe.Names()) {
		t.Errorf("%d descriptions for %d names", len(predeclared), len(types.Universe.Names()))
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	d := Description{Declaration: "func f()", Doc: "Does it."}
	if got, want := d.Markdown(), "```go\nfunc f()\n```\n\nDoes it."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
