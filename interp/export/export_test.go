package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/golden"
	"github.com/quernlab/quern/internal/testenv"
	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/interp/export"
	"github.com/quernlab/quern/interp/module"
)

// none provides no modules.
type none struct{ module.Source }

// notebooks returns the notebooks in testdata. Each cell begins with a line "-- tags --", which contains
// its tags or "markdown".
func notebooks(t *testing.T, pattern string) map[string][]export.Cell {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	all := map[string][]export.Cell{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))] = cells(string(b))
	}
	return all
}

func cells(text string) []export.Cell {
	var list []export.Cell
	for line := range strings.Lines(text) {
		if tags, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(tags, "--") {
			list = append(list, export.Cell{
				Markdown: strings.Contains(tags, "markdown"), MayFail: strings.Contains(tags, "raises-exception"), Skip: strings.Contains(tags, "skip-execution"),
			})
			continue
		}
		if len(list) > 0 {
			list[len(list)-1].Source += line
		}
	}
	for i := range list {
		list[i].Source = strings.TrimSuffix(list[i].Source, "\n")
	}
	return list
}

// executed returns what a session prints for the cells.
func executed(t *testing.T, list []export.Cell, options ...interp.Option) string {
	t.Helper()
	var out bytes.Buffer
	defer display.SetSink(display.SetSink(display.Terminal(&out)))
	s, err := interp.New(append(options, interp.Stdout(&out), interp.Stderr(&bytes.Buffer{}), interp.Stdin(strings.NewReader("")))...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	number := 0
	for i, c := range list {
		if c.Markdown || c.Skip || strings.TrimSpace(c.Source) == "" {
			continue
		}
		number++
		result, err := s.Execute(context.Background(), number, c.Source)
		if err != nil {
			if !c.MayFail {
				t.Fatalf("cell %d: %v", i+1, err)
			}
			continue
		}
		if text, _ := result.Data["text/plain"].(string); len(result.Data) > 0 {
			out.WriteString(text + "\n")
		}
	}
	return out.String()
}

// TestPrograms exports all notebooks to one module and compares the output of the programs with the output
// of sessions.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	compare(t, notebooks(t, "*.cells"))
}

// TestCorpus exports the cells of the tests of package interp. Each is rejected or compiles; with
// QUERN_LONG the programs are also built and run.
func TestCorpus(t *testing.T) {
	all := map[string][]export.Cell{}
	var constructs []struct{ Name, Decl, Body string }
	read(t, "constructs.json", &constructs)
	for _, c := range constructs {
		all["construct_"+c.Name] = []export.Cell{{Source: c.Decl}, {Source: c.Body + "\n;"}}
	}
	var sequences []struct {
		Name  string
		Cells []string
	}
	read(t, "notebook_cells.json", &sequences)
	for _, s := range sequences {
		var list []export.Cell
		for _, source := range s.Cells {
			list = append(list, export.Cell{Source: source, MayFail: true})
		}
		all["sequence_"+s.Name] = list
	}
	rejected := 0
	for name, list := range all {
		_, err := export.Program(t.Context(), name, list, none{})
		var rejection *export.Error
		switch {
		case errors.As(err, &rejection):
			delete(all, name)
			rejected++
		case err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("%d programs, %d rejected", len(all), rejected)
	if os.Getenv("QUERN_LONG") != "" {
		compare(t, all)
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// compare exports notebooks to one module and compares the output of the programs with the output of
// sessions.
func compare(t *testing.T, all map[string][]export.Cell) {
	goTool := testenv.Command(t, "go")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, list := range all {
		program, err := export.Program(t.Context(), name+".ipynb", list, none{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			delete(all, name)
			continue
		}
		write(t, filepath.Join(folder, name, "main.go"), program.Main)
	}
	mod, sum, err := export.Module("example.com/all", &export.Source{Imports: []string{"github.com/quernlab/quern/display"}}, root)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "go.mod"), mod)
	write(t, filepath.Join(folder, "go.sum"), sum)
	bin := t.TempDir()
	for _, args := range [][]string{{"vet", "./..."}, {"build", "-o", bin, "./..."}} {
		command := exec.Command(goTool, args...)
		command.Dir = folder
		command.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", args[0], err, out)
		}
	}
	for name, list := range all {
		t.Run(name, func(t *testing.T) {
			want := executed(t, list)
			var stderr strings.Builder
			command := exec.Command(filepath.Join(bin, name))
			command.Stderr = &stderr
			got, err := command.Output()
			if err != nil {
				t.Errorf("%v\n%s", err, stderr.String())
			}
			if string(got) != want {
				source, _ := os.ReadFile(filepath.Join(folder, name, "main.go"))
				t.Errorf("the program prints\n%s\nthe cells print\n%s\nthe program is\n%s", got, want, source)
			}
		})
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestWritten compares a whole program with a golden file.
func TestWritten(t *testing.T) {
	program, err := export.Program(t.Context(), "shown.ipynb", notebooks(t, "shown.cells")["shown"], none{})
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "shown.go.golden", program.Main)
}

func TestRejected(t *testing.T) {
	for _, row := range []struct {
		name  string
		cells string
		want  []string
	}{
		{"a command", "-- --\nx := 1\n%time x++\n-- --\n!ls", []string{
			"cell 1, line 2: kernel commands cannot be exported; remove them, or give the cell the tag skip-execution",
			"cell 2, line 1: kernel commands cannot be exported; remove them, or give the cell the tag skip-execution",
		}},
		{"a cell of commands", "-- --\n%%bash\nls", []string{"cell 1, line 1: kernel commands cannot be exported; remove them, or give the cell the tag skip-execution"}},
		{"a cell that does not compile", "-- --\nx := 1\n-- markdown --\n-- --\n\nx + \"a\"", []string{
			"cell 3, line 2: does not compile: invalid operation: x + \"a\" (mismatched types int and untyped string); fmt.Sprint converts a value to a string",
		}},
		{"no Go at all", "-- --\nthis is not Go", []string{"cell 1, line 1: does not compile: unexpected is at the end of a statement"}},
		{"a function that others use", "-- --\nfunc f() int { return 1 }\nfunc g() int { return f() }\n-- --\nfunc f() int { return 2 }", []string{
			"cell 2: redefines a name that g of an earlier cell uses, and a program has only one version of g; use another name",
		}},
		{"a variable that a function uses", "-- --\nx := 1\nfunc g() int { return x }\n-- --\nx := \"a\"", []string{
			"cell 2: redefines a name that g of an earlier cell uses, and a program has only one version of g; use another name",
		}},
		{"a type", "-- --\ntype p struct{ x int }\n-- --\ntype p struct{ y int }\n-- --\ntype p int", []string{
			"cell 2, line 1: redefines the type p of cell 1, and a program would print one of the types under another name; rename it",
			"cell 3, line 1: redefines the type p of cell 2, and a program would print one of the types under another name; rename it",
		}},
		{"a type with a predeclared name", "-- --\nvar e error = nil\n_ = e\n-- --\ntype error int", []string{
			"cell 2, line 1: the type error has the name of another declaration or a predeclared name: rename it",
		}},
		{"a method that comes late", "-- --\ntype p struct{ x int }\nfunc New() p { return p{} }\n-- --\nNew()\n-- --\n\nfunc (p) String() string { return \"p\" }", []string{
			"cell 3, line 2: declares the method String of p after an earlier cell has used the type: move the method to cell 1",
		}},
		{"a method of an interface of the notebook", "-- --\ntype p int\nvar x any = p(1)\n_, ok := x.(interface{ Area() int })\n-- --\nfunc (p) Area() int { return 1 }", []string{
			"cell 2, line 1: declares the method Area of p after an earlier cell has used the type: move the method to cell 1",
		}},
		{"a method that is replaced", "-- --\ntype p int\nfunc (p) M() int { return 1 }\np(1).M()\n-- --\nfunc (p) M() int { return 2 }", []string{
			"cell 2, line 1: redefines the method M of p, and a program has only one version of a method; remove one of the two",
		}},
		{"a type without a name", "-- --\nfunc hidden() any { return 1 }\n-- --\nh := reflect.ValueOf(1).Type().Method\nt := parse.New\n_ = t", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := export.Program(t.Context(), "x", cells(row.cells), none{})
			var rejection *export.Error
			if !errors.As(err, &rejection) {
				if row.want == nil && err == nil {
					return
				}
				t.Fatalf("error %v", err)
			}
			var got []string
			for _, o := range rejection.Problems {
				got = append(got, o.String())
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("rejected with\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(row.want, "\n"))
			}
		})
	}
}

// TestMethodsThatComeLate exports late methods whose absence no earlier cell could notice.
func TestMethodsThatComeLate(t *testing.T) {
	for _, text := range []string{
		"-- --\ntype p struct{ x int }\nfunc New() p { return p{} }\n-- --\nfunc (p) String() string { return \"p\" }\n-- --\nNew()",
		"-- --\ntype p struct{ x int }\n-- --\nfmt.Println(p{})\n-- --\nfunc (p) Twice() int { return 2 }\n-- --\np{}.Twice()",
	} {
		if _, err := export.Program(t.Context(), "x", cells(text), none{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestModuleName(t *testing.T) {
	for name, want := range map[string]string{
		"quickstart.ipynb": "quickstart", "dir/My Notebook (2).ipynb": "my-notebook-2", "ÄÖÜ.ipynb": "notebook", "": "notebook", ".ipynb": "notebook", "con.ipynb": "notebook",
		"fmt.ipynb": "fmt-notebook", "Unicode ü.ipynb": "unicode-notebook", "encoding.ipynb": "encoding-notebook", "internal.ipynb": "internal-notebook", "fmts.ipynb": "fmts",
	} {
		if got := export.ModuleName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestModule(t *testing.T) {
	mod, sum, err := export.Module("a", &export.Source{Imports: []string{"fmt", "os/signal"}}, "")
	if err != nil || string(mod) != "module a\n\ngo "+strings.TrimPrefix(version.Lang(runtime.Version()), "go")+".0\n" || sum != nil {
		t.Errorf("%q %q %v", mod, sum, err)
	}
	if _, _, err := export.Module("a", &export.Source{Imports: []string{"gonum.org/v1/gonum/mat"}}, t.TempDir()); err == nil {
		t.Error("accepted a folder without a module")
	}
	if _, _, err := export.Module("not a path!", &export.Source{}, ""); err == nil {
		t.Error("accepted an invalid name")
	}
	if _, _, err := export.Module("encoding/json", &export.Source{}, ""); err == nil {
		t.Error("accepted the name of a standard package")
	}
}
