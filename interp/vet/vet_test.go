package vet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"

	quernmodule "github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/vet"
)

// offline provides no modules.
type offline struct{ quernmodule.Source }

var errOffline = errors.New("no network")

func (offline) Resolve(context.Context, string, string) (string, error) { return "", errOffline }
func (offline) GoMod(context.Context, module.Version) ([]byte, error)   { return nil, errOffline }
func (offline) Dir(context.Context, module.Version) (string, error)     { return "", errOffline }

func TestNotebook(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, in string // cells separated by ---
		want     string // findings, one a line
	}{
		{"nothing", "x := 1\nfmt.Println(x)\n---\n\n---\nx + 1", ""},
		{"type error", "x := 1\n---\ny := 2\nx = \"a\" + y", "cell 2:2:5: "},
		{"syntax error", "x := 1\nif {", "cell 1:2:"},
		{"several", "a\nb", "cell 1:1:1: undefined: a\ncell 1:2:1: undefined: b"},
		{"names of a cell with errors", "x, y := f()\ntype T int\nfunc g() {}\n---\nx + y\ng()\n---\nvar t T\nz", "cell 1:1:9: undefined: f\ncell 3:2:1: undefined: z"},
		{"defined again", "x := f()\n---\nx := 1\n---\n%reset\n---\nx", "cell 1:1:6: undefined: f\ncell 4:1:1: undefined: x"},
		{"redefined", "func f(a int) int { return a }\n---\nfunc g() int { return f(1) }\n---\nfunc f(a string) int { return len(a) }", "cell 2:1:25: g: "},
		{"redefined type", "x := 1\n---\nx := \"a\"\n---\nx + 1", "cell 3:1:"},
		{"printf", "fmt.Printf(\"%d\\n\", \"a\")", "cell 1:1:"},
		{"printf wrapper of another cell", "func logf(format string, args ...any) { fmt.Printf(format, args...) }\n---\nlogf(\"%d\", \"a\")", "cell 2:1:7: main.logf format %d"},
		{"method with a wrong signature", "type T struct{ a int `json:a` }\nfunc (T) WriteByte(b byte) {}", "cell 1:1:16: struct field tag `json:a` not compatible\ncell 1:2:10: method WriteByte(b byte) should have signature"},
		{"in a method", "type T struct{}\nfunc (t T) M() {\n\tx := 1\n\tx = x\n\tfmt.Println(x)\n}", "cell 1:4:2: self-assignment of x"},
		{"self-assignment", "x := 1\nx = x", "cell 1:2:1: self-assignment of x"},
		{"copied lock", "var mu sync.Mutex\nother := mu", "cell 1:2:"},
		{"unused result in the middle", "fmt.Sprint(1)\nfmt.Println(2)", "cell 1:1:1: result of fmt.Sprint call not used"},
		{"the result is used", "fmt.Sprint(1)", ""},
		{"cancel in a later cell", "c, cancel := context.WithCancel(ctx)\n---\ncancel()\nc.Err()", ""},
		{"cancel in a function", "func f() context.Context {\n\tc, _ := context.WithCancel(ctx)\n\treturn c\n}", "cell 1:2:5: the cancel function returned by context.WithCancel should be called"},
		{"unreachable", "func f() {\n\treturn\n\tfmt.Println()\n}", "cell 1:3:2: unreachable code"},
		{"unused variable of a function", "func f() {\n\tx := 1\n}", "cell 1:2:2: declared and not used: x, which the Go compiler rejects"},
		{"unused at the top", "x := 1", ""},
		{"repeated", "%timeit -n 1 x := 1 + y\n---\n%%timeit\nfmt.Printf(\"%d\\n\", \"x\")", "cell 1:1:23: undefined: y\ncell 2:2:13: fmt.Printf format %d has arg \"x\" of wrong type string"},
		{"repeated, a result", "%timeit fmt.Sprint(1)", ""},
		{"commands", "!ls /\n%time x := 1\n---\n%%bash\n(\n---\n%who\n---\n%%time\nx += y", "cell 4:2:6: undefined: y"},
		{"no such command", "x := 1\n  %foo", "cell 1:2:3: there is no command %foo"},
		{"shell or Go", "ok := true\n---\n!ok\n---\n!other", ""},
		{"value before a command", "x := 1\n---\nx\n!ls", "cell 2:1:1: x (variable of type int) is not used"},
		{"program", "package main\nimport \"os\"\nfunc main() { println(1) }", "cell 1:2:8: \"os\" imported and not used, which the Go compiler rejects"},
		{"list", "x := 1\nx, fmt.Sprintf(\"%d\", \"a\")", "cell 1:2:"},
		{"unavailable package", "import \"example.com/m\"\n---\nimport \"C\"", "cell 1:1:8: could not import example.com/m (package \"example.com/m\" cannot be imported\ncell 2:1:8: could not import C (cgo is not supported in cells"},
		{"unavailable module", "%get example.com/m@v1.0.0\nimport \"example.com/m\"\n---\nimport \"example.com/m/sub\"\nsub.F()\n---\nz", "cell 1:1:1: %get example.com/m@v1.0.0: \ncell 3:1:1: undefined: z"},
		{"generic", "func Map[T, U any](s []T, f func(T) U) (r []U) {\n\tfor _, x := range s {\n\t\tr = append(r, f(x))\n\t}\n\treturn\n}\n---\nMap([]int{1}, strconv.Itoa)", ""},
		{"may fail", "// raises\nx := := 1\n---\n// raises\n%foo\n---\n// raises\ny\n---\nx", "cell 4:1:1: undefined: x"},
	} {
		var cells []vet.Cell
		for i, src := range strings.Split(row.in, "\n---\n") {
			cells = append(cells, vet.Cell{Number: i + 1, Source: src, MayFail: strings.HasPrefix(src, "// raises")})
		}
		found, err := vet.Notebook(t.Context(), t.TempDir(), cells, offline{})
		var got []string
		for _, f := range found {
			got = append(got, f.String())
		}
		want := strings.Split(row.want, "\n")
		if row.want == "" {
			want = nil
		}
		ok := err == nil && len(got) == len(want)
		for i := 0; ok && i < len(got); i++ {
			ok = strings.HasPrefix(got[i], want[i])
		}
		if !ok {
			t.Errorf("%s: %v\n got %s\nwant %s", row.name, err, strings.Join(got, "\n     "), row.want)
		}
	}
}

// TestImportedWrappers says that functions of imported packages which pass a format on are known: of the notebook's module,
// also if they only call another package, and methods.
func TestImportedWrappers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.com/app\n\ngo 1.25\n",
		"out/out.go":  "package out\n\nimport \"fmt\"\n\nfunc Logf(format string, args ...any) { fmt.Printf(format, args...) }\n\nfunc Plain(format string, args ...any) {}\n",
		"app/main.go": "package app\n\nimport \"example.com/app/out\"\n\ntype App struct{}\n\nfunc (App) Warnf(format string, args ...any) { out.Logf(format, args...) }\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := vet.Notebook(t.Context(), dir, []vet.Cell{
		{Number: 1, Source: "import (\n\t\"example.com/app/app\"\n\t\"example.com/app/out\"\n)\nout.Logf(\"%d\", 1)\nout.Plain(\"%d\", \"a\")"},
		{Number: 2, Source: "out.Logf(\"%d\", \"a\")\napp.App{}.Warnf(\"%d\")"},
	}, offline{})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(found)
	if want := "[cell 2:1:11: example.com/app/out.Logf format %d has arg \"a\" of wrong type string " +
		"cell 2:2:18: (example.com/app/app.App).Warnf format %d reads arg #1, but call has 0 args]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
