package interp_test

import (
	"strings"
	"testing"
)

// Nothing that earlier cells define changes a cell that imports package check.
func TestChecksOfExercises(t *testing.T) {
	t.Parallel()
	const imported = "import \"github.com/quernlab/quern/check\"\n"
	for _, row := range []struct{ name, submission, test, want string }{
		{"right", "func mean(v []float64) float64 { return 3 }", imported + "check.Equal(mean(nil), 3)", ""},
		{"wrong", "func mean(v []float64) float64 { return 99 }", imported + "check.Equal(mean(nil), 3, \"the mean of\", 3)", "! error: the mean of 3: got 99, want 3"},
		{"without the import", "func f() int { return 1 }", "check.Equal(f(), 2)", "! error: got 1, want 2"},
		{"panic", "func panic(v any) {}\nfunc f() int { return 1 }", imported + "check.Equal(f(), 2)", "! error: got 1, want 2"},
		{"panic itself", "func panic(v any) {}", imported + "panic(\"no\")", "! panic: no"},
		{"panic as a variable", "var panic = func(v any) {}", imported + "if true {\n\tpanic(\"no\")\n}", "! panic: no"},
		{"len and true", "func len(v any) int { return 3 }\ntrue := 1 > 2\nl := []int{1}", imported + "check.Equal(len(l), 3)", "! error: got 1, want 3"},
		{"nil", "var nil error\nfunc f() error { return errors.New(\"x\") }", imported + "check.True(f() == nil)", "! error: the condition is false"},
		{"error type", "type error = any", imported + "var e error\ncheck.Error(e)", "! error: an error is expected, but it is nil"},
		{"check", "var check = struct{ Equal func(a, b int) }{func(a, b int) {}}", imported + "check.Equal(1, 2)", "! error: got 1, want 2"},
		{"check as a function", "func check(v any) {}", imported + "check.Equal(1, 2)", "! error: got 1, want 2"},
		{"check as an import", "import check \"strings\"\n_ = check.ToUpper", imported + "check.Equal(1, 2)", "! error: got 1, want 2"},
		{"another package", "type fake struct{}\nfunc (fake) Abs(x float64) float64 { return 0 }\nvar math fake", imported + "check.Near(math.Abs(-2.0), 2, 0)", ""},
		{"another package without check", "type fake struct{}\nfunc (fake) Abs(x float64) float64 { return 0 }\nvar math fake", "math.Abs(-2.0)",
			"stderr: note: 1:1: math.Abs belongs to the variable math of an earlier cell, which hides package \"math\": rename the variable, or import the package under another name, such as import mathpkg \"math\"\n= 0"},
		{"recover", "func each(f func()) { defer func() { recover() }(); f() }", imported + "each(func() { check.Equal(1, 2) })", "! error: got 1, want 2"},
		{"recover in a loop", "func each(f func()) { for range 2 { func() { defer func() { recover() }(); f() }() } }", imported + "each(func() { check.Fail(\"no\") })", "! error: no"},
		{"goexit", "func f() int { runtime.Goexit(); return 2 }", imported + "check.Equal(f(), 2)", "! runtime error: the cell has called runtime.Goexit"},
		{"panics", "func f() { panic(1) }", imported + "check.Panics(f)", ""},
		{"does not panic", "func f() {}", imported + "check.Panics(f, \"f\")", "! error: f: a panic is expected, but there is none"},
		{"a failed check is no panic", "func f(g func()) { g() }", imported + "check.Panics(func() { f(func() { check.Equal(1, 2) }) })", "! error: got 1, want 2"},
		{"goexit is no panic", "func f() { runtime.Goexit() }", imported + "check.Panics(f)", "! runtime error: the cell has called runtime.Goexit"},
		{"endless recursion is no panic", "func f(n int) int { return f(n+1) + 1 }", imported + "check.Panics(func() { f(0) })\nfmt.Println(\"not reached\")", "! runtime error: stack overflow"},
		{"types of cells", "type P struct{ x, y int; s []string }\nfunc f() P { return P{1, 2, nil} }", imported + "check.Equal(f(), P{1, 2, nil})\ncheck.Equal(f(), P{1, 3, []string{\"a\"}})", "! error: got main.P{x:1, y:2, s:[]string(nil)}, want main.P{x:1, y:3, s:[]string{\"a\"}}"},
		{"maps", "func f() map[string][]int { return map[string][]int{\"a\": {1}} }", imported + "check.Equal(f(), map[string][]int{\"a\": {1}})\ncheck.NotEqual(f(), nil)", ""},
		{"exercise", "func f() int { return 99 }", imported + "check.Exercise(func() { check.Equal(f(), 3, \"f()\") })", "= not solved yet: f(): got 99, want 3"},
		{"solved exercise", "func f() int { return 3 }", imported + "check.Exercise(func() { check.Equal(f(), 3, \"f()\") })", "= solved"},
		{"panic in an exercise", "func f() int { panic(\"no\") }", imported + "check.Exercise(func() { check.Equal(f(), 3, \"f()\") })", "! panic: no"},
		{"no error", "func f() error { return nil }", imported + "check.NoError(f())\ncheck.Error(f(), \"f\")", "! error: f: an error is expected, but it is nil"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			n.run(row.submission)
			got := n.run(row.test)
			if len(got) > len(row.want) && row.name == "endless recursion is no panic" {
				got = got[:len(row.want)]
			}
			if got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

// No module replaces package check, whether it contains the package or is one of its path, and whether %get, a go.mod file
// or a workspace makes it importable.
func TestNoOtherPackageCheck(t *testing.T) {
	const test = "import \"github.com/quernlab/quern/check\"\ncheck.Equal(1, 2)"
	const fake = "package check\n\nfunc Equal[T any](got, want T, message ...any) {}\n"
	for _, row := range []struct{ name, files, first string }{
		{"%get of the module", "-- fake/go.mod --\nmodule github.com/quernlab/quern\n-- fake/check/check.go --\n" + fake, "%get ./fake"},
		{"%get of the path", "-- fake/go.mod --\nmodule github.com/quernlab/quern/check\n-- fake/check.go --\n" + fake, "%get ./fake"},
		{"the module of the notebook", "-- go.mod --\nmodule github.com/quernlab/quern\n-- check/check.go --\n" + fake, ""},
		{"the module of the path", "-- go.mod --\nmodule github.com/quernlab/quern/check\n-- check.go --\n" + fake, ""},
		{"replace", "-- go.mod --\nmodule example.com/a\n\nrequire github.com/quernlab/quern/check v0.0.0\n\nreplace github.com/quernlab/quern/check => ./fake\n" +
			"-- fake/go.mod --\nmodule github.com/quernlab/quern/check\n-- fake/check.go --\n" + fake, ""},
		{"workspace", "-- go.work --\ngo 1.26\n\nuse ./fake\n-- fake/go.mod --\nmodule github.com/quernlab/quern/check\n-- fake/check.go --\n" + fake, ""},
		{"vendor", "-- go.mod --\nmodule example.com/a\n\ngo 1.26\n\nrequire github.com/quernlab/quern/check v0.0.0\n" +
			"-- vendor/modules.txt --\n# github.com/quernlab/quern/check v0.0.0\n## explicit; go 1.26\ngithub.com/quernlab/quern/check\n" +
			"-- vendor/github.com/quernlab/quern/check/check.go --\n" + fake, ""},
		{"a package of the standard library", "-- fake/go.mod --\nmodule math\n-- fake/math.go --\npackage math\n\nfunc Abs(x float64) float64 { return 7 }\n", "%get ./fake\nimport \"math\"\nmath.Abs(-1)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, row.files)
			t.Chdir(dir)
			n := newNotebook(t, modules(t, nil))
			if row.first != "" {
				if got := n.run(row.first); strings.HasSuffix(got, "= 7") {
					t.Errorf("%s: %s", row.first, got)
				}
			}
			if got, want := n.run(test), "! error: got 1, want 2"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// A cell that redefines a predeclared name has a note.
func TestNoteOfPredeclaredNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ in, want string }{
		{"func panic(v any) {}", "stderr: note: panic is predeclared in Go: this cell redefines it, also for later cells (cell[1]:1:6)\n"},
		{"var true = false", "stderr: note: true is predeclared in Go: this cell redefines it, also for later cells (cell[1]:1:5)\n"},
		{"len := 3", "stderr: note: len is predeclared in Go: this cell redefines it, also for later cells (cell[1]:1:1)\n"},
		{"type error interface{ Error() string }", "stderr: note: error is predeclared in Go: this cell redefines it, also for later cells (cell[1]:1:6)\n"},
		{"const iota = 1", "stderr: note: iota is predeclared in Go: this cell redefines it, also for later cells (cell[1]:1:7)\n"},
		{"var nil, x = 1, 2", "stderr: note: nil is predeclared in Go: this cell redefines it, also for later cells (cell[1]:1:5)\n"},
		{"func f() { len := 3; _ = len }", ""},
		{"type T struct{}\nfunc (T) len() int { return 1 }", ""},
		{"f := func(len int) int { return len }\nf(2)", "= 2"},
	} {
		n := newNotebook(t)
		if got := n.run(row.in); got != row.want {
			t.Errorf("%q: got %s, want %s", row.in, got, row.want)
		}
	}
}
