package interp_test

import (
	"strings"
	"testing"
)

// Cells are separated by "---". want has the expected outcome of each cell, in the format of
// notebook.run. If it differs from compiled Go, the name of the row says so.
var cellRows = []struct {
	name, in string
	want     []string
}{
	{"result", "1 + 2", []string{"= 3"}},
	{"quiet result", "1 + 2;", []string{""}},
	{"quiet call", "func f() int { println(\"called\"); return 1 }\nf();", []string{"stderr: called\n"}},
	{"what shows itself and no error", "func f() (display.Content, error) { return display.HTML(\"<b>x</b>\"), nil }\nf()", []string{"= <b>x</b>"}},
	{"several values", "func f() (int, string, error) { return 1, \"a\", nil }\nf()", []string{"= 1, \"a\", <nil>"}},
	{"list of expressions", "a, b := 1, \"x\"\na, b + \"y\", []int{1} // all", []string{"= 1, \"xy\", [1]"}},
	{"list with an error in it", "1, undefinedName", []string{"! compile error: cell[1]:1:4: undefined: undefinedName\n    1, undefinedName\n       ^"}},
	{"call with a nil error", "func f() error { return nil }\nf()", []string{""}},
	{"long result is cut", "strings.Repeat(\"é\", 40000)", []string{"= \"" + strings.Repeat("é", 32767) + "… and 14466 bytes more"}},
	{"void", "func f() {}\nf()", []string{""}},
	{"assignment", "x := 1\nx = 2\nx++", []string{""}},
	{"string is quoted", "\"a\\n\"", []string{"= \"a\\n\""}},
	{"named string is quoted", "type S string\nS(\"a\")", []string{"= \"a\""}},
	{"stringer is not", "type S string\nfunc (s S) String() string { return \"<\" + string(s) + \">\" }\nS(\"a\")", []string{"= <a>"}},
	{"struct has names", "type P struct{ X int; name string }\n[]P{{1, \"a\"}}", []string{"= [{X:1 name:a}]"}},
	{"pointer", "type P struct{ X int }\n&P{1}", []string{"= &{X:1}"}},
	{"package that was never in the standard library", "func add[T constraints.Integer](x T) T { return x }", []string{"! compile error: cell[1]:1:12: undefined: constraints; cmp.Ordered is in package cmp, and %get golang.org/x/exp/constraints has the others\n    func add[T constraints.Integer](x T) T { return x }\n               ^"}},
	{"PyTorch's name of a layer", "nn.Linear(64, 10)", []string{"! compile error: cell[1]:1:4: undefined: nn.Linear; use nn.Dense(10) for 10 outputs: the number of inputs is that of the first batch\n    nn.Linear(64, 10)\n       ^"}},
	{"PyTorch's arguments of a layer", "nn.Conv2D(3, 16, 3)", []string{"! compile error: cell[1]:1:18: cannot use 3 (untyped int constant) as nn.Option value in argument to nn.Conv2D; a layer has no argument for the size of its input, which is that of the first batch\n    nn.Conv2D(3, 16, 3)\n                     ^"}},
	{"compiled type in an error", "tensor.Randn(2, 3)", []string{"! compile error: cell[1]:1:14: cannot use 2 (untyped int constant) as *tensor.Generator value in argument to tensor.Randn\n    tensor.Randn(2, 3)\n                 ^"}},
	{"compiled types of one name in an error", "var t *texttemplate.Template = new(htmltemplate.Template)\nimport texttemplate \"text/template\"\nimport htmltemplate \"html/template\"", []string{"! compile error: cell[1]:1:32: cannot use new(htmltemplate.Template) (value of type *\"html/template\".Template) as *\"text/template\".Template value in variable declaration\n    var t *texttemplate.Template = new(htmltemplate.Template)\n                                   ^"}},
	{"error value", "errors.New(\"bad\")", []string{"= bad"}},
	{"nil error", "var err error\nerr", []string{"= <nil>"}},
	{"function", "func add(a, b int) int { return a + b }\nadd", []string{"= func(int, int) int"}},
	{"what is shown has no handle below it", "display.Show(\"a\")", []string{""}},
	{"print shows no count", "fmt.Println(\"a\")", []string{"a\n"}},
	{"write shows no count", "var b strings.Builder\nb.WriteString(\"abc\")\n---\nb.String()", []string{"", "= \"abc\""}},
	{"shows itself", "type D struct{}\nfunc (D) MIMEBundle() map[string]any { return map[string]any{\"text/plain\": \"me\"} }\nD{}", []string{"= me"}},
	{"nil image", "var m *image.RGBA\nm", []string{"= <nil>"}},
	{"shows its report", "type D struct{}\nfunc (D) Report() *display.Report { return new(display.Report).Text(\"me\") }\nD{}", []string{"= me"}},
	{"shows nothing", "type D struct{}\nfunc (D) MIMEBundle() map[string]any { return nil }\nD{}", []string{"= main.D"}},
	{"shows no message", "type D struct{}\nfunc (D) MIMEBundle() map[string]any { return map[string]any{\"text/html\": make(chan int)} }\nD{}", []string{"= text/html cannot be shown: json: unsupported type: chan int"}},
	{"panic while shown", "type D struct{}\nfunc (D) MIMEBundle() map[string]any { panic(\"no\") }\nD{}", []string{"= main.D cannot be shown: no"}},
	{"panicking stringer", "type D struct{}\nfunc (D) String() string { panic(\"no\") }\nD{}", []string{"= %!v(PANIC=String method: no)"}},

	{"unread error", "n, err := strconv.Atoi(\"x\")\n---\nn", []string{"! error: strconv.Atoi: parsing \"x\": invalid syntax (*strconv.NumError)\nerr is not read in this cell: read it, or write `_ = err`", "= 0"}},
	{"read error", "n, err := strconv.Atoi(\"x\")\nfmt.Println(err)", []string{"strconv.Atoi: parsing \"x\": invalid syntax\n"}},
	{"read by a function", "func report() { fmt.Println(err) }\n_, err := strconv.Atoi(\"x\")\nreport()", []string{"strconv.Atoi: parsing \"x\": invalid syntax\n"}},
	{"ignored error", "n, _ := strconv.Atoi(\"x\")", []string{""}},
	{"overwritten error", "_, err := strconv.Atoi(\"x\")\n_, err = strconv.Atoi(\"1\")", []string{"! error: strconv.Atoi: parsing \"x\": invalid syntax (*strconv.NumError)\nerr is not read in this cell: read it, or write `_ = err`"}},
	{"sentinel", "var ErrNotFound = errors.New(\"not found\")\nfailure := errors.New(\"x\")", []string{""}},
	{"failed call at the end", "os.Remove(\"/no/such/file\")", []string{"! error: remove /no/such/file: no such file or directory (*fs.PathError)"}},
	{"error of a cell's type", "type E struct{ Code int }\nfunc (e *E) Error() string { return fmt.Sprint(\"code \", e.Code) }\nfunc f() error { return &E{7} }\nf()", []string{"! error: code 7 (*main.E)"}},

	{"panic", "panic(\"boom\")", []string{"! panic: boom"}},
	{"panic with a value", "type P struct{ X int }\npanic(P{1})", []string{"! panic: (main.P) {X:1}"}},
	{"panic with an error", "panic(fmt.Errorf(\"bad %d\", 1))", []string{"! panic: bad 1"}},
	{"panic with a wrapped error", "panic(fmt.Errorf(\"bad: %w\", io.EOF))", []string{"! panic: bad: EOF"}},
	{"nil map", "var m map[string]int\nm[\"a\"] = 1", []string{"! runtime error: assignment to entry in nil map"}},
	{"nil pointer", "type P struct{ X int }\nvar p *P\np.X", []string{"! runtime error: invalid memory address or nil pointer dereference"}},
	{"assertion", "var x any = 1\nx.(string)", []string{"! runtime error: interface conversion: interface {} is int, not string"}},
	{"division", "z := 0\n1 / z", []string{"! runtime error: integer divide by zero"}},
	{"what ran before stays", "x := 1\ny := 2\npanic(x)\n---\nx + y", []string{"! panic: 1", "= 3"}},
	{"defer at the top level", "defer fmt.Println(\"end\")\nfmt.Println(\"start\")\n---\n1", []string{"start\nend\n", "= 1"}},
	{"defer after a panic", "defer fmt.Println(\"end\")\npanic(\"x\")", []string{"end\n! panic: x"}},
	{"recover at the top level", "defer func() { fmt.Println(\"got\", recover()) }()\npanic(\"x\")", []string{"got x\n"}},
	{"exit of a goroutine", "runtime.Goexit()\n---\n1", []string{"! runtime error: the cell has called runtime.Goexit", "= 1"}},

	{"function sees a variable of its cell", "count := 0\nfunc inc() int { count++; return count }\ninc()\ninc()\n---\ncount", []string{"= 2", "= 2"}},
	{"variable is a new one of itself", "x := 2\n---\nx := x * 10\n---\nx := []int{x}\n---\nx", []string{"", "", "", "= [20]"}},
	{"var is zero again", "var x []int\nx = append(x, 1)\nlen(x)\n---\nvar x []int\nlen(x)", []string{"= 1", "= 0"}},
	{"redefined function", "func f() int { return 1 }\nfunc g() int { return f() * 10 }\n---\nfunc f() int { return 2 }\n---\ng()", []string{"", "", "= 20"}},
	{"redefined type", "type T struct{ A int }\nfunc (t T) Double() int { return t.A * 2 }\nfunc mk() T { return T{A: 4} }\n---\ntype T struct{ A int; B string }\n---\nmk().Double()\n---\nfmt.Sprintf(\"%+v\", mk())", []string{"", "", "= 8", "= \"{A:4 B:}\""}},
	{"redefined type, used in its cell", "type T struct{ A int }\ntype E struct{ T }\nfunc use(t T) string { return fmt.Sprint(E{t}) }\n---\ntype T struct{ B string }\nuse(T{\"x\"})\n---\ntype T struct{ C []int }\nlen(E{T{[]int{1}}}.C)", []string{"", "= \"{{x}}\"", "= 1"}},
	{"type run again keeps values", "type T struct{ A int }\nt := T{3}\n---\ntype T struct{ A int }\n---\nt = T{4}\nt", []string{"", "", "= {A:4}"}},
	{"method replaced", "type T struct{}\nfunc (T) Name() string { return \"old\" }\nt := T{}\nfunc show() string { return t.Name() }\n---\nfunc (T) Name() string { return \"new\" }\n---\nt.Name() + show()", []string{"", "", "= \"newnew\""}},
	{"method added", "type T struct{ X int }\nts := []T{{1}, {2}}\n---\nfunc (t T) String() string { return fmt.Sprint(\"T\", t.X) }\n---\nts\n---\nvar s fmt.Stringer = ts[0]\ns.String()", []string{"", "", "= [T1 T2]", "= \"T1\""}},
	{"method of a type with a field without a size", "type none struct{}\nfunc (none) Reset() {}\ntype table struct{ list [9]int }\ntype reader struct {\n\tnone\n\tt *table\n}\nfunc (r reader) At(i int) (n int) {\n\tfor range r.t.list {\n\t\tn += r.t.list[i]\n\t}\n\treturn n\n}\ntype at interface {\n\tReset()\n\tAt(i int) int\n}\nfunc call(a at) int { return a.At(1) }\ntype outer struct {\n\tat\n\t_ struct{}\n}\nr := reader{t: &table{list: [9]int{1: 5}}}\ncall(r), call(&r), call(&outer{at: r})", []string{"= 45, 45, 45"}},
	{"variable of an unexported compiled type", "le := binary.LittleEndian\nlist := []any{le, http.NoBody}\nvar body = http.NoBody\n---\nbe, m := binary.BigEndian, map[any]int{le: 3}\nle.Uint16([]byte{1, 2}) + be.Uint16([]byte{1, 2}), m[list[0]], body == list[1], list[0]", []string{"", "= 771, 3, true, LittleEndian"}},
	{"zero map iterator", "type keys struct {\n\ti reflect.MapIter\n\tlist []any\n}\nk := keys{}\nk.i.Reset(reflect.ValueOf(map[string]int{\"a\": 1}))\nfor k.i.Next() {\n\tk.list = append(k.list, k.i.Key(), k.i.Value())\n}\nk.list", []string{"= [a <int Value>]"}},
	{"constant redefined", "const N = 2\nfunc size() int { return len([N]int{}) }\n---\nconst N = 5\n---\nsize()", []string{"", "", "= 5"}},
	{"init and main", "var x = 1\nfunc init() { x = 5 }\nfunc main() int { return x }\n---\nmain()", []string{
		"stderr: note: the Go compiler would reject this cell: 3:6: func main must have no arguments and no return values\n", "= 5"}},
	{"init runs once", "x := 1\nfunc init() { fmt.Println(\"init\") }\n---\nx", []string{"init\n", "= 1"}},
	{"failed cell defines nothing", "x := 1\ny := undefinedName\nfunc f() {}\n---\nx\n---\nf()", []string{
		"! compile error: cell[1]:2:6: undefined: undefinedName\n    y := undefinedName\n         ^",
		"! compile error: cell[2]:1:1: undefined: x\n    x\n    ^",
		"! compile error: cell[3]:1:1: undefined: f\n    f()\n    ^"}},
	{"use before definition", "func f() int { return x }\ny := f()\nx := 1", []string{
		"! compile error: cell[1]:2:6: f uses x, which is not defined before line 3\n    y := f()\n         ^"}},
	{"comma ok", "m := map[string]int{\"a\": 1}\nv, ok := m[\"a\"]\nfmt.Println(v, ok)\n_, ok = m[\"b\"]\nok", []string{"1 true\n= false"}},
	{"labels", "outer:\nfor i := range 3 {\n\tfor j := range 3 {\n\t\tif j == 1 { continue outer }\n\t\tfmt.Print(i, j, \" \")\n\t}\n}", []string{"0 0 1 0 2 0 "}},
	{"automatic import by what is used", "string(template.HTML(\"<b>\")) + fmt.Sprint(rand.Intn(1))\n---\nvar b strings.Builder\ntemplate.Must(template.New(\"\").Parse(\"{{.}}\")).Execute(&b, \"<b>\")\n---\nb.String()", []string{"= \"<b>0\"", "", "= \"<b>\""}},
	{"automatic imports", "fmt.Println(strings.Repeat(\"a\", 3), math.MaxInt8, rand.N(1))", []string{"aaa 127 0\n"}},
	{"shadowed package", "strings := 1\n---\nstrings + 1\n---\nimport \"strings\"\nstrings.ToUpper(\"a\")", []string{"", "= 2", "= \"A\""}},
	{"generic function and type", "type Stack[T any] struct{ items []T }\nfunc (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }\nfunc Map[T, U any](list []T, f func(T) U) []U { var out []U; for _, x := range list { out = append(out, f(x)) }; return out }\n---\ns := &Stack[string]{}\ns.Push(\"a\")\nMap(s.items, strings.ToUpper)", []string{"", "= [A]"}},
	{"scan", "var a, b int\nfmt.Sscan(\"1 2\", &a, &b)\na + b", []string{"= 3"}},
	{"positions after tabs and letters", "\tπ := 1; x := undefinedName", []string{"! compile error: cell[1]:1:16: undefined: undefinedName\n     π := 1; x := undefinedName\n                  ^"}},
}

func TestCells(t *testing.T) {
	t.Parallel()
	for _, row := range cellRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			cells := strings.Split(row.in, "\n---\n")
			if len(cells) != len(row.want) {
				t.Fatalf("%d cells, %d expectations", len(cells), len(row.want))
			}
			for i, src := range cells {
				n.must(t, src, row.want[i])
			}
		})
	}
}
