package interp_test

import (
	"strings"
	"testing"
)

// inspectRows have the cursor at |.
var inspectRows = []struct {
	name, in string
	detail   int
	want     []string // parts of the text; empty if nothing is found
}{
	{"left of the cursor", "point|", 0, []string{"var point Point"}},
	{"under the cursor", "po|int", 0, []string{"var point Point"}},
	{"right of the cursor", "|point", 0, []string{"var point Point"}},
	{"live value", "count|", 0, []string{"var count int = 42"}},
	{"live value of a package", "delay|", 0, []string{"var delay time.Duration = 2s", "elapsed time"}},
	{"live value with methods of the session", "loud|", 0, []string{"var loud Loud = {Level:3}", "Loud is noisy"}},
	{"method as documentation writes it", "tensor.Tensor.Max|", 0, []string{"Max(", "*tensor.Tensor"}},
	{"field as documentation writes it", "accel.Run.Steps|", 0, []string{"field Steps"}},
	{"method with a pointer as receiver", "data.Dataset.PackSequences|", 0, []string{"PackSequences("}},
	{"live value in a call", "fmt.Println(count|)", 0, []string{"var count int = 42"}},
	{"cell function with its comment", "origin|", 0, []string{"func origin() (Point, error)", "gives where all begins"}},
	{"cell function with its source", "origin|", 1, []string{"return Point{}, nil"}},
	{"cell type with its comment", "Point|", 0, []string{"type Point struct{ X, Y int }", "is a place"}},
	{"cell type with methods", "Point|", 1, []string{"Norm() float64", "Move(dx int)"}},
	{"cell method", "point.No|rm()", 0, []string{"Norm() float64", "is the length"}},
	{"field", "point.X|", 0, []string{"field X int"}},
	{"promoted field", "outer.Deep|", 0, []string{"field Deep string"}},
	{"shadowing field", "outer.Hidden|", 0, []string{"field Hidden float64"}},
	{"promoted method", "outer.Reach|()", 0, []string{"Reach() string"}},
	{"field of an instance", "pair.Value|", 0, []string{"field Value Point"}},
	{"method of an instance", "pair.Swap|()", 0, []string{"Swap() Point"}},
	{"generic type", "Pair|", 0, []string{"type Pair[K comparable, V any]"}},
	{"generic function", "Map|", 0, []string{"func Map[T, U any](list []T, f func(T) U) []U"}},
	{"inferred instance", "fir|st(points)", 0, []string{"func first[T any](list []T) T", "func(list []Point) Point"}},
	{"explicit instance", "fir|st[int](nil)", 0, []string{"func(list []int) int"}},
	{"instance of the library", "slices.Ind|ex(points, point)", 0, []string{"slices.Index[", "func(s []Point, v Point) int", "first occurrence"}},
	{"standard function", "strings.ToUp|per", 0, []string{"func strings.ToUpper(s string) string", "upper case"}},
	{"standard method", "strings.NewReplacer().Rep|lace", 0, []string{"Replace(s string) string"}},
	{"method that our package promotes", "widgets.NewIntText(3).SetVal|ue(4)", 0, []string{"SetValue(value int)", "sets the number"}},
	{"standard field", "http.Server{Ad|dr: \"\"}", 0, []string{"field Addr string"}},
	{"standard field doc", "(&http.Server{}).Addr|", 0, []string{"field Addr string", "TCP address"}},
	{"standard type", "strings.Buil|der", 0, []string{"type Builder struct", "used to efficiently"}},
	{"standard constant", "math.Pi|", 0, []string{"Pi", "3.14"}},
	{"standard variable", "os.Std|out", 0, []string{"Stdout *os.File"}},
	{"package", "stri|ngs.ToUpper", 0, []string{"package strings"}},
	{"package alone", "http|", 0, []string{"package http", "net/http"}},
	{"package not imported", "httptest.NewReq|uest", 0, []string{"func httptest.NewRequest("}},
	{"our package", "plots.Li|ne", 0, []string{"func plots.Line"}},
	{"our package alone", "accel|", 0, []string{"package accel"}},
	{"builtin", "app|end", 0, []string{"append"}},
	{"predeclared type", "var x err|or", 0, []string{"error"}},
	{"constant", "tr|ue", 0, []string{"true"}},
	{"interface method", "shape.Ar|ea()", 0, []string{"Area() float64"}},
	{"in a call", "makePoint(|", 0, []string{"func makePoint(x int, y int) *Point"}},
	{"in a closed call", "makePoint(1, |)", 0, []string{"func makePoint("}},
	{"number in a call", "makePoint(1|, 2)", 0, []string{"func makePoint("}},
	{"string in a call", "strings.ToUpper(\"a b|c\")", 0, []string{"func strings.ToUpper("}},
	{"unfinished string in a call", "strings.ToUpper(\"abc|", 0, []string{"func strings.ToUpper("}},
	{"operator in a call", "makePoint(1 +| 2, 3)", 0, []string{"func makePoint("}},
	{"after an inner call", "makePoint(len(\"a\"), |", 0, []string{"func makePoint("}},
	{"in an inner call", "makePoint(len(|", 0, []string{"len"}},
	{"in a method call", "pointer.Move(|", 0, []string{"Move(dx int) *Point"}},
	{"in a chained call", "pointer.Move(1).Move(|", 0, []string{"Move(dx int) *Point"}},
	{"in a call of an instance", "first[int](|", 0, []string{"func first[T any](list []T) T"}},
	{"in a call over lines", "makePoint(\n\t1,\n\t|", 0, []string{"func makePoint("}},
	{"in a literal in a call", "fmt.Println([]int{1, |", 0, []string{"func fmt.Println("}},
	{"closing bracket of a call", "makePoint(1, 2)|", 0, []string{"func makePoint("}},
	{"in a call in a function", "func f() {\n\tmakePoint(|\n\tx := 1\n}", 0, []string{"func makePoint("}},
	{"local", "func f(width int) { wi|dth }", 0, []string{"var width int"}},
	{"local of an unfinished function", "func f(width int) {\n\twi|dth", 0, []string{"var width int"}},
	{"local that shadows", "func f(count string) { cou|nt }", 0, []string{"var count string"}},
	{"local of a closure", "f := func(p *Point) { p.X| }", 0, []string{"field X int"}},
	{"local of a goroutine", "go func(width int) {\n\twid|th", 0, []string{"var width int"}},
	{"name of the cell", "quantity := 3.5\nquan|tity", 0, []string{"var quantity float64"}},
	{"function of the cell", "// twice doubles.\nfunc twice(n int) int { return 2*n }\ntwi|ce(2)", 0, []string{"func twice(n int) int", "doubles"}},
	{"after a broken line", "x := = 3\np := point\np|.X", 0, []string{"var p Point"}},
	{"before a broken line", "poi|nt.X\nx := = 3", 0, []string{"var point Point"}},
	{"struct key", "Point{X|: 1}", 0, []string{"field X int"}},
	{"type that is defined again", "// Point is new.\ntype Point struct{ Z int }\nvar p Poi|nt", 0, []string{"type Point struct{ Z int }", "is new"}},
	{"method of the same cell", "// Twice doubles.\nfunc (p Point) Twice(n int) int { return 2 * p.X }\npoint.Twi|ce(1)", 0, []string{"Twice(n int) int"}},
	{"field of a cell with its comment", "settings.Ra|te", 0, []string{"field Rate float64", "of a step"}},
	{"field of a cell with a comment behind", "settings.Pla|ce", 0, []string{"field Place Point", "to start from"}},
	{"field of this cell with its comment", "type Own struct {\n\t// Size in bytes.\n\tSize int\n}\nvar o Own\no.Si|ze", 0, []string{"field Size int", "in bytes"}},
	{"label", "rows:\nfor {\n\tbreak ro|ws\n}", 0, []string{"label rows"}},
	{"CRLF", "x := 1\r\npoi|nt.X\r\n", 0, []string{"var point Point"}},
	{"CJK before", "s := \"世界😀e\u0301\"; poi|nt", 0, []string{"var point Point"}},
	{"magic", "%ti|me", 0, []string{"%time"}},
	{"code of a magic", "%time poi|nt", 0, []string{"var point Point"}},
	{"type parameter", "func f[Element any](e Elem|ent) {}", 0, []string{"Element any"}},

	{"nothing", "xyz|zy", 0, nil},
	{"unknown member", "point.Xyz|zy", 0, nil},
	{"unknown member of a package", "strings.Xyz|zy", 0, nil},
	{"member with the name of a variable", "point.cou|nt", 0, nil},
	{"empty", "|", 0, nil},
	{"number", "1|2", 0, nil},
	{"string", "s := \"poi|nt\"", 0, nil},
	{"comment", "// poi|nt", 0, nil},
	{"space", "x := 1 | ", 0, nil},
	{"shell", "!ls poi|nt", 0, nil},
	{"after a call", "makePoint(1, 2)\n|", 0, nil},
	{"in a list", "x := []int{1, |", 0, nil},
	{"body of a function", "func f(a int) {\n\t| \n}", 0, nil},
	{"body of a closure in a call", "sort.Slice(points, func(i, j int) bool {\n\t|\n})", 0, []string{"func sort.Slice("}},
	{"unknown function", "unknown(|", 0, nil},
}

func TestInspect(t *testing.T) {
	t.Parallel()
	n := completionNotebook(t)
	n.must(t, "count := 42", "")
	n.must(t, "delay := 2 * time.Second", "")
	n.must(t, "// Loud is noisy.\ntype Loud struct{ Level int }\nfunc (l Loud) String() string { panic(\"called\") }\nloud := Loud{3}", "")
	n.must(t, "type Settings struct {\n\t// Rate of a step.\n\tRate float64\n\tPlace Point // to start from\n}\nvar settings Settings", "")
	for _, row := range inspectRows {
		t.Run(row.name, func(t *testing.T) {
			offset := strings.Index(row.in, "|")
			data := n.Inspect(row.in[:offset]+row.in[offset+1:], offset, row.detail)
			text, _ := data["text/plain"].(string)
			if row.want == nil && data != nil {
				t.Errorf("%q: got %q, want nothing", row.in, text)
			}
			for _, w := range row.want {
				if !strings.Contains(text, w) {
					t.Errorf("%q: no %q in %q", row.in, w, text)
				}
			}
			if markdown, _ := data["text/markdown"].(string); data != nil && !strings.HasPrefix(markdown, "```go\n") && !strings.HasPrefix(markdown, "`%") {
				t.Errorf("%q: Markdown is %q", row.in, markdown)
			}
		})
	}
}
