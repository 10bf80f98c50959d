package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Hints for those who know Python: what to use instead of its modules and functions.

// counterparts maps modules of Python, and the names under which they are usually imported, to what cells use instead.
var counterparts = map[string]string{
	"numpy": "package tensor has arrays", "np": "package tensor has arrays",
	"pandas": "package frame has tables", "pd": "package frame has tables", "polars": "package frame has tables",
	"matplotlib": "package plots draws", "plt": "package plots draws", "seaborn": "package plots draws", "sns": "package plots draws", "plotly": "package plots draws",
	"torch": "package accel trains models, nn has the layers, and tensor the arrays", "tensorflow": "package accel trains models, nn has the layers, and tensor the arrays",
	"tf": "package accel trains models, nn has the layers, and tensor the arrays", "keras": "package accel trains models, and nn has the layers",
	"jax": "package accel trains models, nn has the layers, and tensor the arrays", "jnp": "package tensor has arrays",
	"torchvision": "package data has data sets, and models has models", "datasets": "package data has data sets",
	"sklearn": "package accel trains models, baseline has simple ones, and metrics has the metrics",
	"tqdm":    "package progress shows the progress of a loop", "ipywidgets": "package widgets has controls",
	"random": "package rand has random numbers", "re": "package regexp has regular expressions", "sys": "os.Args, os.Stdin and os.Exit are in package os",
	"datetime": "package time has dates", "requests": "package http has a client: http.Get(url)", "urllib": "package http has a client: http.Get(url)",
	"pickle": "packages json and gob store values", "glob": "filepath.Glob lists files", "pathlib": "package filepath has paths", "shutil": "package os has files",
	"subprocess": "package exec runs commands, as does a line that begins with !", "threading": "go f() runs a function concurrently",
	"asyncio": "go f() runs a function concurrently", "multiprocessing": "go f() runs a function concurrently",
	"collections": "a map counts and groups, and package list has linked lists", "itertools": "packages slices, maps and iter have such functions",
	"functools": "packages slices, maps and iter have such functions", "typing": "Go has type parameters: func f[T any](x T)",
	"logging": "packages log and slog write logs", "argparse": "package flag parses arguments", "unittest": "%test runs functions TestName(t *testing.T)", "pytest": "%test runs functions TestName(t *testing.T)",
}

// noImport follows a counterpart where the cell has an import.
const noImport = "; cells use the packages of Go and of Quern without an import"

// pythonImport matches the module in an import of Python, and the name that it gets.
var pythonImport = pattern(`^(?:import|from)\s+"?([\w.]+)"?(?:\s+as\s+(\w+))?`)

// pythonImportHint returns the hint for a line that imports a module as Python does, or "".
func pythonImportHint(line string) string {
	m := pythonImport().FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	module, _, _ := strings.Cut(m[1], ".")
	if hint := counterparts[module]; hint != "" {
		return hint + noImport
	}
	if m[2] != "" {
		return "a package gets another name by import " + m[2] + ` "` + m[1] + `"`
	}
	return ""
}

// callHints are hints about functions that other languages predeclare.
var callHints = map[string]string{
	"str": "fmt.Sprint(x) converts a value to a string", "float": "float64(x) converts a number, strconv.ParseFloat(s, 64) a string",
	"sum": "a loop adds: for _, x := range list { total += x }", "sorted": "slices.Sort(list) sorts a list", "sort": "slices.Sort(list) sorts a list",
	"reversed": "slices.Reverse(list) reverses a list", "list": "a list is written []int{1, 2, 3}", "array": "a list is written []int{1, 2, 3}",
	"dict": `a map is written map[string]int{"a": 1}`, "set": `a set is a map: map[string]bool{"a": true}`, "tuple": "a struct has several values: struct{ a, b int }{1, 2}",
	"isinstance": "v, ok := x.(T) asks for the type of an interface", "typeof": `fmt.Printf("%T", x) shows the type of a value`,
	"enumerate": "a loop has index and value: for i, x := range list { }", "zip": "a loop has the index: for i := range a { f(a[i], b[i]) }",
	"filter": "a loop filters: for _, x := range list { if x > 0 { result = append(result, x) } }",
	"pow":    "math.Pow(x, y) is a power", "round": "math.Round(x) rounds", "abs": "math.Abs(x) is the absolute value",
	"open": "os.Open(name) opens a file, os.ReadFile(name) reads it", "input": "fmt.Scan(&x) reads a word, bufio.NewScanner reads lines",
	"hasattr": "v, ok := x.(interface{ Method() }) asks for a method", "sizeof": "unsafe.Sizeof(x) is the size of a value",
	"malloc": "new(T) and make([]T, n) allocate, and nothing needs to be freed", "free": "nothing needs to be freed",
	"sleep": "time.Sleep(time.Second) waits",
}

// foreignName returns the hint about an undefined name at a position that other languages have, or "".
func (a *attempt) foreignName(pos token.Pos, name string) string {
	called, selected := false, false
	ast.Inspect(a.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			called = called || ok && id.Pos() == pos && id.Name != showName
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			selected = selected || ok && id.Pos() == pos
		}
		return true
	})
	switch {
	case selected && counterparts[name] != "":
		return counterparts[name]
	case called && callHints[name] != "":
		return callHints[name]
	}
	return nameHints[name]
}

// typeFirst returns the hint for an undefined name at a position that stands for a type, because the type precedes the name or
// is missing; "" for others.
func (a *attempt) typeFirst(pos token.Pos, name string) (hint string) {
	follows := func(names []*ast.Ident, t ast.Expr) {
		if id, ok := t.(*ast.Ident); ok && id.Pos() == pos && len(names) > 0 {
			if _, ok := types.Universe.Lookup(names[len(names)-1].Name).(*types.TypeName); ok {
				hint = "the type follows the name: " + name + " " + names[len(names)-1].Name
			}
		}
	}
	ast.Inspect(a.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			follows(n.Names, n.Type)
		case *ast.ValueSpec:
			follows(n.Names, n.Type)
		case *ast.FuncDecl:
			for _, f := range n.Type.Params.List {
				if id, ok := f.Type.(*ast.Ident); ok && id.Pos() == pos && len(f.Names) == 0 && !token.IsExported(name) {
					hint = "a parameter has a name and a type: " + name + " int"
				}
			}
		}
		return hint == ""
	})
	return hint
}
