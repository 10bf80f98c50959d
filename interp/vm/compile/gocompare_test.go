package compile_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

var (
	seeds     = flag.Int("seeds", 8, "how many random programs are compared with the go command's")
	firstSeed = flag.Uint64("seed", 1000, "the seed of the first of them")
)

// separator separates the outputs of two programs.
const separator = "\n==== next ====\n"

// TestCompiledPrograms runs random programs as cells, and compiled by the go command: functions, and statements at the top
// level of a cell. All are packages of one executable, because linking takes long.
func TestCompiledPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the go command for a while")
	}
	dir := t.TempDir()
	main, calls := "package main\n\nimport (\n\t\"fmt\"\n", ""
	type program struct{ source, cell string }
	programs := make([]program, *seeds)
	for i := range programs {
		g := newGenerator(*firstSeed + uint64(i))
		programs[i] = program{g.program(), g.cell()}
		write(t, filepath.Join(dir, fmt.Sprintf("p%03d", i), "p.go"), packageText(fmt.Sprintf("p%03d", i), programs[i].source, programs[i].cell))
		main += fmt.Sprintf("\t\"random/p%03d\"\n", i)
		calls += fmt.Sprintf("\tfmt.Print(p%03[1]d.Run(), %[2]q, p%03[1]d.RunCell(), %[2]q)\n", i, separator)
	}
	write(t, filepath.Join(dir, "main.go"), main+")\n\nfunc main() {\n"+calls+"}\n")
	write(t, filepath.Join(dir, "go.mod"), "module random\n\ngo 1.26\n")
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go run: %v\n%.5000s", err, &stderr)
	}
	results := strings.Split(string(out), separator)
	if len(results) != 2*len(programs)+1 {
		t.Fatalf("%d programs printed, of %d", len(results)-1, 2*len(programs))
	}
	for i, p := range programs {
		t.Run(fmt.Sprint(*firstSeed+uint64(i)), func(t *testing.T) {
			t.Parallel()
			for j, cells := range [][]string{
				{p.source + "\nfmt.Print(run())"},
				{p.source + beforeCell, reset + p.cell, "fmt.Print(out)"},
			} {
				want := inPackage.ReplaceAllString(results[2*i+j], "main.")
				if got := executeCells(t, cells); got != want {
					t.Errorf("cells and Go differ\n%s\n%s", difference(got, want), strings.Join(cells, "\n----\n"))
				}
			}
		})
	}
}

// beforeCell declares the variable that the statements of a cell add to; reset sets the other ones, which the functions
// have changed.
const (
	beforeCell = "\nvar out string\n"
	reset      = "counter, zero, steps, shared, table, trail = 0, 0, 0, []int{1, 2, 3}, map[string]int{}, \"\"\n"
)

// executeCells executes cells in a new session and returns their output. If one panics, the last one is still executed,
// and the panic follows its output.
func executeCells(t *testing.T, cells []string) string {
	t.Helper()
	var out strings.Builder
	s, err := interp.New(interp.Stdout(&out), interp.Stderr(&out))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var failure error
	for i, cell := range cells {
		if failure != nil && i < len(cells)-1 {
			continue
		}
		if _, err := s.Execute(context.Background(), i+1, cell); err != nil {
			failure = err
		}
	}
	if failure != nil {
		fmt.Fprintln(&out, "panic", strings.TrimPrefix(strings.TrimPrefix(failure.Error(), "panic: "), "runtime error: "))
	}
	return out.String()
}

// inPackage matches the package qualifier of a program's own types.
var inPackage = regexp.MustCompile(`\bp\d{3}\.`)

// packageText turns a program into a package that imports what it uses.
func packageText(name, source, cell string) string {
	imports := ""
	for _, path := range []string{"errors", "fmt", "maps", "math", "reflect", "runtime", "slices", "sort", "strconv", "strings"} {
		imports += fmt.Sprintf("\t%q\n", path)
	}
	uses := "var _, _, _, _ = errors.New, maps.Keys[map[int]int], math.Sqrt, slices.Sort[[]int]\nvar _ = runtime.Goexit\nvar _, _, _, _ = sort.Ints, strconv.Itoa, strings.Index, fmt.Sprint\n"
	return "package " + name + "\n\nimport (\n" + imports + ")\n\n" + uses + source + "\nfunc Run() string { return run() }\n" + beforeCell +
		"func RunCell() (ending string) {\ndefer func() { ending = out + failed(recover()) }()\n" + reset + cell + "return\n}\n" + failed
}

// failed returns the line for a panic at the top level of a cell, whose error shows values as a crash of Go does, and the type of an
// error unless it is one of package errors or fmt, which export none.
const failed = `
func failed(cause any) string {
	switch cause.(type) {
	case nil:
		return ""
	case error:
		if fault := runtime.Error(nil); errors.As(cause.(error), &fault) {
			return fmt.Sprintln("panic", strings.TrimPrefix(fmt.Sprint(cause), "runtime error: "))
		}
		name := fmt.Sprintf("%T", cause)
		if strings.HasPrefix(name, "*errors.") || strings.HasPrefix(name, "*fmt.") {
			return fmt.Sprintln("panic", cause)
		}
		return fmt.Sprintf("panic %v (%s)\n", cause, name)
	case fmt.Stringer:
		return fmt.Sprintln("panic", cause)
	}
	v, name := reflect.ValueOf(cause), fmt.Sprintf("%T", cause)
	switch {
	case v.Kind().String() == name:
		return fmt.Sprintln("panic", cause)
	case v.Kind() == reflect.String:
		return fmt.Sprintf("panic %s(%q)\n", name, cause)
	case v.Kind() < reflect.Complex64:
		return fmt.Sprintf("panic %s(%v)\n", name, cause)
	}
	return fmt.Sprintf("panic (%s) %+v\n", name, cause)
}
`

// difference shows the first line that differs.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "<end>", "<end>"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\ngot  %s\nwant %s", i+1, a, b)
		}
	}
	return "nothing"
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
