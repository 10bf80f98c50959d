package lower_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/golden"
)

// TestPrograms runs complete programs, each as one cell. The golden files have the output of the
// compiled programs.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/programs/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".go")
		t.Run(name, func(t *testing.T) {
			if name != "packagevar" { // packagevar sets variables of compiled packages
				t.Parallel()
			}
			output := strings.TrimSuffix(file, ".go") + ".out"
			if golden.Update() {
				out, err := exec.Command("go", "run", file).Output()
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(output, out, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(output)
			if err != nil {
				t.Fatal(err)
			}
			s, out, err := runCells(t, asCell(string(text)))
			if err != nil || out != string(want) {
				t.Errorf("%s\nerror %v\nlowered\n%s", difference(out, string(want)), err, s.dump())
			}
		})
	}
}

// asCell returns a program as a cell: without the package clause, and with a call of main.
func asCell(program string) string {
	_, rest, _ := strings.Cut(program, "package main")
	return rest + "\nmain()\n"
}

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
			return "line " + w[min(i, len(w)-1)] + "\n got " + a + "\nwant " + b
		}
	}
	return "same"
}
