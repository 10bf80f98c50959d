package structure

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
	"testing"
)

// TestSkips searches for tests that skip themselves for reasons other than how they are
// run. For something that the machine lacks, tests use package testenv, which fails in
// strict mode.
func TestSkips(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, f := range testFiles(t) {
		if within(f.folder, "internal/testenv") || strings.Contains(f.folder, "testdata") {
			continue
		}
		var conditions []string // conditions of the enclosing if statements
		var nodes []ast.Node
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if n == nil {
				if _, ok := nodes[len(nodes)-1].(*ast.IfStmt); ok {
					conditions = conditions[:len(conditions)-1]
				}
				nodes = nodes[:len(nodes)-1]
				return true
			}
			nodes = append(nodes, n)
			switch n := n.(type) {
			case *ast.IfStmt:
				conditions = append(conditions, source(f.fset, n.Cond))
			case *ast.CallExpr:
				if skips(n) {
					checked++
					if !aboutTheRun(conditions) {
						t.Errorf("%s: call testenv.Missing or testenv.Optional, or skip for -short, the race detector, the system or a variable only", f.fset.Position(n.Pos()))
					}
				}
			}
			return true
		})
	}
	if checked == 0 {
		t.Error("no test skips itself: the search is broken")
	}
}

// skips reports whether a call is t.Skip, b.Skipf or the like.
func skips(call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	on, ok := selector.X.(*ast.Ident)
	return ok && (on.Name == "t" || on.Name == "b" || on.Name == "tb") && strings.HasPrefix(selector.Sel.Name, "Skip")
}

// aboutTheRun reports whether one of the conditions is about how the tests are run.
func aboutTheRun(conditions []string) bool {
	for _, c := range conditions {
		for _, known := range []string{"testing.Short()", "raceEnabled", "runtime.GOOS", "runtime.GOARCH", "os.DevNull", "os.Getuid()", "os.Getenv(", `== ""`} {
			if strings.Contains(c, known) {
				return true
			}
		}
	}
	return false
}

func source(fset *token.FileSet, e ast.Expr) string {
	var b strings.Builder
	_ = printer.Fprint(&b, fset, e) // writing to a strings.Builder cannot fail
	return b.String()
}

type testFile struct {
	folder string
	fset   *token.FileSet
	syntax *ast.File
}

// testFiles parses the tests of the module.
func testFiles(t *testing.T) []testFile {
	t.Helper()
	var all []testFile
	fset := token.NewFileSet()
	walk(t, "_test.go", func(name string) {
		syntax, err := parser.ParseFile(fset, name, read(t, name), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, testFile{name[:max(0, strings.LastIndex(name, "/"))], fset, syntax})
	})
	return all
}
