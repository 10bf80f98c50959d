package interp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLocalPackageRunsOnce says that a saved package whose init functions can run only once fails only in the cells that use
// it, and that it does not run again before they do.
func TestLocalPackageRunsOnce(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, `
-- go.mod --
module example.com/once

go 1.26
-- log/log.go --
package log

var Calls []string
-- web/mux/mux.go --
package mux

import "net/http"

var Mux = http.NewServeMux()
-- page/page.go --
package page

import "example.com/once/web"

func Version() string { return web.Version }
-- free/free.go --
package free

const Version = "first"
`)
	saveWeb := func(old, now string) {
		t.Helper()
		writeFiles(t, dir, "-- web/web.go --\n"+strings.Replace(onceWeb, old, now, 1))
	}
	saveWeb("", "")
	t.Chdir(dir)
	n := newNotebook(t, modules(t, nil))
	n.must(t, "import (\n\t\"example.com/once/free\"\n\t\"example.com/once/log\"\n\t\"example.com/once/page\"\n\t\"example.com/once/web\"\n)\n"+
		"version := func() string { return web.Version }\nfunc declared() string { return web.Version + free.Version }\npage.Version(), free.Version, log.Calls", "= \"first\", \"first\", [first]")

	saveWeb("first", "second")
	writeFiles(t, dir, "-- free/free.go --\npackage free\n\nconst Version = \"second\"\n")
	n.must(t, "free.Version, log.Calls", "stderr: note: package example.com/once/web cannot be interpreted: panic: pattern \"/\" conflicts with pattern \"/\"; "+
		"earlier cells use its previous version\n= \"second\", [first second]")
	n.must(t, "free.Version, log.Calls, version()", "= \"second\", [first second], \"first\"")
	n.must(t, "declared()", "= \"firstsecond\"") // the version of web that could run
	for _, cell := range []string{"web.Version", "page.Version()"} {
		if got := n.run(cell); !strings.Contains(got, "conflicts with pattern") || !strings.Contains(got, "%restart starts a new worker") {
			t.Errorf("%s: %s", cell, got)
		}
	}
	n.must(t, "log.Calls", "= [first second second second]")

	saveWeb("mux.Mux.Handle(\"/\", ", "_, _ = mux.Mux, (")
	n.must(t, "web.Version, page.Version()", "= \"first\", \"first\"")
}

const onceWeb = `package web

import (
	"net/http"

	"example.com/once/log"
	"example.com/once/web/mux"
)

func init() {
	log.Calls = append(log.Calls, Version)
	mux.Mux.Handle("/", http.NotFoundHandler())
}

const Version = "first"
`

// TestLocalTypeChanges says that an error about a value of a type that was saved again says so.
func TestLocalTypeChanges(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, "-- go.mod --\nmodule example.com/geo\n-- point/point.go --\npackage point\n\ntype Point struct{ X int }\n")
	t.Chdir(dir)
	n := newNotebook(t, modules(t, nil))
	n.must(t, "import \"example.com/geo/point\"\np := point.Point{1}\np", "= {X:1}")
	writeFiles(t, dir, "-- point/point.go --\npackage point\n\ntype Point struct{ X, Y int }\n")
	n.must(t, "q := point.Point{1, 2}\nq", "= {X:1 Y:2}")
	for _, cell := range []string{"p = q", "p.Y", "(&p).Y = 1"} {
		if got := n.run(cell); !strings.Contains(got, "the files of package point have changed since the value was made: run the cell that made it again") {
			t.Errorf("%s: %s", cell, got)
		}
	}
	if got := n.run("p.Z"); strings.Contains(got, "have changed") {
		t.Error(got)
	}
}

// TestLocalDeclarations says that declarations of earlier cells which use a package that was saved are compiled again with
// it, as if a cell had declared again what has changed.
func TestLocalDeclarations(t *testing.T) {
	for _, row := range []struct {
		name, before, cell, after, use, want string
	}{
		{"generic function", "func Twice[T any](x T) []T { return []T{x, x} }", "func f() int { return len(geo.Twice(1)) }",
			"func Twice[T any](x T) []T { return []T{x, x, x} }", "f()", "= 3"},
		{"generic function of a cell", "func Twice[T any](x T) []T { return []T{x, x} }", "func f[T any](x T) []T { return geo.Twice(x) }\nfunc g() int { return len(f(1)) }",
			"func Twice[T any](x T) []T { return []T{x, x, x} }", "g(), len(f(\"\"))", "= 3, 3"},
		{"generic type", "type List[T any] struct{ x T }\nfunc (l List[T]) Len() int { return 1 }", "func f() int { return geo.List[int]{}.Len() }",
			"type List[T any] struct{ x, y T }\nfunc (l List[T]) Len() int { return 2 }", "f()", "= 2"},
		{"constraint", "type Num interface{ ~int }", "func f[T geo.Num](x T) T { return x + x }", "type Num interface{ ~int | ~float64 }", "f(1.5)", "= 3"},
		{"constant", "const N = 1", "func f() int { return geo.N }", "const N = 2", "f()", "= 2"},
		{"length of an array", "const N = 1", "type row [geo.N]int\nfunc f() int { return len(row{}) }", "const N = 2", "f()", "= 2"},
		{"iota", "const (\n\tA = iota\n\tB\n)", "const (\n\tX = geo.B + iota\n\tY\n)\nfunc f() [2]int { return [...]int{X, Y} }", "const (\n\tA = iota\n\tC\n\tB\n)", "f()", "= [2 3]"},
		{"type of a constant", "const N = 1", "func f() any { return geo.N }", "const N int8 = 2", "fmt.Sprintf(\"%T\", f())", "= \"int8\""},
		{"type", "type Point struct{ X int }", "func f() any { return geo.Point{} }", "type Point struct{ X, Y int }", "f()", "= {X:0 Y:0}"},
		{"method", "type Point struct{ X int }\nfunc (p Point) String() string { return \"old\" }", "func f() string { return fmt.Sprint(geo.Point{}) }",
			"type Point struct{ X int }\nfunc (p Point) String() string { return \"new\" }", "f()", "= \"new\""},
		{"embedded type", "type Point struct{ X int }\nfunc (p Point) Len() int { return 1 }", "type wide struct{ geo.Point }\nfunc (w wide) Twice() int { return 2 * w.Len() }\nfunc f() int { return wide{}.Twice() }",
			"type Point struct{ X, Y int }\nfunc (p Point) Len() int { return len(\"ab\") }", "f()", "= 4"},
		{"embedded interface", "type Shape interface{ Area() int }", "type solid interface {\n\tgeo.Shape\n\tVolume() int\n}\ntype cube struct{}\nfunc (cube) Area() int { return 6 }\nfunc (cube) Volume() int { return 1 }\nfunc (cube) Edges() int { return 12 }\nfunc f() any { var s solid = cube{}; _, ok := s.(interface{ Edges() int }); return ok }\nfunc g(s solid) int { return s.Volume() }",
			"type Shape interface {\n\tArea() int\n\tEdges() int\n}", "var s solid = cube{}\ns.Edges(), g(s), f()", "= 12, 1, true"},
		{"parameter", "type Point struct{ X int }", "func f(p geo.Point) geo.Point { p.X++; return p }", "type Point struct{ X, Y int }", "f(geo.Point{1, 2})", "= {X:2 Y:2}"},
		{"dot import", "const N = 1", "import . \"example.com/geo\"\nfunc f() int { return N }", "const N = 2", "f()", "= 2"},
		{"caller of a caller", "const N = 1", "type row [geo.N]int\nfunc f(r row) int { return len(r) }\nfunc g() int { return f(row{}) }", "const N = 2", "g()", "= 2"},
		{"signature", "func Area(x int) int { return x }", "func f() int { return geo.Area(1) }", "func Area(x int, y ...int) int { return x + 1 }", "f()", "= 2"},
		{"no longer compiles", "func Area(x int) int { return x }", "x := 1\nfunc f() int { return geo.Area(x) }", "func Area(x, y int) int { return x }", "1",
			"stderr: note: the changed files break f (cell[2]:2:33): not enough arguments in call to geo.Area\n      \thave (int)\n      \twant (int, int)\n= 1"},
		{"type that no longer compiles", "type Point struct{ X int }", "type wide struct{ geo.Point }\nw := wide{}", "type Spot struct{ X int }", "w",
			"stderr: note: the changed files break wide (cell[2]:1:23): undefined: geo.Point\n= {Point:{X:0}}"},
		{"variable", "var N = 1", "func f() int { geo.N++; return geo.N }\n_ = f()", "var N = 1\nvar M = 5", "f()",
			"stderr: note: package example.com/geo, or one that it imports, has changed, and its variables are initialized again: N\n= 2"},
		{"value of the type before", "type Point struct{ X int }\nfunc (p Point) Len() int { return p.X }", "p := geo.Point{3}\nfunc f() int { return p.Len() }", "type Point struct{ X, Y int }\nfunc (p Point) Len() int { return 2 }", "f()", "= 3"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, "-- go.mod --\nmodule example.com/geo\n\ngo 1.25\n-- geo.go --\npackage geo\n\n"+row.before+"\n")
			t.Chdir(dir)
			n := newNotebook(t, modules(t, nil))
			n.must(t, "import \"example.com/geo\"", "")
			if got := n.run(row.cell + "\n;"); got != "" {
				t.Fatal(got)
			}
			writeFiles(t, dir, "-- geo.go --\npackage geo\n\n"+row.after+"\n")
			n.must(t, row.use, row.want)
			_, want, _ := strings.Cut("\n"+row.want, "\n= ")
			if row.name != "variable" {
				n.must(t, row.use, "= "+want) // without a note
			}
		})
	}
}

// TestLocalPackageOfPackage says that declarations use what has changed in a package behind the one that they import, and what
// becomes of them while files are wrong or missing.
func TestLocalPackageOfPackage(t *testing.T) {
	dir := t.TempDir()
	write := func(files string) {
		t.Helper()
		writeFiles(t, dir, files)
	}
	write(`
-- geo/go.mod --
module example.com/geo

go 1.25
-- geo/shape/shape.go --
package shape

import "example.com/geo/unit"

type Area struct{ unit.Number }

func Sum[T ~int](list ...T) int { return unit.Scale * len(list) }
-- geo/shape/more.go --
package shape

func More() int { return 1 }
-- geo/unit/unit.go --
package unit

const Scale = 1

type Number int

func (Number) Unit() string { return "m" }
`)
	t.Chdir(dir)
	n := newNotebook(t, modules(t, nil))
	n.must(t, "%get ./geo\nimport \"example.com/geo/shape\"\nfunc sum() int { return shape.Sum(1, 2) }\nfunc unit() string { return shape.Area{}.Unit() }\n"+
		"func more() int { return shape.More() }\nsum(), unit(), more()", "example.com/geo in "+dir+"/geo\n= 2, \"m\", 1")

	const unit = "-- geo/unit/unit.go --\npackage unit\n\nconst Scale = 10\n\ntype Number int\n\nfunc (Number) Unit() string { return \"km\" }\n"
	write(unit)
	n.must(t, "sum(), unit(), more()", "= 20, \"km\", 1")

	write("-- geo/unit/unit.go --\npackage unit\n\nconst Scale = 100\n\ntype Number in") // half saved
	n.must(t, "sum(), unit(), more()", "stderr: note: package example.com/geo/unit cannot be interpreted: geo/unit/unit.go:5:13: undefined: in; "+
		"earlier cells use its previous version\n= 20, \"km\", 1")
	n.must(t, "sum()", "= 20")
	write(strings.Replace(unit, "10", "100", 1))
	n.must(t, "sum(), unit(), more()", "= 200, \"km\", 1")

	remove := func(name string) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	remove("geo/shape/more.go")
	n.must(t, "sum()", "stderr: note: the changed files break more (cell[1]:5:32): undefined: shape.More\n= 200")
	if got := n.run("more()"); !strings.Contains(got, "more no longer compiles: cell[1]:5:32: undefined: shape.More") {
		t.Error(got)
	}
	remove("geo/unit")
	n.must(t, "sum(), unit()", "stderr: note: module example.com/geo has no package example.com/geo/unit; if another module has it, "+
		"add the line %get example.com/geo/unit; earlier cells use its previous version\n= 200, \"km\"")
	write(unit + "-- geo/shape/more.go --\npackage shape\n\nfunc More() int { return 2 }\n")
	n.must(t, "sum(), unit(), more()", "= 20, \"km\", 2")
}

// TestSavedWithoutChange says that a package whose files are saved without a change is not loaded again.
func TestSavedWithoutChange(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	writeFiles(t, dir, "-- go.mod --\nmodule example.com/geo\n\ngo 1.25\n-- geo.go --\npackage geo\n\nvar N int\n")
	n := newNotebook(t, modules(t, nil))
	n.must(t, "import \"example.com/geo\"\ngeo.N++\ngeo.N", "= 1")
	if err := os.Chtimes(filepath.Join(dir, "geo.go"), time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	n.must(t, "geo.N++\ngeo.N", "= 2")
	writeFiles(t, dir, "-- geo.go --\npackage geo\n\nvar N = 7\n")
	n.must(t, "geo.N", "stderr: note: package example.com/geo, or one that it imports, has changed, and its variables are initialized again: N\n= 7")
}

// TestOtherVersion says that declarations use the version of a module that %get has added last.
func TestOtherVersion(t *testing.T) {
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/geo@v1.0.0/go.mod": "module example.com/geo\n",
		"example.com/geo@v1.0.0/geo.go": "package geo\nconst N = 1\nfunc Sum() int { return 1 }",
		"example.com/geo@v1.1.0/go.mod": "module example.com/geo\n",
		"example.com/geo@v1.1.0/geo.go": "package geo\nconst N = 2\nfunc Sum() int { return 2 }",
	}))
	n.must(t, "%get example.com/geo@v1.0.0\nimport \"example.com/geo\"\nfunc f() (int, int) { return geo.N, geo.Sum() }\nf()", "example.com/geo v1.0.0\n= 1, 1")
	n.must(t, "%get example.com/geo@v1.1.0\nf()", "example.com/geo v1.1.0\n= 2, 2")
	n.must(t, "f()", "= 2, 2")
	n.must(t, "%get example.com/geo@v1.0.0\nf()", "example.com/geo v1.0.0\n= 1, 1")
}

// TestVersionAndBack says that a package of which an earlier version is selected again, or whose files are as they were, is
// that version also where functions of the later one had taken the place of its own: here shape, which depends on geo.
func TestVersionAndBack(t *testing.T) {
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/geo@v1.0.0/go.mod":     "module example.com/geo\n",
		"example.com/geo@v1.0.0/geo.go":     "package geo\nconst N = 1",
		"example.com/geo@v1.1.0/go.mod":     "module example.com/geo\n",
		"example.com/geo@v1.1.0/geo.go":     "package geo\nconst N = 2",
		"example.com/shape@v1.0.0/go.mod":   "module example.com/shape\nrequire example.com/geo v1.0.0\n",
		"example.com/shape@v1.0.0/shape.go": "package shape\nimport \"example.com/geo\"\nfunc N() int { return geo.N }",
	}))
	n.must(t, "%get example.com/shape@v1.0.0\nimport \"example.com/shape\"\nfunc f() int { return shape.N() }\nf()", "example.com/shape v1.0.0\n= 1")
	n.must(t, "%get example.com/geo@v1.1.0\nf(), shape.N()", "example.com/geo v1.1.0\n= 2, 2")
	n.must(t, "%get example.com/geo@v1.0.0\nf(), shape.N()", "example.com/geo v1.0.0\n= 1, 1")

	dir := t.TempDir()
	t.Chdir(dir)
	n = newNotebook(t, modules(t, nil))
	for i, text := range []string{"1", "2", "1", "2"} {
		writeFiles(t, dir, "-- go.mod --\nmodule example.com/geo\n\ngo 1.25\n-- geo.go --\npackage geo\n\nfunc N() int { return "+text+" }\n")
		if i == 0 {
			n.must(t, "import \"example.com/geo\"\nfunc f() int { return geo.N() }\ng := func() int { return geo.N() }", "")
		}
		n.must(t, "f(), g(), geo.N()", "= "+text+", "+text+", "+text)
	}
}
