package interp_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"

	"github.com/quernlab/quern/interp"
)

// folder is a module source: a folder for each module, path@version.
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

func (f folder) Dir(_ context.Context, m module.Version) (string, error) {
	return filepath.Join(string(f), m.String()), nil
}

// modules writes files, by name "path@version/file".
func modules(t *testing.T, files map[string]string) interp.Option {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
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

// To greets somebody.
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
		"example.com/bad@v1.0.0/embeds/x.go":               "package embeds\nimport _ \"embed\"\n//go:embed x.go\nvar Text string\n",
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
		{"%get example.com/dep@v1.1.0\nimport \"example.com/dep\"\ndep.Quote(\"a\"), dep.New", "example.com/dep v1.1.0\n= \"<a>\", true"},
		{"greet.None()", "! compile error: cell[11]:1:7: undefined: greet.None\n    greet.None()\n          ^"},
		{"%get fmt", "fmt, which is compiled in\n"},
	} {
		n.must(t, row.in, row.want)
	}
	if got := n.run("%get example.com/nothing@v1.0.0"); !strings.Contains(got, "! compile error: cell[13]:1:1: %get example.com/nothing@v1.0.0: ") {
		t.Errorf("got %q", got)
	}
}

// TestModuleTraceback says that a panic tells its place in a module.
func TestModuleTraceback(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, greetModules(t))
	_, err := n.Execute(context.Background(), 1, "%get example.com/greet\nimport \"example.com/greet\"\ngreet.At(nil, 3)")
	e, ok := err.(*interp.Error)
	if !ok {
		t.Fatal(err)
	}
	got := colour.ReplaceAllString(strings.Join(e.Traceback, "\n"), "")
	before, _, _ := strings.Cut(greetSource, "return list[i]")
	want := fmt.Sprintf("cell[1]:3:1\n    greet.At(nil, 3)\nexample.com/greet@v1.0.0/greet.go:%d:9 in At\nruntime error: index out of range", 1+strings.Count(before, "\n"))
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestModuleRefused says that what cannot be interpreted is refused in plain words,
// and that the session goes on.
func TestModuleRefused(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, greetModules(t))
	n.must(t, "%get example.com/bad", "example.com/bad v1.0.0\n")
	for _, row := range []struct{ name, want string }{
		{"bodiless", "the function F has no body in Go"},
		{"command", "it is a program"},
		{"embeds", "it embeds files"},
		{"syntax", "syntax/x.go:2:9: "},
		{"types", "types/x.go:2:13: cannot use \"a\""},
		{"cycle", "it imports itself"},
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
