package check

import (
	"cmp"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A TestFunction is a function with the name of a test, benchmark, example or fuzz test, or TestMain.
type TestFunction struct {
	Name string
	// Output is what an example prints according to its comment. HasOutput is false if there is no such comment, and then
	// the example is only compiled.
	Output               string
	HasOutput, Unordered bool
}

// testPrefixes begin the names of the functions that go test runs.
var testPrefixes = []string{"Test", "Benchmark", "Example", "Fuzz"}

// isTest reports whether go test runs a function with a name: what follows the prefix must not begin with a lowercase letter.
func isTest(name string) bool {
	return slices.ContainsFunc(testPrefixes, func(prefix string) bool {
		rest, ok := strings.CutPrefix(name, prefix)
		first, _ := utf8.DecodeRuneInString(rest)
		return ok && !unicode.IsLower(first)
	})
}

// TestFunctions returns the test functions of the session and of a cell that is about to run, in the order of their
// declarations. Generic functions are left out, as there is no way to call them.
func (c *Checker) TestFunctions(src string) []TestFunction {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := testsIn(src)
	declaredAgain := map[string]bool{}
	for _, t := range own {
		declaredAgain[t.Name] = true
	}
	var live []*declaration
	for name, o := range c.live {
		f, ok := o.(*types.Func)
		if d := c.declarations[name]; ok && d != nil && isTest(name) && !declaredAgain[name] && !isGeneric(f) {
			live = append(live, d)
		}
	}
	slices.SortFunc(live, func(a, b *declaration) int {
		return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	var list []TestFunction
	for _, d := range live {
		list = append(list, testsIn(d.text)...)
	}
	return append(list, own...)
}

// testsIn returns the test functions that a cell declares.
func testsIn(src string) (list []TestFunction) {
	chunks, _ := split(src)
	for _, chunk := range chunks {
		if chunk.first != token.FUNC {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+src[chunk.start:chunk.end], parser.ParseComments)
		if err != nil || len(file.Decls) != 1 {
			continue // a statement, or an error, which the check of the cell finds
		}
		f, ok := file.Decls[0].(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Type.TypeParams != nil || !isTest(f.Name.Name) {
			continue
		}
		t := TestFunction{Name: f.Name.Name}
		for _, e := range doc.Examples(file) {
			t.Output, t.Unordered, t.HasOutput = e.Output, e.Unordered, e.Output != "" || e.EmptyOutput
		}
		list = append(list, t)
	}
	return list
}
