package interp_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/interp/symbols"
)

// folder is a module source with a folder for each module, named path@version.
type folder string

func (f folder) Resolve(_ context.Context, path, query string) (string, error) {
	if query == "latest" {
		return "v1.0.0", nil
	}
	return "", fmt.Errorf("%s has no version %s", path, query)
}

func (f folder) GoMod(_ context.Context, m module.Version) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(f), m.String(), "go.mod"))
}

func (folder) Retracted(context.Context, module.Version) (string, error) { return "", nil }

func (f folder) Dir(_ context.Context, m module.Version) (string, error) {
	return filepath.Join(string(f), m.String()), nil
}

// modules returns a module source with the given files, by their name "path@version/file". A go.mod file gets a go line.
func modules(t *testing.T, files map[string]string) interp.Option {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if filepath.Base(name) == "go.mod" {
			text += "\ngo 1.22\n"
		}
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return interp.Modules(folder(dir))
}

const greetSource = `// Package greet greets.
package greet

import (
	"errors"
	"fmt"

	"example.com/dep"
	"example.com/greet/internal/words"
)

var (
	Greeting = prefix + " " // before prefix in the text, after it in time
	prefix   = words.Hello()
	Loaded   []string
)

func init() { Loaded = append(Loaded, "first", Greeting) }
func init() { Loaded = append(Loaded, "second") }

type Level int

const (
	Low Level = iota
	High
)

func (l Level) String() string { return [...]string{"low", "high"}[l] }

type Error struct {
	Name  string
	level Level
	node  *node
}

type node struct {
	owner *Error
	level Level
}

func (e *Error) Error() string { return "cannot greet " + e.Name + " at " + e.level.String() }

var ErrNobody = errors.New("nobody")

// To greets a person.
func To(name string) (string, error) {
	switch name {
	case "":
		return "", ErrNobody
	case "x":
		e := &Error{Name: name, level: High}
		e.node = &node{owner: e, level: Low}
		if e.node.level != Low || e.level == Low {
			panic("levels")
		}
		return "", fmt.Errorf("wrapped: %w", e)
	}
	return Greeting + dep.Quote(name), nil
}

type Greeter interface{ Greet() string }

func All[T Greeter](list ...T) (out []string) {
	for _, g := range list {
		out = append(out, g.Greet())
	}
	return out
}

func At(list []int, i int) int {
	return list[i]
}
`

func greetModules(t *testing.T) interp.Option {
	return modules(t, map[string]string{
		"example.com/greet@v1.0.0/go.mod":                  "module example.com/greet\nrequire example.com/dep v1.0.0\n",
		"example.com/greet@v1.0.0/greet.go":                greetSource,
		"example.com/greet@v1.0.0/greet_test.go":           "package greet\nsyntax error",
		"example.com/greet@v1.0.0/other_plan9.go":          "package greet\nsyntax error",
		"example.com/greet@v1.0.0/internal/words/words.go": "package words\nfunc Hello() string { return \"hello\" }",
		"example.com/dep@v1.0.0/go.mod":                    "module example.com/dep\n",
		"example.com/dep@v1.0.0/dep.go":                    "package dep\nimport \"strconv\"\nfunc Quote(s string) string { return strconv.Quote(s) }",
		"example.com/dep@v1.1.0/go.mod":                    "module example.com/dep\n",
		"example.com/dep@v1.1.0/dep.go":                    "package dep\nfunc Quote(s string) string { return \"<\" + s + \">\" }\nconst New = true",
		"example.com/bad@v1.0.0/go.mod":                    "module example.com/bad\n",
		"example.com/bad@v1.0.0/bodiless/x.go":             "package bodiless\nfunc F() int\n",
		"example.com/bad@v1.0.0/command/x.go":              "package main\nfunc main() {}\n",
		"example.com/bad@v1.0.0/embeds/x.go":               "package embeds\nimport _ \"embed\"\n//go:embed none.go\nvar X string\n",
		"example.com/bad@v1.0.0/syntax/x.go":               "package syntax\nfunc F( {\n",
		"example.com/bad@v1.0.0/types/x.go":                "package types\nvar X int = \"a\"\n",
		"example.com/bad@v1.0.0/cycle/x.go":                "package cycle\nimport \"example.com/bad/cycle2\"\nvar X = cycle2.X\n",
		"example.com/bad@v1.0.0/cycle2/x.go":               "package cycle2\nimport \"example.com/bad/cycle\"\nvar X = cycle.X\n",
		"example.com/bad@v1.0.0/missing/x.go":              "package missing\nimport \"example.com/none\"\nvar X = none.X\n",
		"example.com/bad@v1.0.0/panics/x.go":               "package panics\nvar X = 1\nfunc init() { panic(\"at the start\") }\n",
		"example.com/bad@v1.0.0/cgo/x.go":                  "package cgo\nimport \"C\"\n",
	})
}

func TestModule(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, greetModules(t))
	for _, row := range []struct{ in, want string }{
		{"%get example.com/greet@v1.0.0\nimport \"example.com/greet\"\ngreet.To(\"you\")", "example.com/greet v1.0.0\n= \"hello \\\"you\\\"\", <nil>"},
		{"greet.Loaded", "= [first hello  second]"},
		{"greet.Greeting = \"hi \"\ngreet.To(\"you\")", "= \"hi \\\"you\\\"\", <nil>"},
		{"_, e := greet.To(\"x\")\nvar g *greet.Error\nfmt.Printf(\"%v %T %v\\n\", e, g, errors.As(e, &g))\ng.Name", "wrapped: cannot greet x at high *greet.Error true\n= \"x\""},
		{"_, e = greet.To(\"\")\nerrors.Is(e, greet.ErrNobody)", "= true"},
		{"greet.High, greet.Level(0)", "= high, low"},
		{"type me string\nfunc (m me) Greet() string { return \"I am \" + string(m) }\ngreet.All(me(\"a\"), me(\"b\"))", "= [I am a I am b]"},
		{"import other \"example.com/greet\"\nother.Greeting", "= \"hi \""},
		{"import \"example.com/dep\"\ndep.Quote(\"a\")", "= \"\\\"a\\\"\""},
		{"%get example.com/dep@v1.1.0\nimport \"example.com/dep\"\ndep.Quote(\"a\"), dep.New", "example.com/dep v1.1.0\nstderr: note: package example.com/greet, or one that it imports, has changed, " +
			"and its variables are initialized again: ErrNobody, Greeting, Loaded, prefix\n= \"<a>\", true"},
		{"greet.To(\"you\")", "= \"hello <you>\", <nil>"},
		{"greet.None()", "! compile error: cell[12]:1:7: undefined: greet.None\n    greet.None()\n          ^"},
		{"%get fmt", "fmt, which is compiled in\n"},
	} {
		n.must(t, row.in, row.want)
	}
	if got := n.run("%get example.com/nothing@v1.0.0"); !strings.Contains(got, "! compile error: cell[14]:1:1: %get example.com/nothing@v1.0.0: ") {
		t.Errorf("got %q", got)
	}
}

// %get accepts the path of a package, and downloads modules of which some packages are compiled
// in.
func TestModuleOfPackage(t *testing.T) {
	t.Chdir(t.TempDir())                            // the checksums of this module are not those of the test's
	own := symbols.Offering()["gonum.org/v1/gonum"] // test binaries know versions since Go 1.27
	version := cmp.Or(own, "v1.0.0")
	compiled := "gonum.org/v1/gonum/floats, which is compiled in"
	if own != "" {
		compiled += ", of " + own
	}
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/deep@v1.0.0/go.mod":                  "module example.com/deep\n",
		"example.com/deep@v1.0.0/in/side/side.go":         "package side\nconst X = 7\n",
		"gonum.org/v1/gonum@" + version + "/go.mod":       "module gonum.org/v1/gonum\n",
		"gonum.org/v1/gonum@" + version + "/made/made.go": "package made\nimport \"gonum.org/v1/gonum/floats\"\nfunc Sum() float64 { return floats.Sum([]float64{1, 2}) }\n",
	}))
	for _, row := range []struct{ in, want string }{
		{"%get example.com/deep/in/side@v1.0.0\nimport \"example.com/deep/in/side\"\nside.X", "example.com/deep v1.0.0\n= 7"},
		{"%get example.com/deep/in/side", "example.com/deep v1.0.0\n"},
		{"%get gonum.org/v1/gonum/floats", compiled + "\n"},
		{"%get gonum.org/v1/gonum\nimport \"gonum.org/v1/gonum/made\"\nmade.Sum()", "gonum.org/v1/gonum " + version + "\n= 3"},
		{"%get gonum.org/v1/gonum/made", "gonum.org/v1/gonum " + version + "\n"},
		{"%get github.com/quernlab/quern", "github.com/quernlab/quern, which is compiled in\n"},
		{"%get archive", "archive, which is compiled in\n"},
	} {
		n.must(t, row.in, row.want)
	}
	if got := n.run("%get example.com/deep/out@v1.0.0"); !strings.Contains(got, "%get example.com/deep/out@v1.0.0: module example.com/deep@v1.0.0 has no package example.com/deep/out") {
		t.Errorf("got %q", got)
	}
}

// The traceback of a panic has its position in a module.
func TestModuleTraceback(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, greetModules(t))
	_, err := n.Execute(context.Background(), 1, "%get example.com/greet\nimport \"example.com/greet\"\ngreet.At(nil, 3)")
	e, ok := err.(*interp.Error)
	if !ok {
		t.Fatal(err)
	}
	got := color.ReplaceAllString(strings.Join(e.Traceback, "\n"), "")
	before, _, _ := strings.Cut(greetSource, "return list[i]")
	want := fmt.Sprintf("cell[1]:3:1\n    greet.At(nil, 3)\nexample.com/greet@v1.0.0/greet.go:%d:9 in At\nruntime error: index out of range", 1+strings.Count(before, "\n"))
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A module that cannot be interpreted is rejected with a clear message, and the session
// continues.
func TestModuleRefused(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, greetModules(t))
	n.must(t, "%get example.com/bad", "example.com/bad v1.0.0\n")
	for _, row := range []struct{ name, want string }{
		{"bodiless", "the function F has no body in Go"},
		{"command", "it is a program"},
		{"embeds", "no matching files found"},
		{"syntax", "syntax/x.go:2:9: "},
		{"types", "types/x.go:2:13: cannot use \"a\""},
		{"cycle", "import cycle: example.com/bad/cycle imports example.com/bad/cycle2 imports example.com/bad/cycle"},
		{"missing", "package \"example.com/none\" cannot be imported"},
		{"panics", "at the start"},
		{"cgo", "cgo"},
	} {
		got := n.run("import x \"example.com/bad/" + row.name + "\"\nx.X")
		if !strings.HasPrefix(got, "! compile error: ") || !strings.Contains(got, row.want) || !strings.Contains(got, "example.com/bad/") {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
		n.must(t, "1 + 1", "= 2")
	}
}

const lazySource = `package lazy

import (
	"fmt"
	"unsafe"
)

var Log []string

func note(s string) int { Log = append(Log, s); return len(Log) }

var (
	Once    = note("variable")
	Table   = []int{1, 2, 3}
	Pointer = &Table
	Unset   int
)

func init() { note("init") }

type Shape interface{ Area() float64 }

type Square struct{ Side float64 }

func (s Square) Area() float64   { return s.Side * s.Side }
func (s Square) String() string  { return fmt.Sprintf("square of %g", s.Side) }
func (s *Square) Scale(k float64) { s.Side *= k }

type Circle struct{ Square }

func New(side float64) any { return Square{side} }

func Total(shapes ...Shape) (sum float64) {
	for _, s := range shapes {
		sum += s.Area()
	}
	return sum
}

func Change() { Table[0] = 9; Unset = 5 }

func Even(n int) bool { return n == 0 || Odd(n-1) }
func Odd(n int) bool  { return n != 0 && Even(n-1) }

type Length int

func (l Length) String() string { return fmt.Sprint(int(l), " m") }

func Takes(l Length) {}

type Box[T any] struct{ value T }

func (b *Box[T]) Get() T { return b.value }

func Boxed[T any](value T) *Box[T] { return &Box[T]{value} }

func Sum[S ~[]T, T Shape](list S) (sum float64) {
	for _, s := range list {
		sum += s.Area()
	}
	return sum
}

func Nested() (n struct{ Inner struct{ Deep Length } }) {
	n.Inner.Deep = 3
	return n
}

// Bad cannot be interpreted.
func Bad() (n uintptr) {
	for i := range func(yield func(int) bool) { yield(1) } {
		n = uintptr(unsafe.Pointer(&i))
	}
	return n
}

func Good() string { return "good" }
`

func lazyModules(t *testing.T) interp.Option {
	return modules(t, map[string]string{
		"example.com/lazy@v1.0.0/go.mod":     "module example.com/lazy\n",
		"example.com/lazy@v1.0.0/lazy.go":    lazySource,
		"example.com/lazy@v1.0.0/top/top.go": "package top\nimport \"example.com/lazy\"\ntype Named struct{ lazy.Circle }\nfunc Both() float64 { return lazy.Total(Named{}, lazy.Square{2}) }\nfunc Broken() { lazy.Bad() }\n",
	})
}

// Parts of a package that only later cells use work as if the whole package had run with the
// first cell.
func TestModuleInParts(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, lazyModules(t))
	for _, row := range []struct{ in, want string }{
		{"%get example.com/lazy\nimport \"example.com/lazy\"\nlazy.Log, lazy.Once", "example.com/lazy v1.0.0\n= [variable init], 1"},
		{"lazy.Even(10), lazy.Odd(10)", "= true, false"},
		{"s := lazy.New(3)\nfmt.Println(s)\nreflect.TypeOf(s).NumMethod()", "square of 3\n= 2"},
		{"s.(lazy.Shape).Area()", "= 9"},
		{"q := s.(lazy.Square)\nq.Scale(2)\nq", "= square of 6"},
		{"lazy.Table[1] = 7\n(*lazy.Pointer)[1]", "= 7"},
		{"lazy.Change()\nlazy.Table, lazy.Unset, &lazy.Table == lazy.Pointer", "= [9 7 3], 5, true"},
		{"import \"example.com/lazy/top\"\ntop.Both()", "= 4"},
		{"lazy.Total(top.Named{lazy.Circle{lazy.Square{1}}}, &lazy.Circle{})", "= 1"},
		{"lazy.Log", "= [variable init]"},
	} {
		n.must(t, row.in, row.want)
	}
}

// A cell gets all parts of a package that it uses, whichever way it uses them.
func TestModuleUses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ cells, want string }{
		{"var s lazy.Square\n---\ns.Scale(2)\ns, s.Area()", "= square of 0, 0"},
		{"var (\n\ta, b *lazy.Circle\n\tc []lazy.Square\n)\n---\na == b, append(c, lazy.Square{2})[0].Area()", "= true, 4"},
		{"type own struct{ lazy.Circle }\n---\no := own{}\no.Scale(3)\nfmt.Sprint(o)", "= \"square of 0\""},
		{"type same = lazy.Square\n---\nfmt.Sprint(same{1})", "= \"square of 1\""},
		{"func area(s lazy.Shape) float64 { return s.Area() }\n---\narea(lazy.Square{3})", "= 9"},
		{"func get() (s lazy.Square) { return }\n---\nget()", "= square of 0"},
		{"const side lazy.Length = 2\n---\nfmt.Sprint(side)", "= \"2 m\""},
		{"m := map[lazy.Length][]lazy.Square{}\n---\nm[1] = append(m[1], lazy.Square{1})\nm", "= map[1 m:[square of 1]]"},
		{"f := lazy.Square.Area\n---\nf(lazy.Square{2})", "= 4"},
		{"p := new(lazy.Square)\n---\nf := p.Scale\nf(1)\nfmt.Sprint(p)", "= \"square of 0\""},
		{"b := lazy.Boxed(lazy.Square{2})\n---\nb.Get()", "= square of 2"},
		{"type list[T lazy.Shape] []T\nvar l list[lazy.Square]\n---\nlazy.Sum(append(l, lazy.Square{2}))", "= 4"},
		{"x := lazy.Nested().Inner.Deep\n---\nfmt.Sprint(x)", "= \"3 m\""},
		{"var ch chan lazy.Length\n---\nch = make(chan lazy.Length, 1)\nch <- 4\nfmt.Sprint(<-ch)", "= \"4 m\""},
		{"var i interface{ At() lazy.Length }\n---\ni == nil, fmt.Sprint(lazy.Length(1))", "= true, \"1 m\""},
		{"var fn func(lazy.Length) lazy.Square\n---\nfn = func(l lazy.Length) lazy.Square { return lazy.Square{float64(l)} }\nfn(5)", "= square of 5"},
		{"q := lazy.Square{2}\nq.Scale(2)\n---\nfmt.Println(q)\nq", "square of 4\n= square of 4"},
		{"q := lazy.Square{2}\nq.Area()\n---\nvar s lazy.Shape = &q\ns.Area(), fmt.Sprint(s)", "= 4, \"square of 2\""},
		{"c := lazy.Circle{}\nc.Side = 3\nc.Area()\n---\nlazy.Total(c, &c), fmt.Sprint(c)", "= 18, \"square of 3\""},
		{"q := lazy.Square{2}\nf := q.Area\nf()\n---\nreflect.ValueOf(&q).MethodByName(\"Scale\").Call([]reflect.Value{reflect.ValueOf(5.0)})\nq", "= square of 10"},
		{"list := []lazy.Square{{3}}\nlist[0].Side++\n---\nfmt.Sprintf(\"%v %v\", list, map[int]lazy.Square{1: {1}})", "= \"[square of 4] map[1:square of 1]\""},
		{"type pair struct{ A lazy.Square }\np := pair{}\np.A.Side = 2\n---\np", "= {A:square of 2}"},
		{"func show[T any](x T) string { return fmt.Sprint(x) }\nq := lazy.Square{2}\n---\nshow(q), show([]lazy.Length{1})", "= \"square of 2\", \"[1 m]\""},
		{"type own struct{ *lazy.Circle }\no := own{&lazy.Circle{}}\n---\nvar s lazy.Shape = o\no.Scale(2)\ns.Area()", "= 0"},
		{"q := lazy.Square{2}\n---\nt := template.Must(template.New(\"\").Parse(\"{{.}} {{.Area}}\"))\nvar b strings.Builder\nerr := t.Execute(&b, q)\nb.String(), err", "= \"square of 2 4\", <nil>"},
		{"reflect.TypeOf(lazy.Takes).In(0).NumMethod()\n---\nfmt.Sprint(reflect.New(reflect.TypeOf(lazy.Takes).In(0)).Elem())", "= \"0 m\""},
	} {
		n := newNotebook(t, lazyModules(t))
		n.must(t, "%get example.com/lazy", "example.com/lazy v1.0.0\n")
		got := ""
		for i, cell := range strings.Split(row.cells, "\n---\n") {
			got = n.run("import \"example.com/lazy\"\n" + cell)
			if i == 0 && strings.HasPrefix(got, "!") {
				t.Errorf("%s: %s", cell, got)
			}
		}
		if got != row.want {
			t.Errorf("%s\ngot  %s\nwant %s", row.cells, got, row.want)
		}
	}
}

// A function that cannot be interpreted is rejected by the cell that first uses it; the rest of
// the package works.
func TestModulePartRefused(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, lazyModules(t))
	n.must(t, "%get example.com/lazy\nimport \"example.com/lazy\"\nlazy.Good()", "example.com/lazy v1.0.0\n= \"good\"")
	for _, cell := range []string{"lazy.Bad()", "f := lazy.Bad\nf()", "import \"example.com/lazy/top\"\ntop.Broken()", "lazy.Bad()"} {
		got := n.run(cell + "\nlazy.Total()")
		if !strings.HasPrefix(got, "! panic: example.com/lazy.Bad cannot be called: package example.com/lazy cannot be interpreted: example.com/lazy@v1.0.0/lazy.go:") || !strings.Contains(got, "an address in the body of a range over a function is not supported in a cell") || !strings.Contains(got, "; with Go installed, %get -compiled example.com/lazy builds a worker with it") {
			t.Errorf("%s: %q", cell, got)
		}
		n.must(t, "lazy.Good()", "= \"good\"")
	}
	n.must(t, "import \"example.com/lazy/top\"\ntop.Both(), lazy.Total(lazy.Square{1}), lazy.Log", "= 4, 1, [variable init]")
}

// A package runs when a cell imports it, and not when a completion or a cell that does not
// compile has loaded it.
func TestModuleRuns(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/loud@v1.0.0/go.mod":         "module example.com/loud\n",
		"example.com/loud@v1.0.0/loud.go":        "package loud\nimport (\"fmt\"; _ \"example.com/loud/inner\")\nfunc init() { fmt.Println(\"outer\") }\n",
		"example.com/loud@v1.0.0/inner/inner.go": "package inner\nimport \"fmt\"\nfunc init() { fmt.Println(\"inner\") }\n",
	}))
	n.must(t, "%get example.com/loud", "example.com/loud v1.0.0\n")
	if got := n.run("import _ \"example.com/loud\"\nnone"); !strings.Contains(got, "undefined: none") || strings.Contains(got, "outer") {
		t.Errorf("got %q", got)
	}
	n.Complete("import \"example.com/loud\"\nloud.", 29)
	n.must(t, "1 + 1", "= 2")
	n.must(t, "import _ \"example.com/loud/inner\"", "inner\n")
	n.must(t, "import _ \"example.com/loud\"", "outer\n")
	n.must(t, "import _ \"example.com/loud\"\n1 + 1", "= 2")
}

// waiting is a module source that returns a module only after something was displayed.
type waiting struct {
	folder
	shown <-chan string
	bar   *string
}

func (w waiting) Resolve(ctx context.Context, path, query string) (string, error) {
	*w.bar = <-w.shown
	return w.folder.Resolve(ctx, path, query)
}

// A download of a module that takes longer than a second shows a progress bar, and so does the
// compilation of its packages.
func TestModuleHasABar(t *testing.T) {
	shown := make(chan string, 100)
	previous := display.SetSink(display.SinkFunc(func(m display.Message) {
		text, _ := m.Data["text/plain"].(string)
		shown <- text
	}))
	t.Cleanup(func() { display.SetSink(previous) })
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	for name, text := range map[string]string{
		"example.com/slow@v1.0.0/go.mod": "module example.com/slow\n",
		"example.com/slow@v1.0.0/slow.go": fmt.Sprintf(`package slow
import "os"
func init() {
	for {
		if _, err := os.Stat(%q); err == nil {
			return
		}
	}
}
const X = 1
`, seen),
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var bar string
	n := newNotebook(t, interp.Modules(waiting{folder(dir), shown, &bar}))
	n.must(t, "%get example.com/slow", "example.com/slow v1.0.0\n")
	if !strings.HasPrefix(bar, "%get [....") || !strings.Contains(bar, "] 0/1  00:") || !strings.Contains(bar, "example.com/slow") {
		t.Errorf("while it is fetched: %q", bar)
	}
	<-shown // the end of that bar
	compiling := make(chan string, 1)
	go func() {
		bar := <-shown
		for !strings.HasPrefix(bar, "compiling") {
			bar = <-shown // of reading, on a busy machine
		}
		compiling <- bar
		if err := os.WriteFile(seen, nil, 0o644); err != nil {
			t.Error(err)
		}
	}()
	n.must(t, "import \"example.com/slow\"\nslow.X", "= 1")
	if bar := <-compiling; !strings.HasPrefix(bar, "compiling packages [....") || !strings.Contains(bar, "] 0/1  00:") || !strings.Contains(bar, "example.com/slow") {
		t.Errorf("while it is compiled: %q", bar)
	}
}

// A function of a module that gives encoding/xml a type that it would not handle is an error only when it runs.
func TestModuleXML(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/rules@v1.0.0/go.mod": "module example.com/rules\n",
		"example.com/rules@v1.0.0/rules.go": `package rules

import "encoding/xml"

type Rule struct {
	Name string
	Kind interface{ Kind() string }
}

type Strict struct{}

func (Strict) Kind() string { return "strict" }

func (Strict) MarshalText() ([]byte, error) { return []byte("STRICT"), nil }

func (r Rule) Text() (string, error) {
	text, err := xml.Marshal(r)
	return string(text), err
}
`,
	}))
	n.must(t, "%get example.com/rules\nimport \"example.com/rules\"\nr := rules.Rule{\"a\", rules.Strict{}}\nr.Name", "example.com/rules v1.0.0\n= \"a\"")
	n.must(t, "r.Text()", `= "<Rule><Name>a</Name><Kind>STRICT</Kind></Rule>", <nil>`)
}
