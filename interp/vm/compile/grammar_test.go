package compile_test

import "strings"

// declarations are the beginning of each program. Go does not define the capacity of what append returns, and its compiler gives inlined
// functions and results others than package facts does. So a function that appends is not inlined, or it returns a slice that it has made.
const declarations = `
type point struct {
	x, y int
	name string
	in   struct{ a [3]int8; f float64 }
}
type pair struct{ a, b int32 }
type color uint8
type celsius float64
type shape interface{ area() int }
type node struct { value int; next *node }
type stack[T any] struct{ list []T }
type failure struct{ code int }
func (p point) sum() int { return p.x + p.y + len(p.name) }
func (p *point) move(d int) { p.x += d; p.y -= d; p.in.a[p.x&1]++ }
func (p point) area() int { return p.x * p.y }
func (p pair) swap() pair { return pair{p.b, p.a} }
func (p pair) area() int { return int(p.a) - int(p.b) }
func (p pair) String() string { return fmt.Sprint("pair ", p.a, "/", p.b) }
func (c color) String() string { return fmt.Sprintf("color %d", uint8(c)) }
func (c color) area() int { return int(c) }
func (c celsius) round() int { return clamp(float64(c)) }
func (n *node) area() int { s := 0; for i := 0; n != nil && i < 99; i++ { s += n.value; n = n.next }; return s }
//go:noinline
func (s *stack[T]) push(x T) { s.list = append(s.list, x) }
func (s stack[T]) size() int { return len(s.list) }
func (f failure) Error() string { return fmt.Sprint("failure ", f.code) }
func twice(f func(int) int, n int) int { return f(f(n)) }
func two(a, b int) (int, string) { return a - b, fmt.Sprint(a, b) }
func named(n int) (r int, s string) { r = n * 2; if n > 3 { s = "big"; return }; return r + 1, "small" }
func late(n int) (r int, err error) { defer func() { r *= 2; if x := recover(); x != nil { err = fmt.Errorf("late: %v", x) } }(); r = 7 / (n & 1); return r + n, nil }
func sum(list ...int) (n int) { for _, v := range list { n += v }; return }
func fact(n int) int { if n < 2 { return 1 }; return n * fact(n-1) }
func clamp(f float64) int { if f > -1000 && f < 1000 { return int(f) }; return 1000 }
func mapped[T, U any](list []T, f func(T) U) (r []U) { if len(list) > 0 { r = make([]U, 0, len(list)) }; for _, x := range list { r = append(r, f(x)) }; return }
func total[T int | int8 | uint16 | float64 | color](list ...T) (n T) { for _, x := range list { n += x }; return }
func first[T comparable](list []T, x T) int { for i, y := range list { if x == y { return i } }; return -1 }
func seq(n int) func(yield func(int) bool) { return func(yield func(int) bool) { for i := 0; i < n; i++ { if !yield(i * i) { return } } } }
func pairs(list []int) func(yield func(int, int) bool) { return func(yield func(int, int) bool) { for i, v := range list { if !yield(i, v) { return } } } }
func clip(s string) string { if len(s) > 60 { return s[:9] }; return s }
func short(s []int) []int { if len(s) > 30 { return s[:5] }; return s }
func fails(n int) error { if n&3 == 0 { return nil }; if n&1 == 1 { return failure{n & 7} }; return fmt.Errorf("wrapped %w", failure{n & 15}) }
func double(n int) int { return 2 * n }
func try(f func() string) (out string) { defer func() { if r := recover(); r != nil { out = fmt.Sprintln("panic", r) } }(); return f() }
func kind(x any) string { return fmt.Sprintf("%T", x)[strings.Index(fmt.Sprintf("%T", x), ".")+1:] }
var counter, zero, steps int
var shared = []int{1, 2, 3}
var table map[string]int
`

var integerKinds = []string{"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64"}

// plainKinds are the types of variables; interpretedKinds only of those in functions that yaegi runs.
var (
	plainKinds = append(integerKinds[:len(integerKinds):len(integerKinds)], "float64", "float32", "bool", "string",
		"[]int", "[]string", "[]byte", "[]rune", "[4]int16", "[][]int", "[3][2]int", "map[int]int", "map[string]int", "map[pair]string",
		"point", "*point", "[]point", "pair", "color", "celsius", "func(int) int", "*int", "*node", "error", "any", "struct{ a int; b string }")
	interpretedKinds = []string{"complex128", "shape", "stack[int]", "[]any", "[]shape", "map[string][]int", "func(point) string", "[2]string", "fmt.Stringer"}
)

// literals are expressions without placeholders, by type.
var literals = map[string][]string{
	"float64":         {"float64(zero) + 1.5", "(float64(zero) - 30.25)", "(float64(zero) + 0.1)", "-(float64(zero))"},
	"float32":         {"(float32(zero) + 0.1)"},
	"bool":            {"(zero == 0)", "(zero != 0)"},
	"string":          {`"a"`, `"héllo"`, `"\xff\xfe"`, `""`, `"日本"`},
	"[]int":           {"[]int{4, 5}", "([]int{1, 5: 3})", "append([]int(nil), 1, 2)", "make([]int, 3, 7)"},
	"[]string":        {`[]string{"p", "q"}`, "make([]string, 2)"},
	"[]byte":          {`[]byte("xyz")`, "([]byte{1, 2, 200})"},
	"[]rune":          {`[]rune("añ日")`},
	"[4]int16":        {"[4]int16{1, 3: -7}", "([...]int16{1, 2, 3, 4})"},
	"[][]int":         {"[][]int{{1}, nil, {2, 3}}", "make([][]int, 2)"},
	"[3][2]int":       {"[3][2]int{{1, 2}, 2: {1: 7}}"},
	"map[int]int":     {"map[int]int{1: 2, 3: 4}"},
	"map[string]int":  {`map[string]int{"a": 1, "": 2}`},
	"map[pair]string": {`map[pair]string{{1, 2}: "x"}`},
	"point":           {`point{1, 2, "n", struct{ a [3]int8; f float64 }{f: 1.5}}`, "(point{x: 3})"},
	"*point":          {"(&point{x: 8, y: 9})", "new(point)"},
	"[]point":         {`[]point{{x: 1}, {name: "z"}}`},
	"pair":            {"(pair{3, -4})", "pair{b: 1}"},
	"color":           {"color(zero + 3)", "color(zero + 200)"},
	"celsius":         {"celsius(36.5)"},
	"func(int) int":   {"func(n int) int { return n*2 + 1 }", "double"},
	"*int":            {"new(int)", "func() *int { n := 5; return &n }()"},
	"*node":           {"(*node)(nil)", "&node{value: 4}"},
	"error":           {"error(nil)", `errors.New("e")`, "fails(3)"},
	"any":             {"any(nil)", "any(7)", `any("s")`, "any(color(3))", "any(pair{1, 2})", "any(int8(-3))"},

	"struct{ a int; b string }": {`struct{ a int; b string }{2, "k"}`},

	"complex128":         {"complex(float64(zero), 2)", "(complex(float64(zero), 0) + 0.5i)"},
	"shape":              {"shape(nil)", "shape(pair{9, 4})", "shape(&node{value: 2})", "shape(color(9))"},
	"stack[int]":         {"stack[int]{}", "stack[int]{[]int{1}}"},
	"[]any":              {`[]any{1, "x", nil, pair{2, 3}, 2.5}`},
	"[]shape":            {"[]shape{pair{5, 1}, &point{x: 2, y: 3}}"},
	"map[string][]int":   {`map[string][]int{"a": {1, 2}}`},
	"func(point) string": {"func(p point) string { return p.name + fmt.Sprint(p.x) }"},
	"[2]string":          {`[2]string{1: "w"}`},
	"fmt.Stringer":       {"fmt.Stringer(color(4))", "fmt.Stringer(nil)"},
}

// expressions are rules for expressions, by type.
var expressions = map[string][]string{
	"float64": {"<float64> + <float64>", "(<float64> - <float64>)", "<float64> * <float64>", "(<float64> / <float64>)", "-(<float64>)", "-<&float64>", "+<&float64>",
		"float64(<int>)", "float64(<uint64>)", "float64(<float32>)", "math.Sqrt(<float64>)", "min(<float64>, <float64>)", "max(<float64>, <float64>)", "<point>.in.f",
		"float64(<celsius>)", "math.Floor(<float64>)", "~real(<complex128>)", "~imag(<complex128>)", "~total(<float64>, 0.5)"},
	"float32": {"(<float32> + <float32>)", "<float32> * <float32>", "float32(<float64>)", "float32(<int16>)", "-(<float32>)"},
	"bool": {"!(<bool>)", "(<bool> && <bool>)", "<bool> || <bool>", "((<bool>) == (<bool>))", "<int> < <int>", "<int8> <= <int8>", "(<uint64> > <uint64>)", "clip(<string>) == <string>", "<string> < clip(<string>)",
		"<float64> >= <float64>", "<float32> != <float32>", "(<pair> == <pair>)", "<[4]int16> == <[4]int16>", "<*point> == <*point>", "<error> == nil", "<any> != nil", "<*node> != nil", "(<uint8> == <uint8>) && <bool>", "(-(<int16>) == <int16>) || <bool>",
		"(<&uint32>) == <uint32> && (<bool>)", "<pair> == (pair{1, 2}) && <bool>", "len(clip(<string>)) > 2", "<color> < <color>", "<point>.in.a == <point>.in.a", "<struct{ a int; b string }> == <struct{ a int; b string }>",
		"~<any> == any(<int>)", "~<any> == <any>", "~<complex128> == <complex128>", "~<shape> == nil", "~errors.Is(<error>, <error>)", "~<shape> == shape(<pair>)", "~<[2]string> != <[2]string>", "strings.Contains(<string>, <string>)"},
	"string": {"(<string> + <string>)", "clip(<string> + <string>)", "string(<[]byte>)", "string(<[]rune>)", "fmt.Sprint(<int>)", "strings.ToUpper(<string>)", "<point>.name", "string(rune(<int>))", "append(<[]string>, \"t\")[0]",
		"strings.Repeat(<string>, <int> & 1)", "fmt.Sprintf(\"%d|%5.2f|%q\", <int>, <float64>, <string>)", "<map[pair]string>[<pair>]", "<struct{ a int; b string }>.b", "min(clip(<string>), <string>)", "func() string { if (<bool>) { return <string> }; return <string> }()",
		"(<string> + \"héy\")[1:3]", "<color>.String()", "<pair>.String()", "fmt.Sprint(<color>, <pair>)", "strconv.Itoa(<int>)", "kind(<any>)", "~fmt.Sprintf(\"%v %+v\", <any>, <pair>)", "~<func(point) string>(<point>)", "~<[2]string>[<int> & 1]", "~fmt.Sprint(<[]any>...)", "~strings.Join(mapped(<[]int>, func(n int) string { return fmt.Sprint(n + <int>) }), \"-\")"},
	"[]int":           {"append(<[]int>, <int>)", "short(append(<[]int>, <[]int>...))", "append(<[]int>, <int>)[:1]", "append([]int{}, shared...)", "append([]int{<int>}, <[]int>...)", "append(<[][]int>, <[]int>)[0]", "[]int{<int>, <int>}", "~mapped(<[]int>, <func(int) int>)", "~<stack[int]>.list", "~<map[string][]int>[<string>]"},
	"[]string":        {"append(<[]string>, <string>)", "[]string{<string>, 3: <string>}", "strings.Fields(<string>)"},
	"[]byte":          {"append(<[]byte>, <uint8>)", "[]byte(<string> + \"!\")", "append(<[]byte>, <string>...)"},
	"[]rune":          {"[]rune(<string>)", "append(<[]rune>, rune(<int8>))"},
	"[4]int16":        {"[4]int16{<int16>, 2: <int16>}", "func() [4]int16 { a := <[4]int16>; a[<int> & 3] += <int16>; return a }()"},
	"[][]int":         {"append(<[][]int>, <[]int>)", "[][]int{<[]int>, {<int>}}"},
	"[3][2]int":       {"func() [3][2]int { a := <[3][2]int>; b := a; a[1][<int> & 1] = <int>; b[2] = a[1]; return b }()", "[3][2]int{{<int>}}"},
	"map[int]int":     {"map[int]int{<int>: <int>}"},
	"map[pair]string": {"map[pair]string{<pair>: <string>}"},
	"point":           {"(*<&*point>)", "append(<[]point>, <point>)[0]", "func() point { p := <point>; p.move(1); return p }()", "point{<int>, <int>, <string>, <point>.in}", "func(p point, ok bool) point { if ok { p.x++ }; return p }(<point>, <bool>)"},
	"*point":          {"&point{x: <int>}", "func() *point { p := <point>; return &p }()"},
	"[]point":         {"append(<[]point>, <point>)", "[]point{<point>, {y: <int>}}"},
	"pair":            {"<pair>.swap()", "pair{int32(<int>), 1}", "pair(struct{ a, b int32 }{<int32>, 2})"},
	"color":           {"color(<int>)", "(<color> + <color>)", "color(<uint8>)", "(<color> << (<uint8> & 3))", "~total(<color>, <color>)"},
	"celsius":         {"celsius(<float64>)", "(<celsius> * <celsius>)", "(<celsius> + 0.5)"},
	"func(int) int":   {"func(n int) int { if n > 100 { return <&int> }; return n + <&int> }", "func(f func(int) int) func(int) int { return func(n int) int { return f(n) - 1 } }(<func(int) int>)", "~func(n int) int { r, _ := late(n); return r }"},
	"*int":            {"func() *int { n := <int>; return &n }()", "&<&[]point>[0].x", "&<&*point>.y"},
	"*node":           {"&node{<int>, <*node>}"},
	"error":           {"fails(<int>)", "error(failure{<int> & 3})", "~func() error { _, err := late(<int>); return err }()"},
	"any":             {"any(<int>)", "any(<string>)", "any(<pair>)", "any(<color>)", "any(<float64>)", "any(<error>)", "any(<uint8>)", "~any(<[]int>)", "~any(<point>.in.a)", "~any(<complex128>)"},

	"struct{ a int; b string }": {"struct{ a int; b string }{<int>, <string>}"},

	"complex128":         {"(<complex128> + <complex128>)", "(<complex128> * <complex128>)", "complex(<float64>, <float64>)", "(<complex128> - 2i)", "-(<complex128>)"},
	"shape":              {"shape(<pair>)", "shape(<*node>)", "shape(<color>)", "shape(<*point>)", "append(<[]shape>, <shape>)[0]"},
	"stack[int]":         {"stack[int]{<[]int>}", "func() stack[int] { s := <stack[int]>; s.push(<int>); return s }()"},
	"[]any":              {"append(<[]any>, <any>)", "[]any{<int>, <string>, <any>}"},
	"[]shape":            {"append(<[]shape>, <shape>)"},
	"map[string][]int":   {"map[string][]int{<string>: <[]int>}"},
	"func(point) string": {"func(p point) string { p.move(<&int>); return fmt.Sprint(p.x, p.sum()) }", "func(point) string { return <&string> }"},
	"[2]string":          {"[2]string{<string>, <string>}"},
	"fmt.Stringer":       {"fmt.Stringer(<pair>)", "fmt.Stringer(<color>)"},
}

func init() {
	for _, k := range integerKinds {
		literals[k] = []string{k + "(zero + 3)", k + "(zero + 100)", k + "(zero - 7)", "(" + k + "(zero))"}
		rules := []string{"(K)", "<K> + <K>", "(<K> - <K>)", "<K> * <K>", "(<K> & <K>)", "(<K> | <K>)", "(<K> ^ <K>)", "<K> &^ <K>", "<K> / (<K> | 1)", "(<K> % (<K> | 1))",
			"(<K> << (<uint8> & 15))", "<K> >> (<uint> & 63)", "(<K> << (<uint8> & 127))", "<K> >> (<int8> & 31)", "-(<K>)", "^<K>", "-<&K>", "+(<K>)", "min(<K>, <K>)", "max(<K>, 5, <K>)",
			"K(clamp(<float64>))", "(<&K> + 5)", "(<&K> - 100)", "<&K> * 3", "(<&K> / 3)", "<&K> % 10", "<&K> << 3", "(<&K>)", "func() K { if (<bool>) { return <K> }; return <K> }()"}
		rules[0] = "(<K>)"
		for _, from := range integerKinds {
			rules = append(rules, "K(<"+from+">)")
		}
		for _, r := range rules {
			expressions[k] = append(expressions[k], strings.ReplaceAll(r, "K", k))
		}
	}
	expressions["int"] = append(expressions["int"], "len(clip(<string>))", "len(<[]int>)", "cap(append(<[]int>, 1)[:1:1])", "append(<[]int>, 1)[0]", "<map[int]int>[<int>]", "<map[string]int>[<string>]", "<point>.x", "<&*point>.y", "<point>.sum()",
		"twice(<func(int) int>, <int>)", "sum(<int>, <int>)", "sum(<[]int>...)", "fact(<int> & 7)", "<[3][2]int>[<int> & 1][<int> & 1]", "len(<[][]int>)", "<func(int) int>(<int>)", "*(<*int>)", "(<*node>).area()", "<pair>.area()", "point.sum(<point>)", "(*point).sum(<*point>)",
		"len(<[]rune>)", "<celsius>.round()", "<struct{ a int; b string }>.a", "strings.Index(<string>, <string>)", "func() (n int) { for _, v := range (<[]int>) { n += v }; return }()", "<&[]point>[0].x", "len(<map[int]int>)", "first(<[]int>, <int>)",
		"total(<int>, <int>)", "~<shape0>.area()", "~len(<[]any>)", "~<stack[int]>.size()", "~func() int { if n, ok := <any>.(int); ok { return n }; return -1 }()", "~func() int { r, err := late(<int>); if err != nil { return len(err.Error()) }; return r }()")
	expressions["uint8"] = append(expressions["uint8"], "append(<[]byte>, 7)[0]", "(<string> + \"é\")[0]", "uint8(<color>)")
	expressions["int16"] = append(expressions["int16"], "<[4]int16>[<int> & 3]", "<&[4]int16>[<uint8> & 3]")
	expressions["int32"] = append(expressions["int32"], "<pair>.a", "append(<[]rune>, 'x')[0]", "[]rune(<string> + \"z\")[0]")
	expressions["int8"] = append(expressions["int8"], "<point>.in.a[<int> & 1]", "total(<int8>, <int8>)")
	literals["shape0"] = []string{"shape(pair{3, 1})", "shape(&node{value: 6})"}
	expressions["shape0"] = []string{"shape(<pair>)", "shape(<*point>)", "shape(<*node>)", "shape(<color>)"}
}

// shows formats values for which fmt.Sprintln would print an address.
var shows = map[string]string{
	"func(int) int": "fmt.Sprintln(%s(3))", "func(point) string": "fmt.Sprintln(%s(point{x: 2}))",
	"*point": "fmt.Sprintln(*%s, %s.sum())", "*int": "fmt.Sprintln(*%s)", "*node": "fmt.Sprintln(%s.area())",
	"point": `fmt.Sprintln(%s.x, %s.y, %s.name, %s.in.a, %s.in.f) + fmt.Sprintf("%+v\n", %s)`, "pair": `fmt.Sprintf("%v %q\n", %s, %s)`,
	"any": `fmt.Sprintln(%s, kind(%s))`, "shape": `func() string { if %s == nil { return "no shape" }; return fmt.Sprintln(%s.area()) }()`,
	"[]shape": `fmt.Sprintln(len(%s))`,
}
