package interp_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/complete"
)

// completionCells are the cells that run before the one that is completed.
var completionCells = []string{
	`// Point is a place.
type Point struct{ X, Y int }
// Norm is the length.
func (p Point) Norm() float64 { return math.Sqrt(float64(p.X*p.X + p.Y*p.Y)) }
func (p *Point) Move(dx int) *Point { p.X += dx; return p }
type Inner struct{ Deep string; Hidden int }
func (i *Inner) Reach() string { return i.Deep }
type Outer struct {
	*Inner
	Place Point
	Hidden float64
	Children []Outer
	ByName map[string]*Outer
	Make func() Point
}
type Pair[K comparable, V any] struct{ Key K; Value V }
func (p Pair[K, V]) Swap() V { return p.Value }
type Shape interface{ Area() float64; Name() string }
type Named string
func (n Named) Shout() string { return strings.ToUpper(string(n)) }`,
	`point := Point{1, 2}
pointer := &point
outer := Outer{Inner: &Inner{}}
pair := Pair[string, Point]{Key: "k"}
var shape Shape
table := map[string][]Outer{}
points := []Point{point}
channel := make(chan Point, 1)
anything := any(point)
named := Named("n")
anonymous := struct{ First, Second int }{1, 2}
// origin gives where all begins.
func origin() (Point, error) { return Point{}, nil }
func makePoint(x, y int) *Point { return &Point{x, y} }
func Map[T, U any](list []T, f func(T) U) []U { return nil }
func first[T any](list []T) T { return list[0] }`,
	"import alias \"strings\"",
}

// completionRows have the cursor at |.
var completionRows = []struct {
	name, in string
	want     string // must be there, separated by spaces
	not      string // must not be there
}{
	// Unfinished functions and closures.
	{"parameter", "func f(width int) int {\n\treturn wi|", "width", ""},
	{"named result", "func f() (answer int) {\n\tans|", "answer", ""},
	{"receiver", "func (self *Point) Far() bool {\n\treturn self.|", "X Move Norm", "Deep"},
	{"closure parameter", "g := func(width int, p Point) int {\n\treturn p.|", "X Norm", ""},
	{"closure argument", "sort.Slice(points, func(left, right int) bool { return points[le|", "left", ""},
	{"closure argument member", "sort.Slice(points, func(left, right int) bool { return points[left].|", "X Y Norm", ""},
	{"nested closure", "f := func(a Point) {\n\tg := func(b Outer) {\n\t\tb.Place.|", "X Norm", "Deep"},
	{"closed goroutine", "go func(abc int) {\n\tab|\n}", "abc", ""},
	{"closed deferred", "defer func(abc Point) { abc.| }\nx := 1", "X Norm", ""},
	{"goroutine in a function", "func f() {\n\tgo func(abc Point) { abc.| }\n\tx := 1\n}", "X Norm", ""},
	{"closed type parameters", "func f[T cmp.|]", "Ordered", ""},
	{"argument before a comment", "makePoint(poi|, // the x", "point", ""},
	{"argument before a string", "fmt.Println(poi|, \"abc", "point", ""},
	{"broken line in the function", "func f(abc Point) {\n\tx := = 2\n\ty := abc\n\ty.|\n}", "X Norm", ""},
	{"names after a broken line", "x := = 3\nquantity := 1\nqua|", "quantity", ""},
	{"unmatched bracket above", "x := 3)\nquantity := point\nquantity.|", "X", ""},
	{"label in a switch", "outer:\n\tfor {\n\t\tswitch {\n\t\tcase true:\n\t\t\tcontinue ou|\n\t\t}\n\t}", "outer", ""},
	{"label of another function", "rows:\nfor {\n\tfunc() {\n\t\tfor {\n\t\t\tbreak ro|", "", "rows"},
	{"directory of a magic", "%cd poi|", "", "point"},
	{"magic with a space", "%cd |", "", "point"},
	{"line after a shell line", "!ls\npoi|", "point", ""},
	{"illegal letter", "😀 := 1; point.|", "X Norm", "Deep"},
	{"open parameters", "func f( { outer.Children[0].Place.|", "X Norm", "Deep"},
	{"nothing before the dot", "😀 + .|", "", "X"},
	{"open call with lines after", "fmt.Println(point.|\nx := 1\nfmt.Println(x)", "X Norm", ""},
	{"open call in a function", "func f(abc int) {\n\tfmt.Println(ab|\n\tx := 1\n\tfmt.Println(x)\n}", "abc", ""},
	{"open call member in a function", "func f(abc Point) {\n\tfmt.Println(abc.|\n\tx := 1\n}", "X Norm", ""},
	{"open brace with lines after", "for _, p := range points {\n\tp.|\nx := 1", "X Norm", ""},
	{"open index with lines after", "points[point.|\nx := 1", "X", ""},
	{"open literal with lines after", "p := Point{|\nx := 1", "X Y", ""},
	{"function below unfinished one", "func bad(a int {\n\nfunc good(abc Point) {\n\tabc.|\n}", "X", ""},
	{"statement below unfinished function", "func bad() {\n\tif true {\n}\nqua := point\nqua.|", "X", ""},
	{"captured in nested closure", "f := func(abc Point) {\n\tg := func(b Outer) {\n\t\tab|", "abc", ""},
	{"goroutine", "go func(abc int) {\n\tab|", "abc", ""},
	{"deferred", "defer func() {\n\tfailure := recover()\n\tfai|", "failure", ""},
	{"if with statement", "if err := point.|", "X Norm", ""},
	{"if with condition", "if value, err := origin(); err == nil && value.|", "X Norm", ""},
	{"else", "if value, err := origin(); err == nil {\n} else {\n\tvalue.|", "X Norm", ""},
	{"for clause", "for index := 0; index < 3; ind|", "index", ""},
	{"for condition", "for index := 0; ind|", "index", ""},
	{"switch", "switch value := point; value.|", "X", ""},
	{"case", "switch {\ncase point.|", "X", ""},
	{"type switch", "switch v := anything.(type) {\ncase Point:\n\tv.|", "X Norm", ""},
	{"type switch case", "switch anything.(type) {\ncase Po|", "Point", ""},
	{"select", "select {\ncase v := <-channel:\n\tv.|", "X Norm", ""},
	{"after assignment", "x := point.|", "X", ""},
	{"after equals", "point.X = outer.Place.|", "X Y", ""},
	{"operator", "y := 1 + point.|", "X", ""},
	{"unary", "y := !point.|", "X", ""},
	{"shadowed by a local", "func f() {\n\tpoint := outer\n\tpoint.|", "Place Deep", "Norm"},
	{"shadowed by the cell", "point := outer\npoint.|", "Place", "Norm"},
	{"shadowed import", "strings := point\nstrings.|", "Norm", "ToUpper"},
	{"const of a block", "func f() {\n\tconst limit = 3\n\tlim|", "limit", ""},
	{"local type", "func f() {\n\ttype Local struct{ Z int }\n\tvar l Local\n\tl.|", "Z", ""},
	{"local type name", "func f() {\n\ttype Local struct{ Z int }\n\tvar l Loc|", "Local", ""},
	{"later function of the cell", "lat|\nfunc later() {}", "later", ""},

	// After a dot.
	{"chained call", "strings.NewReplacer(\"a\", \"b\").|", "Replace WriteString", ""},
	{"long chain", "pointer.Move(1).Move(2).|", "X Move Norm", ""},
	{"chain over lines", "pointer.\n\tMove(1).\n\tMo|", "Move", ""},
	{"call result", "makePoint(1, 2).|", "X Move", ""},
	{"several results", "origin().|", "", "X"},
	{"field function", "outer.Make().|", "X Norm", ""},
	{"index of a slice", "points[0].|", "X", ""},
	{"index of a map", "table[\"a\"][0].|", "Place Deep", ""},
	{"index of a map of pointers", "outer.ByName[\"a\"].Children[1].|", "Place", ""},
	{"slice", "points[1:][0].|", "X", ""},
	{"pointer", "pointer.|", "X Move Norm", ""},
	{"dereference", "(*pointer).|", "X Move", ""},
	{"address", "(&point).|", "X Move", ""},
	{"pointer to pointer", "pp := &pointer\npp.|", "", "X Move"},
	{"promoted", "outer.|", "Deep Reach Inner Place Hidden", ""},
	{"type assertion", "anything.(Point).|", "X Norm", ""},
	{"unfinished type assertion", "anything.(Po|", "Point", ""},
	{"conversion", "Named(\"x\").|", "Shout", ""},
	{"literal", "Point{1, 2}.|", "X Norm", ""},
	{"receive", "(<-channel).|", "X", ""},
	{"anonymous struct", "anonymous.|", "First Second", ""},
	{"interface value", "shape.|", "Area Name", ""},
	{"error", "_, err := origin()\nerr.|", "Error", ""},
	{"generic instance", "pair.|", "Key Value Swap", ""},
	{"field of an instance", "pair.Value.|", "X Norm", ""},
	{"method of an instance", "pair.Swap().|", "X Norm", ""},
	{"inferred call", "first(points).|", "X Norm", ""},
	{"explicit instance", "first[Outer](nil).|", "Place", ""},
	{"inferred closure result", "Map(points, func(p Point) Outer { return Outer{} })[0].|", "Place", ""},
	{"inferred closure parameter", "slices.SortFunc(points, func(a, b Point) int { return a.|", "X Norm", ""},
	{"std generic", "slices.Max(points)[0].|", "", ""},
	{"atomic pointer", "var p atomic.Pointer[Point]\np.|", "Load Store", ""},
	{"atomic pointer value", "var p atomic.Pointer[Point]\np.Load().|", "X", ""},
	{"type parameter", "func f[S Shape](s S) {\n\ts.|", "Area Name", ""},
	{"type parameter with method", "func f[T interface{ ~int; Shout() string }](t T) {\n\tt.|", "Shout", ""},
	{"type parameter name", "func f[Element any](e Element) {\n\tvar other El|", "Element", ""},
	{"generic receiver", "func (p *Pair[A, B]) Other() {\n\tp.|", "Key Value Swap", ""},
	{"constraint", "func f[T cmp.|", "Ordered", ""},
	{"after a dot with text after", "point.| + 1", "X", ""},
	{"inside a member", "point.No|rm()", "Norm", ""},
	{"statement follows", "point.|\nx := 1", "X Norm", ""},
	{"call statement follows", "point.|\nfmt.Println(1)", "X Norm", ""},
	{"keyword follows", "point.|\nfor i := range 3 {\n}", "X Norm", ""},
	{"assignment follows", "func f() {\n\tpoint.|\n\tx = 1\n}", "X Norm", ""},
	{"struct variable of stdlib", "req := &http.Request{}\nreq.URL.|", "Path Query", ""},
	{"result of a package function", "time.Now().|", "Year Add", ""},
	{"method value", "f := point.Norm\nf.|", "", "X"},
	{"chained with broken arguments", "strings.NewReplacer(\"a\", ).|", "Replace", ""},
	{"in an index", "points[point.|", "X", ""},
	{"in a string index", "table[named.|", "Shout", ""},
	{"space after the dot", "point. |", "X", ""},
	{"optional semicolon", "point.X; point.|", "X", ""},

	// Struct literals.
	{"keys of a std type", "http.Server{Add|", "Addr", "Handler"},
	{"keys of a std type with others", "s := &http.Server{Addr: \":80\", |", "Handler ReadTimeout", "Addr"},
	{"keys over lines", "s := &http.Server{\n\tAddr: \":80\",\n\tHan|\n}", "Handler", ""},
	{"keys of a cell type", "p := Point{|", "X Y", ""},
	{"second key of a cell type", "p := Point{X: 1, |", "Y", "X"},
	{"nested", "o := Outer{Place: Point{|", "X Y", "Children"},
	{"nested after close", "o := Outer{Place: Point{1, 2}, |", "Hidden Children", "Place X"},
	{"address", "p := &Point{|", "X Y", ""},
	{"elements", "p := []Point{{|", "X Y", ""},
	{"second element", "p := []Point{{1, 2}, {X: 1, |", "Y", "X"},
	{"pointer elements", "p := []*Point{{|", "X Y", ""},
	{"map elements", "p := map[string]Point{\"a\": {|", "X Y", ""},
	{"literal of an instance", "p := Pair[string, int]{|", "Key Value", ""},
	{"anonymous literal", "p := struct{ Red, Green int }{R|", "Red", ""},
	{"literal argument", "fmt.Println(Point{|", "X Y", ""},
	{"returned literal", "func f() Point {\n\treturn Point{|", "X Y", ""},
	{"value of a key", "p := Point{X: poi|", "point points pointer", ""},
	{"value of a key member", "p := Point{X: point.|", "X", ""},
	{"pointer in a struct", "o := Outer{Inner: &Inner{|", "Deep Hidden", "Place"},
	{"type of the cell above", "type Fresh struct{ Apple, Pear int }\nf := Fresh{Ap|", "Apple", "Pear"},
	{"local type literal", "func f() {\n\ttype Local struct{ Apple int }\n\tl := Local{|", "Apple", ""},

	// Packages.
	{"alias", "alias.ToU|", "ToUpper", ""},
	{"package not imported", "htt|", "http httptest", ""},
	{"members before import", "http.|", "Get Server", ""},
	{"members deep in a call", "fmt.Println(strings.Rep|", "Repeat Replace", ""},
	{"import in the same cell", "import \"encoding/json\"\njson.|", "Marshal", ""},
	{"import alias in the same cell", "import enc \"encoding/json\"\nenc.Mar|", "Marshal", ""},
	{"unfinished import", "import \"enc|", "encoding/json encoding/xml", "fmt"},
	{"closed import", "import \"enc|\"", "encoding/json", "fmt"},
	{"import group", "import (\n\t\"fmt\"\n\t\"enc|\n)", "encoding/json", ""},
	{"import alias path", "import j \"enc|", "encoding/json", ""},
	{"import backquote", "import `enc|", "encoding/json", ""},
	{"package type", "var b strings.Bu|", "Builder", ""},
	{"package variable", "fmt.Fprintln(os.Std|", "Stdout Stderr Stdin", ""},
	{"package const", "math.Pi|", "Pi", ""},
	{"version in path", "rand.|", "IntN", ""},

	// Positions in statements.
	{"after range", "for _, p := range poi|", "point points", ""},
	{"after range member", "for _, p := range outer.|", "Children", ""},
	{"range variable", "for _, p := range points {\n\tp.|", "X", ""},
	{"range over a call", "for _, p := range slices.|", "Sorted Values", ""},
	{"range function variable", "for i, p := range slices.Backward(points) {\n\tp.|", "X", ""},
	{"type of a variable", "var x Po|", "Point", ""},
	{"type of a parameter", "func f(p Po|", "Point", ""},
	{"type of a second parameter", "func f(p int, q *Po|", "Point", ""},
	{"type of a result", "func f() Po|", "Point", ""},
	{"type of a field", "type T struct {\n\tp Po|", "Point", ""},
	{"type of an element", "x := []Po|", "Point", ""},
	{"type of a map value", "x := map[string]Po|", "Point", ""},
	{"type argument", "x := Pair[str|", "string", ""},
	{"second type argument", "x := Pair[string, Po|", "Point", ""},
	{"type in make", "x := make([]Po|", "Point", ""},
	{"type in new", "x := new(Po|", "Point", ""},
	{"channel type", "x := make(chan Po|", "Point", ""},
	{"package type in parameter", "func f(r io.|", "Reader Writer", ""},
	{"embedded", "type T struct {\n\tPo|\n}", "Point", ""},
	{"receiver type", "func (p *Po|", "Point", ""},
	{"first argument", "makePoint(poi|", "point", ""},
	{"second argument", "makePoint(1, point.|", "X", ""},
	{"argument with text after", "makePoint(1, poi|)", "point", ""},
	{"nested argument", "fmt.Println(makePoint(1, len(poi|", "points", ""},
	{"keyword", "swi|", "switch", ""},
	{"keyword in a function", "func f() {\n\tret|", "return", ""},
	{"builtin", "app|", "append", ""},
	{"predeclared type", "var x uint|", "uint8 uint64", ""},
	{"constant", "x := tr|", "true", ""},
	{"ctx", "ct|", "ctx", ""},
	{"break label", "rows:\nfor {\n\tbreak ro|", "rows", "point"},
	{"continue label", "func f() {\nrows:\n\tfor {\n\t\tcontinue |", "rows", "point"},
	{"goto label", "func f() {\n\tgoto en|\nend:\n}", "end", ""},
	{"name of the cell", "quantity := 3\nqua|", "quantity", ""},
	{"name of the cell after an error", "quantity := undefinedThing(\nqua|", "", ""},
	{"name after a type error", "var bad int = \"x\"\nquantity := 3\nqua|", "quantity", ""},
	{"member after a type error", "var bad int = \"x\"\np := point\np.|", "X", ""},
	{"member after an unknown function", "bad := unknown(1)\np := point\np.|", "X", ""},
	{"member after a broken line", "x := = 3\np := point\np.|", "X", ""},
	{"member after broken parentheses", "x := (3\np := point\np.|", "X", ""},
	{"member before a broken line", "p := point\np.|\nx := = 3", "X", ""},
	{"function before broken function", "func good(abc int) { ab| }\nfunc bad( {", "abc", ""},
	{"comment", "// poi|", "", "point"},
	{"comment at the end", "x := 1 // poi|", "", "point"},
	{"block comment", "/* poi|", "", "point"},
	{"block comment closed", "/* poi| */ x := 1", "", "point"},
	{"string", "x := \"poi|\"", "", "point"},
	{"unfinished string", "x := \"poi|", "", "point"},
	{"dot in a string", "fmt.Println(\"point.|", "", "X"},
	{"raw string", "x := `a\npoint.|", "", "X"},
	{"rune", "x := 'p|'", "", "point"},
	{"after a string", "x := \"a\" + poi|", "point", ""},
	{"after a comment", "/* c */ poi|", "point", ""},
	{"line after a comment", "// c\npoi|", "point", ""},
	{"number", "x := 0xfa|", "", "fallthrough"},
	{"float", "x := 1.|", "", "point X"},
	{"exponent", "x := 1e|", "", "point"},
	{"middle of a line", "x := poi| + 3", "point", ""},
	{"middle of a word", "x := po|int.X", "point", ""},
	{"CRLF", "x := 1\r\npoint.|\r\ny := 2\r\n", "X Norm", ""},
	{"CRLF function", "func f(abc int) {\r\n\tab|\r\n}", "abc", ""},
	{"emoji before", "s := \"😀👩‍👩‍👧\"; point.|", "X", ""},
	{"combining before", "s := \"e\u0301\u0302\"; point.|", "X", ""},
	{"CJK name", "世界 := point\n世界.|", "X", ""},
	{"CJK prefix", "世界 := point\n世|", "世界", ""},
	{"tabs", "\t\tpoint.|", "X", ""},
	{"empty", "|", "point Point", ""},
	{"blank line", "x := 1\n|\ny := 2", "point x", ""},
	{"magic", "%ti|", "%time", "time"},
	{"cell magic", "%%ba|", "%%bash", ""},
	{"code of a magic", "%time point.|", "X", ""},
	{"code of a magic with options", "%timeit -n 3 point.|", "X", ""},
	{"options of a magic", "%timeit -n| 3 point", "", "nil new"},
	{"package of the name that a statement defines", "list := list.|", "New List", "Sprint"},
	{"package of the name that a declaration defines", "var list = list.|", "New List", "Sprint"},
	{"the same behind a statement", "x := 1\nvar list = list.|", "New List", "Sprint"},
	{"the same with a type", "var list *list.List = list.|", "New List", "Sprint"},
	{"the same in a type", "var list *list.|", "List", "Sprint"},
	{"the same in a group", "var (\n\tx = 1\n\tlist = list.|\n)", "New List", "Sprint"},
	{"unary without a method", "y := !poi|", "point", ""},
	{"command whose output is assigned", "y := !ls poi|", "", "point"},
	{"below an assigned output", "files := !ls -l\npoint.|", "X", ""},
	{"code below a magic", "%%timeit -n 3\npoint.|", "X", ""},
	{"code of a cell magic", "%%time\npoint.|", "X", ""},
	{"after a magic", "%who\npoint.|", "X", ""},
	{"shell", "!ls poi|", "", "point"},
	{"bash cell", "%%bash\nls poi|", "", "point"},
	{"remainder is no magic", "x := 7 %ti|", "time", "%time"},
	{"new name", "poi|:= 3", "", ""},
	{"second dot", "point..|", "", "strings"},
	{"dot alone", ".|", "", "strings"},
	{"variadic", "append(points, poi|", "point", ""},
	{"defer", "defer pointer.|", "Move", ""},
	{"go statement", "go pointer.|", "Move", ""},
	{"return value", "func f() int {\n\treturn point.|", "X", ""},
	{"send", "channel <- outer.|", "Place", ""},
	{"first of several", "x, y := point.|, 1", "X", ""},
	{"var with a value", "var x = point.|", "X", ""},
	{"var with a type and a value", "var x int = point.|", "X", ""},
	{"var group", "var (\n\tx = point.|\n)", "X", ""},
	{"const value", "const c = math.|", "Pi", ""},
	{"const group", "const (\n\tc = math.|\n)", "Pi", ""},
	{"alias of a package type", "type T = http.|", "Server", ""},
	{"type of a package", "type T http.|", "Server", ""},
	{"field type of a package", "type T struct {\n\ts *http.|\n}", "Server", ""},
	{"interface method", "type T interface {\n\tF(r io.|\n}", "Reader", ""},
	{"element type of a package", "x := []http.|{}", "Server", ""},
	{"map of a package type", "x := map[string]http.|", "Server", ""},
	{"if before the block", "if point.| {\n}", "X Norm", ""},
	{"if inside the block", "if point.X == 1 {\n\tpoint.|\n}", "X Norm", ""},
	{"for before the block", "for point.| {\n}", "X", ""},
	{"range before the block", "for _, p := range outer.| {\n}", "Children", ""},
	{"switch before the block", "switch point.| {\n}", "X", ""},
	{"case with a colon", "switch {\ncase point.|:\n}", "X", ""},
	{"statement in a case", "switch {\ncase true:\n\tpoint.|\n}", "X", ""},
	{"default", "switch {\ndefault:\n\tpoint.|", "X", ""},
	{"type switch of several", "switch v := anything.(type) {\ncase Point, Outer:\n\tv.|", "", "X"},
	{"type switch of a package", "switch anything.(type) {\ncase http.|", "Server", ""},
	{"select send", "select {\ncase channel <- outer.|", "Place", ""},
	{"stray bracket", "point.|)", "X", ""},
	{"stray brackets", "fmt.Println(point.|))", "X", ""},
	{"stray brace above", "}\npoint.|", "X", ""},
	{"stray brace below", "point.|\n}", "X", ""},
	{"else alone", "point.|\nelse {\n}", "X", ""},
	{"statements on a line", "x := point.|; y := 1", "X", ""},
	{"dot import", "import . \"strings\"\nToUp|", "ToUpper", ""},
	{"import and use on a line", "import m \"math\"; m.|", "Pi", ""},
	{"init", "func init() {\n\tpoint.|", "X", ""},
	{"main", "func main() {\n\tpoint.|", "X", ""},
	{"our package", "accel.|", "Fit", ""},
	{"value with the name of a package", "http := 3\nhttp.|", "", "Server"},
	{"parameter with the name of a package", "func f(strings []string) {\n\tstrings.|", "", "ToUpper"},
	{"unknown package", "nosuchpackage.|", "", "strings"},
	{"after a label", "rows:\n\tfor {\n\t\tpoint.|", "X", ""},
	{"method expression of a pointer", "(*Point).|", "Move Norm", "X"},
	{"alias of a type", "type PA = Point\np := PA{|", "X Y", ""},
	{"map of functions", "m := map[string]func() Point{}\nm[\"a\"]().|", "X", ""},
	{"channel of functions", "c := make(chan func() Point)\n(<-c)().|", "X", ""},
	{"function literal called", "func() Point { return point }().|", "X Norm", ""},
	{"elements in a literal", "o := []Outer{{Place: Point{|", "X Y", ""},
	{"elements of an array", "o := [...]Point{{|", "X Y", ""},
	{"keys of a map", "m := map[Point]string{{|", "X Y", ""},
	{"pointers in elements", "o := []*Outer{{Inner: &Inner{|", "Deep", "Place"},
	{"value of an instance", "p := Pair[string, Point]{Value: Point{|", "X Y", "Key"},
	{"generic with elided type", "p := []Pair[string, Point]{{|", "Key Value", ""},
	{"literal in a field function", "o := Outer{Make: func() Point {\n\treturn Point{|", "X Y", "Make"},
	{"anonymous in a struct", "x := struct{ In struct{ Apple int } }{In: struct{ Apple int }{|", "Apple", ""},
	{"embedded interface", "type Both interface {\n\tShape\n\tClose() error\n}\nvar b Both\nb.|", "Area Close", ""},
	{"embedded instance", "type E struct{ *Pair[string, Point] }\nvar e E\ne.|", "Key Value Swap Pair", ""},
	{"embedded of the library", "type E struct {\n\tsync.Mutex\n\tn int\n}\nvar e E\ne.|", "Lock Unlock n Mutex", ""},
	{"struct tag", "type T struct {\n\tA int `json:\"poi|\"`\n}", "", "point"},
	{"several results to names", "p, err := origin()\np.|", "X Norm", ""},
	{"comma ok", "p, ok := table[\"a\"]\np[0].|", "Place", ""},
	{"result without a body", "func f() (p Point, err error) {\n\tp.|", "X Norm", ""},
	{"curried", "func f(a Point) func(b Outer) int {\n\treturn func(b Outer) int {\n\t\treturn a.|", "X Norm", ""},
	{"min", "min(point.X, point.|", "X Y", ""},
	{"new", "new(Point).|", "X Move", ""},
	{"append", "append(points, point)[0].|", "X", ""},
	{"copy of a loop variable", "for i := range points {\n\tp := points[i]\n\tp.|\n}", "X Norm", ""},
	{"recursive type", "outer.Children[0].Children[0].Place.|", "X Norm", ""},
	{"constraint literal", "func f[T interface{ Nor|", "", ""},
	{"second type parameter", "func f[K comparable, V Sha|", "Shape", ""},
	{"iterator", "for k, v := range maps.All(table) {\n\tv[0].|", "Place", ""},
	{"method of the same cell", "func (p Point) Twice() int { return 2 * p.X }\npoint.Tw|", "Twice", ""},
	{"defer in a function", "func f() {\n\tdefer pointer.|\n\tx := 1\n}", "Move", ""},
	{"defer before a brace", "func f() { defer pointer.| }", "Move", ""},
	{"method of the same cell on a generic type", "func (p Pair[K, V]) Turn() K { return p.Key }\npair.Tu|", "Turn", ""},
	{"type and method of the same cell", "type Fresh struct{ Apple int }\nfunc (f *Fresh) Peel() {}\nvar f Fresh\nf.|", "Apple Peel", ""},
	{"redefined type", "type Point struct{ Z int }\nvar p Point\np.|", "Z", "X"},
	{"no-break space", "x := 1\u00a0\npoint.|", "X", ""},
	{"byte order mark", "\ufeffpoint.|", "X", ""},
	{"dots", "append(points, poi|...)", "points", ""},
}

// at completes src at the mark.
func (n *notebook) completeAt(t *testing.T, in string) []complete.Item {
	t.Helper()
	offset := strings.Index(in, "|")
	src := in[:offset] + in[offset+1:]
	start, end, items := n.Complete(src, offset)
	if start < 0 || start > offset || end < offset || end > len(src) {
		t.Errorf("%q: replaces %d to %d around %d", in, start, end, offset)
	}
	return items
}

func texts(items []complete.Item) []string {
	var list []string
	for _, i := range items {
		list = append(list, i.Text)
	}
	return list
}

func completionNotebook(t testing.TB) *notebook {
	t.Helper()
	n := newNotebook(t)
	for _, src := range completionCells {
		if out := n.run(src); strings.Contains(out, "!") {
			t.Fatal(out)
		}
	}
	return n
}

func TestComplete(t *testing.T) {
	t.Parallel()
	n := completionNotebook(t)
	for _, row := range completionRows {
		t.Run(row.name, func(t *testing.T) {
			got := texts(n.completeAt(t, row.in))
			for _, w := range strings.Fields(row.want) {
				if !slices.Contains(got, w) {
					t.Errorf("%q: no %s in %.300q", row.in, w, got)
				}
			}
			for _, w := range strings.Fields(row.not) {
				if slices.Contains(got, w) {
					t.Errorf("%q: %s in %.300q", row.in, w, got)
				}
			}
		})
	}
}

// TestCompleteItem checks the first completion, with its kind and type.
func TestCompleteItem(t *testing.T) {
	t.Parallel()
	n := completionNotebook(t)
	for _, row := range []struct {
		in   string // | is the cursor
		want complete.Item
	}{
		{"outer.Hid|", complete.Item{Text: "Hidden", Kind: "field", Type: "float64"}}, // not that of Inner
		{"outer.Rea|", complete.Item{Text: "Reach", Kind: "function", Type: "func() string", Snippet: "Reach()$0"}},
		{"pair.Val|", complete.Item{Text: "Value", Kind: "field", Type: "Point"}},
		{"pair.Sw|", complete.Item{Text: "Swap", Kind: "function", Type: "func() Point", Snippet: "Swap()$0"}},
		{"point.Mo|", complete.Item{Text: "Move", Kind: "function", Type: "func(dx int) *Point", Snippet: "Move(${1:dx})$0"}},
		{"Point{|", complete.Item{Text: "X", Kind: "field", Type: "int"}},
		{"Point{X: 1, |", complete.Item{Text: "Y", Kind: "field", Type: "int"}},
		{"http.Server{|", complete.Item{Text: "Addr", Kind: "field", Type: "string"}},
		{"tabl|", complete.Item{Text: "table", Kind: "instance", Type: "map[string][]Outer"}},
		{"makeP|", complete.Item{Text: "makePoint", Kind: "function", Type: "func(x int, y int) *Point", Snippet: "makePoint(${1:x}, ${2:y})$0"}},
		{"Ma|", complete.Item{Text: "Map", Kind: "function", Type: "func[T, U any](list []T, f func(T) U) []U", Snippet: "Map(${1:list}, ${2:f})$0"}},
		{"Shap|", complete.Item{Text: "Shape", Kind: "type", Type: "interface{Area() float64; Name() string}"}},
		{"strings.Builde|", complete.Item{Text: "Builder", Kind: "type", Type: "struct"}},
		{"math.Pi|", complete.Item{Text: "Pi", Kind: "const", Type: "untyped float"}},
		{"http.StatusO|", complete.Item{Text: "StatusOK", Kind: "const", Type: "untyped int"}},
		{"os.Stdo|", complete.Item{Text: "Stdout", Kind: "instance", Type: "*os.File"}},
		{"httpt|", complete.Item{Text: "httptest", Kind: "module", Type: "net/http/httptest"}},
		{"alia|", complete.Item{Text: "alias", Kind: "module", Type: "strings"}},
		{"import \"encoding/js|", complete.Item{Text: "encoding/json", Kind: "module"}},
		{"swit|", complete.Item{Text: "switch", Kind: "keyword"}},
		{"appen|", complete.Item{Text: "append", Kind: "function", Snippet: "append(${1})$0"}},
		{"uint1|", complete.Item{Text: "uint16", Kind: "type"}},
		{"tru|", complete.Item{Text: "true", Kind: "const", Type: "untyped bool"}},
		{"ct|", complete.Item{Text: "ctx", Kind: "instance", Type: "context.Context"}},
		{"rows:\nfor {\n\tbreak |", complete.Item{Text: "rows", Kind: "label"}},
		{"%%ba|", complete.Item{Text: "%%bash", Kind: "magic"}},
		{"func f(width int) { wid|", complete.Item{Text: "width", Kind: "instance", Type: "int"}},
		{"func f[Elem any](e Elem) { Ele|", complete.Item{Text: "Elem", Kind: "type", Type: "any"}},
	} {
		items := n.completeAt(t, row.in)
		if len(items) == 0 || items[0] != row.want {
			t.Errorf("%q: got %.300q, want %q first", row.in, items, row.want)
		}
	}
}

// TestToolsAnywhere completes and inspects at every offset of cells, and at offsets outside.
func TestToolsAnywhere(t *testing.T) {
	t.Parallel()
	n := completionNotebook(t)
	for _, src := range []string{
		"", " ", "\r\n", "%", "%%", "!", "point.\r\n", "s := \"😀e\u0301世\"; point.X", "\xff\xfe.", "/*", "`", "'",
		"for i := range 3 { go func() { points[i].X } }", "import (\"enc", "func (p *Point) F[T any](", "type T[", "}{)(",
		"goto", "break cursorʹ", "x.(type", "func (p ...Point) F() {}\npoint.X", "func (Pair[string, int]) F() {}\npair.F", "func (p, q Point) F() {}; point.F", "switch x := y.(type) {case", "package main\nfunc main() {", "if x := (struct{}{}); ",
	} {
		for offset := -2; offset < len(src)+3; offset++ {
			start, end, _ := n.Complete(src, offset)
			at := min(max(offset, 0), len(src))
			if start < 0 || start > at || end < at || end > len(src) {
				t.Errorf("%q at %d: replaces %d to %d", src, offset, start, end)
			}
			n.Inspect(src, offset, offset%2)
		}
	}
	n.must(t, "point.X", "= 1")
}

// TestToolsLongCell completes in the last line of a long cell.
func TestToolsLongCell(t *testing.T) {
	t.Parallel()
	n := completionNotebook(t)
	src := strings.Repeat("func() { fmt.Println(point) }()\n", 10_000) + "point."
	if _, _, items := n.Complete(src, len(src)); !slices.Contains(texts(items), "Norm") {
		t.Errorf("got %q", items)
	}
	if data := n.Inspect(src, len(src)-2, 0); data["text/plain"] != "var point Point = {X:1 Y:2}\n\nPoint is a place." {
		t.Errorf("got %q", data)
	}
}

// TestCompletionInStrings completes keys of maps and names of files. In each row, | marks the cursor.
func TestCompletionInStrings(t *testing.T) {
	n := newNotebook(t)
	t.Chdir(t.TempDir())
	for _, name := range []string{"data/train.csv", "data/test.csv", "notes.txt"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	n.must(t, "ages := map[string]int{\"ann\": 1, \"anton\": 2, \"bob \\\"b\\\"\": 3, \"ü\": 4}\nnumbers := map[int]string{1: \"a\"}\nslice := []int{1}\n"+
		"var none map[string]int\ntype K string\nfunc (K) String() string { panic(\"called\") }\nkeys := map[K]int{\"k\": 1}\n"+
		"nested := []struct{ M map[string]map[string]int }{{map[string]map[string]int{\"x\": {\"y\": 1}}}}\nblocks := make(chan string)", "")
	for _, row := range []struct{ name, in, want string }{
		{"keys", `ages["|`, `ann,anton,bob \"b\",ü`},
		{"keys with a prefix", `x := ages["an|"] + 1`, "ann,anton"},
		{"keys in a raw string", "ages[`bo|", `bob "b"`},
		{"other keys", `numbers["|`, ""},
		{"keys of a map in a map", `nested[0].M["x"]["|`, "y"},
		{"keys of a map that is not there", `nested[7].M["|`, ""},
		{"a receive", `ages[<-blocks]["|`, ""},
		{"a key to delete", `delete(ages, "an|")`, "ann,anton"},
		{"no key to delete", `append(ages, "an|")`, ""},
		{"an index", `slice["|`, ""},
		{"a nil map", `none["|`, ""},
		{"keys with methods", `keys["|`, ""},
		{"an unknown name", `missing["|`, ""},
		{"a call", `f()["|`, ""},
		{"files", `os.ReadFile("|`, "data/,notes.txt"},
		{"files of a directory", `os.ReadFile("data/t|")`, "data/test.csv,data/train.csv"},
		{"files without a call", `path := "data/te|`, "data/test.csv"},
		{"no files", `text := "|`, ""},
		{"no such directory", `os.ReadFile("missing/|`, ""},
		{"behind a string", `fmt.Println("data/"|`, ""},
		{"an import", `import "encoding/js|`, "encoding/json"},
	} {
		offset := strings.Index(row.in, "|")
		start, end, items := n.Complete(row.in[:offset]+row.in[offset+1:], offset)
		var got []string
		for _, i := range items {
			got = append(got, i.Text)
		}
		if text := strings.Join(got, ","); text != row.want || start > offset || end != offset {
			t.Errorf("%s: %s: got %s from %d to %d, want %s", row.name, row.in, text, start, end, row.want)
		}
	}
	if start, end, items := n.Complete("ages[", 5); start != 5 || end != 5 || len(items) < 5 || items[0].Text != `"ann"` || items[2].Text != `"bob \"b\""` || items[4].Kind == "field" {
		t.Errorf("behind a bracket: %v", items[:min(len(items), 5)])
	}
	n.must(t, "stop := make(chan bool)\nwrites := map[string]int{\"a\": 1}\n_ = writes\ngo func() { <-stop }()", "")
	if _, _, items := n.Complete(`writes["`, 8); len(items) > 0 {
		t.Errorf("a map is read while a goroutine of a cell runs: %v", items)
	}
	n.must(t, "close(stop)", "")
}
