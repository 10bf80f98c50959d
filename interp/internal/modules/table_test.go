package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"

	"github.com/quernlab/quern/interp/internal/harness"
)

// TestTable: docs/modules.md has a row for each program, of the same version, and nothing else.
func TestTable(t *testing.T) {
	t.Parallel()
	programs, err := readPrograms("testdata")
	if err != nil {
		t.Fatal(err)
	}
	d, err := readDocument(filepath.Join("..", "..", "..", "docs", "modules.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		m := p.module()
		switch r, ok := d.rows[m.Path]; {
		case !ok || r.version != m.Version:
			t.Errorf("docs/modules.md has no row for %s: run go run ./interp/internal/modules -update -run '^%s$'", m, p.name)
		case r.outcome != works && r.reason == "":
			t.Errorf("%s: %s without a reason", m, r.outcome)
		}
		delete(d.rows, m.Path)
		if p.want == "" {
			t.Errorf("%s: the output of %s is not recorded", p.theme, p.name)
		}
		if n := lines(p.source); n > 50 {
			t.Errorf("%s: %s has %d lines", p.theme, p.name, n)
		}
	}
	for path := range d.rows {
		t.Errorf("docs/modules.md has a row for %s, for which there is no program", path)
	}
}

// lines counts the lines of a program after its imports.
func lines(source string) int {
	_, body, _ := strings.Cut(source, "\n)\n")
	return strings.Count(body, "\n")
}

func TestDocument(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "modules.md")
	text := "# Modules\n\n" + begin +
		"| `a.example/x` | v1.0.0 | works |  | 0.5 | 20 |\n" +
		"| `b.example/x` | v1.0.0 | works |  | 0.5 | 20 |\n" +
		"| `c.example/x` | v1.0.0 | rejected | a \\| b | 0.0 | 7 |\n\nafter\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := readDocument(file)
	if err != nil {
		t.Fatal(err)
	}
	of := func(path string) program {
		return program{gets: []module.Version{{Path: path, Version: "v1.0.0"}}, want: "x"}
	}
	programs := []program{of("a.example/x"), of("b.example/x"), of("c.example/x")}
	if got := d.text(programs, nil); got != text {
		t.Errorf("without results it changes to\n%s", got)
	}
	broken := classify(programs[1], harness.Ending{Output: separator + "y"}, report{Finished: true, Seconds: 1, MiB: 30})
	fixed := classify(programs[2], harness.Ending{Output: "c.example/x v1.0.0\n" + separator + "x"}, report{Finished: true})
	want := strings.NewReplacer("b.example/x` | v1.0.0 | works |  | 0.5 | 20", "b.example/x` | v1.0.0 | differs | it prints something else | 1.0 | 30",
		`rejected | a \| b | 0.0 | 7`, "works |  | 0.0 | 0").Replace(text)
	if got := d.text(programs, []result{broken, fixed}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := d.regressions([]result{fixed}); err != nil {
		t.Error(err)
	}
	if err := d.regressions([]result{fixed, broken}); err == nil || !strings.HasPrefix(err.Error(), "b.example/x does not work any more: differs: ") {
		t.Errorf("got %v", err)
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	p := program{want: "x"}
	for _, row := range []struct {
		name string
		e    harness.Ending
		r    report
		want outcome
	}{
		{"same output", harness.Ending{Output: separator + "x"}, report{Finished: true}, works},
		{"exit 0", harness.Ending{Output: separator + "x"}, report{}, works},
		{"other output", harness.Ending{Output: separator}, report{Finished: true}, differs},
		{"other status", harness.Ending{Status: 1, Output: separator + "x"}, report{}, differs},
		{"panic", harness.Ending{Status: 2, Output: separator + "x"}, report{Finished: true, Kind: "panic"}, differs},
		{"rejected", harness.Ending{Status: 2, Output: separator}, report{Finished: true, Kind: "compile error", Message: "no"}, rejected},
		{"bug of the session", harness.Ending{Status: 2}, report{Finished: true, Kind: "internal error"}, internal},
		{"code that the interpreter rejects", harness.Ending{Status: 2}, report{Finished: true, Kind: "compile error", Message: "package a: " + rejectedCode + ": 3:4"}, internal},
		{"crash", harness.Ending{Status: 2, Output: "fatal error: x\n"}, report{}, internal},
		{"signal", harness.Ending{Status: -1}, report{}, internal},
		{"no end", harness.Ending{Timeout: true}, report{}, internal},
	} {
		if v := classify(p, row.e, row.r); v.outcome != row.want {
			t.Errorf("%s: got %s (%s), want %s", row.name, v.outcome, v.reason, row.want)
		}
	}
}
