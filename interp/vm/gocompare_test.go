package vm_test

import (
	"bytes"
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
	seeds     = flag.Int("seeds", 12, "how many random programs are compared with the go command's")
	firstSeed = flag.Uint64("seed", 1000, "the seed of the first of them")
)

// separator separates the outputs of two programs.
const separator = "\n==== next ====\n"

// TestCompiledPrograms runs random programs with the VM, without it, and compiled by the go command. All
// are packages of one executable, because linking takes long.
func TestCompiledPrograms(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("needs the go command for a while")
	}
	dir := t.TempDir()
	main, calls := "package main\n\nimport (\n\t\"fmt\"\n", ""
	sources := make([]string, *seeds)
	for i := range sources {
		sources[i] = newGenerator(*firstSeed + uint64(i)).program()
		write(t, filepath.Join(dir, fmt.Sprintf("p%03d", i), "p.go"), packageText(fmt.Sprintf("p%03d", i), sources[i]))
		main += fmt.Sprintf("\t\"random/p%03d\"\n", i)
		calls += fmt.Sprintf("\tfmt.Print(p%03d.Run(), %q)\n", i, separator)
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
	if len(results) != len(sources)+1 {
		t.Fatalf("%d programs printed, of %d", len(results)-1, len(sources))
	}
	for i, source := range sources {
		t.Run(fmt.Sprint(*firstSeed+uint64(i)), func(t *testing.T) {
			t.Parallel()
			want := normalized(inPackage.ReplaceAllString(results[i], "main."))
			for _, options := range [][]interp.Option{nil, {interp.Slow()}} {
				if got := normalized(execute(t, source, options...)); got != want {
					t.Errorf("slow %t: cells and Go differ\n%s\n%s", options != nil, difference(got, want), source)
				}
			}
		})
	}
}

// inPackage matches the package qualifier of a program's own types.
var inPackage = regexp.MustCompile(`\bp\d{3}\.`)

// normalized removes intended differences; see package lower.
func normalized(text string) string { return knownDifference.ReplaceAllString(text, "$1") }

// packageText turns a program into a package that imports what it uses.
func packageText(name, source string) string {
	imports := ""
	for _, path := range []string{"errors", "fmt", "maps", "math", "runtime", "slices", "sort", "strconv", "strings"} {
		imports += fmt.Sprintf("\t%q\n", path)
	}
	uses := "var _, _, _, _ = errors.New, maps.Keys[map[int]int], math.Sqrt, slices.Sort[[]int]\nvar _ = runtime.Goexit\nvar _, _, _, _ = sort.Ints, strconv.Itoa, strings.Index, fmt.Sprint\n"
	return "package " + name + "\n\nimport (\n" + imports + ")\n\n" + uses + source + "\nfunc Run() string { return run() }\n"
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
