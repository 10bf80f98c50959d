package compile_test

import "strings"

// More of the language for random programs: floating-point edge cases, blank fields, arrays, promoted
// fields and methods, constants, generics with constraints, deferred calls and jumps.

// moreDeclarations are appended to declarations.
const moreDeclarations = `
type gap struct { _ int8; a int; _ string; f float64; _ [2]bool }
type vec [3]float64
type level int
type bits uint16
type wrapped struct { color; note string; n int }
type holder struct { *point; in level }
type both[A, B any] struct { a A; b B }
type ordered interface { ~int | ~int8 | ~uint16 | ~float64 | ~string }
type tree[K ordered, V any] struct { left, right *tree[K, V]; key K; value V }
type visitor func(int, string) bool
type grid [2][2]color
const ( low level = iota + 1; _; mid; high = 10 * iota; top )
const ( flagA bits = 1 << iota; flagB; _; flagD; allFlags = flagA | flagB | flagD )
const ( kilo = 1 << (10 * (iota + 1)); mega; third = 1.0 / 3; letter = 'a' + iota; text = "té" )
func (v vec) dot(w vec) (d float64) { for i, x := range v { d += x * w[i] }; return }
func (v *vec) scale(f float64) { for i := range v { v[i] *= f } }
func (v vec) with(i int, f float64) vec { v[i] = f; return v }
func (l level) String() string { switch l { case low: return "low"; case mid: return "mid"; case top, high: return "high" }; return fmt.Sprintf("level(%d)", int(l)) }
func (b bits) has(c bits) bool { return b&c == c }
func (b *bits) set(c bits) { *b |= c }
func (w wrapped) twice() wrapped { w.n *= 2; return w }
func (w *wrapped) add(n int) *wrapped { w.n += n; w.color++; return w }
func (p both[A, B]) swap() both[B, A] { return both[B, A]{p.b, p.a} }
func (p *both[A, B]) set(a A) { p.a = a }
func (g grid) count(c color) (n int) { for _, row := range g { for _, x := range row { if x == c { n++ } } }; return }
func (t *tree[K, V]) put(k K, v V) *tree[K, V] { if t == nil { return &tree[K, V]{key: k, value: v} }; switch { case k < t.key: t.left = t.left.put(k, v); case k > t.key: t.right = t.right.put(k, v); default: t.value = v }; return t }
func (t *tree[K, V]) all() func(func(K, V) bool) { return func(yield func(K, V) bool) { t.push(yield) } }
func (t *tree[K, V]) push(yield func(K, V) bool) bool { return t == nil || t.left.push(yield) && yield(t.key, t.value) && t.right.push(yield) }
func reduce[T, A any](list []T, a A, f func(A, T) A) A { for _, x := range list { a = f(a, x) }; return a }
func pick[T any](ok bool, a, b T) T { if ok { return a }; return b }
func largest[T ordered](x T, rest ...T) T { for _, y := range rest { if y > x { x = y } }; return x }
func describe[T interface { ~int; fmt.Stringer }](x T) string { return x.String() + fmt.Sprint(int(x)) }
func apply[T any, P interface { *T; scale(float64) }](x T, f float64) T { P(&x).scale(f); return x }
func sortedKeys[M ~map[K]V, K ordered, V any](m M) []K { r := make([]K, 0, len(m)); for k := range m { r = append(r, k) }; slices.Sort(r); return r }
func join(separator string, list ...any) string { s := ""; for i, x := range list { if i > 0 { s += separator }; s += fmt.Sprint(x) }; return clip(s) }
func sign(f float64) string { if f != f { return "NaN" }; if math.Signbit(f) { return fmt.Sprint("-", -f) }; return fmt.Sprint("+", f) }
func order(n int) (s string) { for i := range n & 3 { defer func() { s += fmt.Sprint(i, n) }() }; defer func(m int) { s += fmt.Sprint("m", m) }(n); n++; return "o" }
func rethrow(n int) (s string) { defer func() { s += fmt.Sprint("caught ", recover()) }(); defer func() { if r := recover(); r != nil { panic(fmt.Sprint("again ", r)) } }(); if n&1 == 0 { panic(n & 7) }; return "fine " }
func cleanup(n int, log *string) (err error) { defer func() { if r := recover(); r != nil { err = fmt.Errorf("cleanup %d: %v", n & 7, r) } }(); defer func() { *log += "c" }(); if n&3 == 1 { panic(failure{n & 15}) }; if n&3 == 2 { var m map[int]int; m[n]++ }; return fails(n) }
func signs(list ...float64) (s string) { for _, f := range list { s += sign(f) }; return }
func divide[T ordered](a, b int, x T) (r T, err error) { defer func() { if p := recover(); p != nil { err = fmt.Errorf("%v", p) } }(); _ = a / b; return x, nil }
func pow(x float64, n int) float64 { if n <= 0 { return 1 }; return x * pow(x, n-1) }
func even(n int) bool { if n == 0 { return true }; return odd(n - 1) }
func odd(n int) bool { if n == 0 { return false }; return even(n - 1) }
func counted(n int) func(func() bool) { return func(yield func() bool) { for n > 0 { n--; if !yield() { return } } } }
func bounded(f float64) float64 { if f > 1e9 || f < -1e9 { return 1e9 }; return f }
`

// These types and rules use moreDeclarations.
var (
	moreKinds       = []string{"gap", "vec", "level", "bits", "wrapped", "both[int,string]", "[2]float64", "grid", "holder", "[]float64", "map[float64]int", "map[[2]int]string"}
	moreInterpreted = []string{"complex64", "*tree[string,int]", "map[any]int", "[2]any", "chan int", "map[gap]int", "visitor", "both[float64,any]", "[]error"}

	moreLiterals = map[string][]string{
		"float64":           {"math.NaN()", "math.Inf(1)", "math.Copysign(0, -1)", "(float64(zero) + 5e-324)", "(float64(zero) + 1e300)", "(float64(zero) + third)", "(float64(zero) - 1.5)"},
		"float32":           {"float32(math.Copysign(0, -1))", "(float32(zero) + 1e-45)", "(float32(zero) + 1.25)"},
		"gap":               {"gap{}", "gap{a: zero + 1}", "gap{f: -1.5, a: 2}", "(gap{1, 2, \"s\", 3, [2]bool{}})"},
		"vec":               {"vec{}", "vec{1, -0.5, 2}", "(vec{2: math.Copysign(0, -1)})"},
		"level":             {"level(zero + 1)", "(level(zero) + mid)", "(level(zero) + high)", "level(zero)"},
		"bits":              {"(flagA + bits(zero))", "(bits(zero) | flagB | flagD)", "(bits(zero) + allFlags)", "bits(zero)"},
		"wrapped":           {"wrapped{}", "wrapped{color: 3, note: \"w\"}", "(wrapped{2, \"z\", -1})"},
		"both[int,string]":  {"both[int, string]{}", "both[int, string]{1, \"b\"}", "(both[string, int]{\"q\", 2}).swap()"},
		"[2]float64":        {"[2]float64{}", "[2]float64{1: math.Copysign(0, -1)}", "[2]float64{math.NaN(), 1}", "[...]float64{0.5, -2}"},
		"grid":              {"grid{}", "grid{{1, 2}, {3}}"},
		"holder":            {"holder{&point{x: 1, y: 2}, low}", "(holder{point: new(point)})"},
		"[]float64":         {"[]float64{1, math.Copysign(0, -1), 2}", "[]float64(nil)", "make([]float64, 2)"},
		"map[float64]int":   {"map[float64]int{}", "map[float64]int{0: 1, 2.5: 2}"},
		"map[[2]int]string": {"map[[2]int]string{}", "map[[2]int]string{{1, 2}: \"k\"}"},
		"complex64":         {"complex64(complex(1, -2))", "complex(float32(zero), -float32(zero))"},
		"*tree[string,int]": {"(*tree[string, int])(nil)", "(*tree[string, int])(nil).put(\"m\", 1)"},
		"map[any]int":       {"map[any]int{}", "map[any]int{1: 1, \"a\": 2, pair{1, 2}: 3}"},
		"[2]any":            {"[2]any{}", "[2]any{1, \"x\"}", "[2]any{level(3), nil}"},
		"chan int":          {"make(chan int, 3)", "func() chan int { c := make(chan int, 2); c <- 4; return c }()"},
		"map[gap]int":       {"map[gap]int{}", "map[gap]int{gap{a: 1}: 2}"},
		"visitor":           {"visitor(func(n int, s string) bool { return n > len(s) })"},
		"both[float64,any]": {"both[float64, any]{math.Copysign(0, -1), 1}", "both[float64, any]{}"},
		"[]error":           {"[]error{nil, failure{2}}"},
		"any":               {"any(vec{})", "any(gap{a: 1})", "any(low)", "any([2]float64{})", "any(wrapped{})", "any(math.Copysign(0, -1))"},
		"shape":             {"shape(wrapped{color: 2})", "shape(holder{point: &point{x: 3, y: 3}})"},
		"fmt.Stringer":      {"fmt.Stringer(mid)", "fmt.Stringer(wrapped{color: 1})"},
	}

	moreExpressions = map[string][]string{
		"float64": {"<vec>[<int> & 1]", "<vec>.dot(<vec>)", "<gap>.f", "<[2]float64>[<uint8> & 1]", "append(<[]float64>, 1)[0]", "pick(<bool>, <float64>, <float64>)", "largest(<float64>, <float64>)", "-<&float64>", "(-(<float64>))", "math.Abs(<float64>)", "math.Copysign(<float64>, <float64>)",
			"float64(<level>)", "float64(float32(<float64>))", "func(f float64) float64 { return -f }(<float64>)", "pow(<float64>, <int> & 3)", "math.Trunc(<float64>)", "math.Mod(<float64>, 2.5)", "(float64(<int64>) / 3)", "~reduce(<[]float64>, <float64>, func(a, x float64) float64 { return a - x })", "~<both[float64,any]>.a", "~real(<complex128>)"},
		"float32": {"float32(<int64>)", "(<float32> / <float32>)", "pick(<bool>, <float32>, <float32>)", "float32(<float64> * <float64>)", "-<&float32>"},
		"bool": {"(<gap> == <gap>)", "<vec> == <vec>", "<[2]float64> != <[2]float64>", "<grid> == <grid>", "<bits>.has(<bits>)", "even(<int> & 15)", "<level> > mid", "<wrapped> == <wrapped>", "(<both[int,string]> == <both[int,string]>)", "math.IsNaN(<float64>)", "math.Signbit(<float64>)", "<float64> == <float64>", "!(<float64> < <float64>)",
			"~<any> == any(<gap>)", "~any(<vec>) == <any>", "~any(<float64>) == any(<float64>)", "~<[2]any> == <[2]any>", "~<fmt.Stringer> == <any>", "~(<complex64> == <complex64>)", "~<visitor>(<int>, <string>)", "~slices.Contains(<[]float64>, <float64>)", "~slices.Equal(<[]int>, <[]int>)", "~<both[float64,any]> == <both[float64,any]>", "~<shape> == <any>", "~error(failure{<int> & 3}) == <error>", "~slices.ContainsFunc(<[]int>, func(n int) bool { return n > <int> })"},
		"string": {"sign(<float64>)", "signs(<float64>, <float64>)", "signs(<[]float64>...)", "<level>.String()", "fmt.Sprint(<level>, <vec>)", "join(\",\", <int>, <level>, <string>)", "join(<string>)", "pick(<bool>, <string>, <string>)", "<wrapped>.String()", "<both[int,string]>.b", "<map[[2]int]string>[[2]int{<int> & 1, 2}]", "order(<int>)", "rethrow(<int>)", "fmt.Sprintf(\"%v %+v\", <gap>, <wrapped>)",
			"fmt.Sprintf(\"%x|%08.3f|%+d|%-5v|%t\", <uint8>, <float64>, <int>, <string>, <bool>)", "fmt.Sprint(<float64>, <float32>)", "(text + <string>)", "string(<[]byte>[:0])", "func(s string) string { b := []byte(s); if len(b) > 0 { b[0] = '!' }; return string(b) + s }(<string>)", "largest(<string>, clip(<string>), \"m\")",
			"~describe[level](<level>)", "~join(\"-\", <[]any>...)", "~fmt.Sprintf(\"%v %v\", <vec>, <[2]any>)", "~strings.Map(func(r rune) rune { return r + 1 }, <string>)", "~fmt.Sprint(<complex64>)", "~func() (s string) { err := cleanup(<int>, &s); return fmt.Sprint(s, err) }()", "~fmt.Sprintf(\"%v %v %v\", <fmt.Stringer>, <both[float64,any]>.a, <both[float64,any]>.b)", "~strings.Join(sortedKeys(<map[string]int>), \"+\")"},
		"gap":     {"gap{a: <int>, f: <float64>}", "func() gap { g := <gap>; g.a++; return g }()", "pick(<bool>, <gap>, <gap>)", "(*(&gap{a: <int>}))"},
		"vec":     {"vec{<float64>, <float64>}", "<vec>.with(<int> & 1, <float64>)", "vec([3]float64{<float64>, 1})", "func() vec { v := <vec>; v.scale(<float64>); return v }()", "pick(<bool>, <vec>, <vec>)", "~apply(<vec>, <float64>)"},
		"level":   {"level(<int> & 7)", "(<level> + low)", "pick(<bool>, <level>, mid)", "(<level> | 1)", "max(<level>, low)"},
		"bits":    {"(<bits> | <bits>)", "(<bits> &^ flagB)", "(<bits> << (<uint8> & 3))", "bits(<int>)", "(^<bits>)", "func() bits { b := <bits>; b.set(flagD); return b }()"},
		"wrapped": {"<wrapped>.twice()", "wrapped{<color>, clip(<string>), <int>}", "(*(&wrapped{n: <int>}).add(<int>))", "func(w wrapped) wrapped { w.note += \"+\"; return w }(<wrapped>)"},

		"both[int,string]":  {"both[int, string]{<int>, <string>}", "<both[int,string]>.swap().swap()", "func() both[int, string] { p := <both[int,string]>; p.set(<int>); return p }()"},
		"[2]float64":        {"[2]float64{<float64>, <float64>}", "[2]float64{1: <float64>}", "func(a [2]float64) [2]float64 { a[0], a[1] = a[1], a[0]; return a }(<[2]float64>)"},
		"grid":              {"grid{{<color>}, {<color>, 2}}", "func() grid { g := <grid>; h := g; h[1] = g[0]; h[0][1]++; return h }()"},
		"holder":            {"holder{<*point>, <level>}"},
		"[]float64":         {"append(<[]float64>[:0:0], <float64>, <float64>)", "[]float64{<float64>, <float64>}", "append([]float64{<float64>}, <[]float64>...)[:1]", "~mapped(<[]int>, func(n int) float64 { return -float64(n & 3) })"},
		"map[float64]int":   {"map[float64]int{<float64>: <int>}"},
		"map[[2]int]string": {"map[[2]int]string{{<int> & 1, 2}: <string>}"},
		"complex64":         {"complex64(<complex128>)", "(<complex64> * <complex64>)", "-(<complex64>)", "complex(<float32>, <float32>)"},
		"complex128":        {"complex128(<complex64>)", "pick(<bool>, <complex128>, -(<complex128>))", "(<complex128> / (1+2i))"},
		"*tree[string,int]": {"<*tree[string,int]>.put(clip(<string>), <int>)"},
		"map[any]int":       {"map[any]int{<int>: 1}", "map[any]int{<gap>: <int>}"},
		"[2]any":            {"[2]any{<any>, <int>}", "[2]any{<gap>, <float64>}"},
		"chan int":          {"func() chan int { c := make(chan int, 1); c <- <int>; return c }()"},
		"map[gap]int":       {"map[gap]int{<gap>: <int>}"},
		"visitor":           {"func(n int, s string) bool { return n == <int> || s < <string> }"},
		"both[float64,any]": {"both[float64, any]{<float64>, <any>}", "both[any, float64]{<level>, <float64>}.swap()"},
		"[]error":           {"[]error{<error>, cleanup(<int>, new(string))}", "append(<[]error>, <error>)"},
		"int":               {"<gap>.a", "int(<level>)", "<grid>.count(<color>)", "<wrapped>.n", "<holder>.sum()", "<holder>.x", "<both[int,string]>.a", "(zero + kilo)", "(zero + int(letter))", "(zero + len(<vec>))", "pick(<bool>, <int>, <int>)", "largest(<int>, <int>, 3)", "cap(make([]int, 2, 5)[1:3])", "<map[float64]int>[<float64>]", "copy(make([]int, 2), <[]int>)", "<wrapped>.area()", "func(f func(wrapped) wrapped) int { return f(<wrapped>).n }(wrapped.twice)", "(clamp(<float64>) << (<uint8> & 3))", "~<map[any]int>[<int>]", "~<map[gap]int>[<gap>]", "~len(<chan int>)", "~reduce(<[]string>, 0, func(a int, s string) int { return a + len(s) })", "~func() (n int) { for k, v := range <*tree[string,int]>.all() { n += v * len(k) }; return }()"},
		"any":               {"any(<gap>)", "any(<vec>)", "any(<level>)", "any(<wrapped>)", "any([2]int{<int>, 1})", "any(<float32>)", "~any(<both[int,string]>)", "~any(<complex64>)"},
		"shape":             {"shape(<wrapped>)", "shape(<holder>)"},
		"fmt.Stringer":      {"fmt.Stringer(<level>)", "fmt.Stringer(<wrapped>)"},
		"error":             {"~cleanup(<int>, new(string))", "~func() error { _, err := divide(1, <int> & 1, <string>); return err }()"},
		"func(int) int":     {"func(n int) (r int) { defer func() { r++ }(); return n }"},
	}

	moreShows = map[string]string{
		"*tree[string,int]": "func() string { s := \"\"; for k, v := range %s.all() { s += fmt.Sprintln(k, v) }; return s }()", "holder": "fmt.Sprintln(*%s.point, %s.in)",
		"chan int": "fmt.Sprintln(len(%s), cap(%s))", "visitor": "fmt.Sprintln(%s(1, \"b\"))", "map[any]int": "fmt.Sprintln(len(%s))", "vec": "signs(%s[:]...) + fmt.Sprintln(%s)", "[2]float64": "signs(%s[:]...) + fmt.Sprintln(%s)",
		"float64": "sign(%s) + fmt.Sprintln(%s)", "float32": "sign(float64(%s)) + fmt.Sprintln(%s)", "map[float64]int": "fmt.Sprintln(len(%s))", "map[gap]int": "fmt.Sprintln(len(%s))",
		"[]error": "fmt.Sprintln(errors.Join(%s...))", "[]float64": "signs(%s...)", "gap": "fmt.Sprintln(%s, %s == gap{a: %s.a, f: %s.f})",
		"both[float64,any]": "fmt.Sprintln(%s.a, %s.b)", // fmt shows the address of an error in an unexported field
	}

	moreSimple = []string{
		"<&gap>.a += <int>", "<&gap>.f = -(<float64>)", "<&vec>[<int> & 1] = <float64>", "<&vec>.scale(<float64>)", "<&level>++", "<&bits>.set(<bits>)", "<&bits> ^= flagB", "<&bits> <<= 1", "<&wrapped>.add(<int>)", "<&wrapped>.add(1).add(<int>)", "<&wrapped>.color = <color>", "<&both[int,string]>.set(<int>)",
		"<&grid>[<int> & 1][<uint8> & 1] = <color>", "<&grid>[1], <&grid>[0] = <grid>[0], <grid>[1]", "<&holder>.move(<int>)", "<&holder>.point = <*point>", "<&[2]float64>[<int> & 1] *= <float64>", "<&map[float64]int>[<float64>]++", "<&map[[2]int]string>[[2]int{<int> & 1, <int> & 1}] += \"v\"", "<&float64> = bounded(<float64>)",
		"<&float64>, <&float64> = <float64>, <float64>", "<&float64> /= <float64>", "<&float64> = -<&float64>", "<&vec>[0], <&vec>[1] = <vec>[1], <vec>[0]",
		"if <bool> {\n$1 := <int>\n<&int> += $1\n{\n$1 := $1 * 2\n<&int> -= $1\n}\n$1++\n_ = $1\n}",
		"{\n$1, $2 := <int>, <int>\nif $1 := $2 & 3; $1 > 1 {\n<&int> += $1\n} else if $2 := $1 + 1; $2 == 1 {\n<&int> -= $2\n}\n<&int> ^= $1 + $2\n}",
		"{\nconst (\n$1 = iota * 3\n_\n$2\n$3 = \"c\" + text\n)\n<&int> += $1 + $2 + len($3)\n}",
		"{\ntype $1 struct{ a int; f float64 }\n$2 := $1{<int>, <float64>}\n$3 := &$2\n$3.a++\n<&int> += $2.a\n<&float64> = $2.f\n}",
		"{\nvar $1 [4]func() int\nfor $2 := range $1 {\n$1[$2] = func() int { $2 *= 2; return $2 + <int> & 3 }\n}\n<&int> += $1[1]() + $1[1]() + $1[3]()\n}",
		"{\nvar $1 []func() int\nfor $2, $3 := 0, 1; $2 < 4; $2, $3 = $2+1, $3*2 {\n$1 = append($1, func() int { $3++; return $2 + $3 })\n}\nfor $2 := range $1 {\n<&int> += $1[$2]() * 3\n}\n}",
		"{\n$1 := append(make([]int, 0, 4), <int>, <int>)\n$2 := append($1, 1)\n$3 := append($1, 2)\n$3[0]++\n<&int> += $2[2] + $3[2] + $1[0] + len($1[:3])\n}",
		"{\n$1 := []int{1, 2, 3, 4, 5}\ncopy($1[1:], $1)\n$2 := $1[1:3:4]\n$2 = append($2, <int>)\n$2 = append($2, 7)\n$2[0] = 99\n<&int> += $1[1] + $1[3] + cap($2[:1])*0 + len($2)\n}",
		"{\n$1 := [3]int{1, 2, 3}\nfor $2, $3 := range $1 {\n$1[2] = 10\n<&int> += $2 * $3\n}\nfor $2, $3 := range &$1 {\n$1[2] = 20\n<&int> += $2 * $3\n}\nfor $2, $3 := range $1[:] {\n$1[2] = 30\n<&int> += $2 * $3\n}\n}",
		"{\n$1 := <[]int>\n$1 = append([]int{5, 6}, $1...)\nfor $2, $3 := range $1 {\nif $2 < 2 {\n$1 = append($1, $3)\n}\n$1[0]++\n}\n<&int> += len($1) + $1[0]\n}",
		"{\n$1 := vec.with\n$2 := (*vec).scale\n$3 := $1(<vec>, 1, <float64>)\n$2(&$3, 2)\n<&vec> = $3\n}", "{\n$1 := <wrapped>\n$2 := $1.add\n$3 := $1.twice\n$2(3)\n$1.n++\n<&int> += $1.n + $3().n\n}",
		"{\n$1 := <level>\nfor range 2 {\n$1 := $1 + 1\n<&string> = $1.String()\n}\n<&level> = $1\n}", "for $1 := range map[string]int{<string>: 1} {\n<&string> = clip($1)\n}", "for $1, $2 := range map[level]float64{<level>: <float64>} {\n<&level>, <&float64> = $1, $2\n}",
		"{\n$1 := 0\n$2:\nfor {\n$1++\nswitch {\ncase $1 > 4:\nbreak $2\ncase $1&1 == 0:\ncontinue $2\n}\n<&int> += $1\n}\n}", "{\n$1 := 0\ngoto $3\n$2:\n<&int> += $1\n$3:\n$1++\nif $1 < 3 {\ngoto $2\n}\n}",
		"{\n$1 := <uint8>\n<&int8> = int8($1)\n<&uint16> = uint16(int8($1))\n<&int64> = int64(int8($1)) << 3\n<&uint32> = uint32(-int32($1))\n}", "<&uint64> = uint64(<int8>) >> (<uint8> & 63)", "<&int16> = int16(<uint32> >> 3)", "<&int32> = -(<int32>) / 3 % 5",
		"{\n$1 := []rune(<string>)\nfor $2, $3 := 0, len($1)-1; $2 < $3; $2, $3 = $2+1, $3-1 {\n$1[$2], $1[$3] = $1[$3], $1[$2]\n}\n<&string> = clip(string($1))\n}", "for $1, $2 := range []byte(<string>) {\n<&int> += $1 ^ int($2)\n}", "for $1, $2 := range text + clip(<string>) {\n<&int> += $1 * int($2)\n}",
		"{\nvar $1 struct{ a, b float64 }\n$1.b = <float64>\n$2 := $1\n$2.a = -$1.b\n<&float64>, <&bool> = $2.a, $1 == $2\n}", "<&string> = join(\" \", <int>, <bool>, <float64>, <level>)",
		"{\n$1 := <[2]float64>\n$2 := &$1\nfor $3 := range $2 {\n$2[$3] = -$2[$3]\n}\n<&[2]float64> = $1\n}", "<&int> += func(n int) int { if n > 2 { return n }; return -n }(<int> & 7)", "for $1 := range uint8(3) {\n<&uint8> += $1\n}", "for $1 := range <level> & 3 {\n<&level> = $1\n}",
		"~<&error> = cleanup(<int>, &<&string>)", "~{\n$1 := <[2]any>\n$1[0], $1[1] = $1[1], $1[0]\n<&bool> = $1 == <[2]any>\n}", "~<&map[any]int>[<level>] = <int>", "~<&map[any]int>[<gap>]++", "~<&map[gap]int>[<gap>] += 2", "~<&*tree[string,int]> = <&*tree[string,int]>.put(clip(<string>), <int>)",
		"~select {\ncase <chan int> <- <int>:\n<&int>++\ndefault:\n<&int>--\n}", "~select {\ncase $1, ok := <-<chan int>:\n<&int> += $1\n<&bool> = ok\ndefault:\n<&int> ^= 5\n}", "~{\n$1 := make(chan float64, 2)\n$1 <- <float64>\n$1 <- -(<float64>)\n<&float64> = <-$1\n<&float64> = <-$1\n}",
		"~for $1, $2 := range <*tree[string,int]>.all() {\nif $2 > 100 {\nbreak\n}\n<&string> = clip($1 + <string>)\n}", "~for range counted(<int> & 3) {\n<&int> += 2\n}", "~{\nvar $1 []func() float64\nfor $2 := range slices.Values(<[]float64>) {\n$1 = append($1, func() float64 { $2 = -$2; return $2 })\n}\nfor _, $3 := range $1 {\n<&float64> = $3()\n}\n}",
		"~func() {\ndefer func(s string) { out += s }(<string>)\ndefer fmt.Sprint(<int>)\n<&int>++\n}()", "~{\n$1 := func(n int) (s string) { defer func() { s = fmt.Sprint(s, n, recover()) }(); if n&1 == 1 { panic(n & 7) }; return \"p\" }\n<&string> = $1(<int>)\n}", "~out += fmt.Sprintf(\"%v %T %v\\n\", <any>, <level>, <[2]any>)",
		"~{\nvar $1 fmt.Stringer = <level>\nif $2, ok := $1.(interface{ area() int }); ok {\n<&int> = $2.area()\n} else if $2, ok := $1.(level); ok {\n<&level> = $2 + 1\n}\n}", "~{\n$1 := map[string][]level{}\n$1[<string>] = append($1[<string>], <level>, mid)\nfor $2, $3 := range $1 {\n<&string> = clip($2 + fmt.Sprint($3))\n}\n}",
		"~<&complex128> *= <complex128>", "~<&complex64> += complex(<float32>, 1)", "~<&bool> = errors.Is(errors.Join(<error>, <error>), <error>)",
	}

	moreStatements = []string{
		"switch $1 := <level>; $1 {\ncase low, mid:\nBLOCK($1 level)\ncase <level> + 20:\nBLOCK()\ndefault:\n<&int> += int($1)\n}", "switch <gap> {\ncase gap{a: 1}, <gap>:\nBLOCK()\ndefault:\nBLOCK()}", "switch <float64> {\ncase 0:\nBLOCK()\ncase <float64>, math.Inf(1):\nBLOCK()\ndefault:\nBLOCK()}",
		"for $1, $2 := range <vec> {\nGUARD\nBLOCK($1 int, $2 float64)}", "for _, $1 := range <[]float64> {\nGUARD\nBLOCK($1 float64)}", "for $1 := range <grid> {\nGUARD\nBLOCK($1 int)}", "for $1, $2 := range [2]gap{<gap>, <gap>} {\nGUARD\n$2.a++\nBLOCK($1 int, $2 gap)}", "for $1 := <float64>; $1 < 3 && $1 > -3; $1++ {\nGUARD\nBLOCK($1 float64)}",
		"$1:\nfor $2 := range 4 {\nGUARD\nswitch {\ncase <bool>:\nbreak $1\ncase <bool>:\ncontinue $1\ndefault:\nBLOCK($2 int)\n}\n}", "$1:\nswitch {\ncase <bool>:\nfor {\nGUARD\nif <bool> {\nbreak $1\n}\nBLOCK()}\ndefault:\nBLOCK()}", "{\n$1 := <wrapped>\nfor $1.n = 0; $1.n < 3; $1.add(1) {\nGUARD\nBLOCK($1 wrapped)}\n}",
		"func(v vec, n int) {\nfor $1 := range n {\nif $1 > 2 {\nreturn\n}\nv[$1&1] -= 1\n}\n<&vec> = v\n}(<vec>, <int> & 3)",
		"~func() {\ndefer func() {\nif $1 := recover(); $1 != nil {\nout += fmt.Sprintln(\"D\", $1)\ndefer func() { out += fmt.Sprintln(\"E\", recover()) }()\nRISKY\n}\n}()\nfor $2 := range 3 {\nGUARD\ndefer func() { <&int> += $2 }()\nRISKY\nBLOCK(-)\n}\n}()",
		"~for $1, $2 := range slices.All(<[]float64>) {\nGUARD\nBLOCK($1 int, $2 float64)}", "~for range counted(3) {\nGUARD\nif <bool> {\ncontinue\n}\nBLOCK()}", "~switch $1 := <any>.(type) {\ncase level, bits:\nout += fmt.Sprint($1)\ncase float64:\nBLOCK($1 float64)\ncase gap:\nBLOCK($1 gap)\ncase vec, [2]float64:\nout += fmt.Sprintln($1)\ncase interface{ area() int }:\n<&int> += $1.area()\ncase error:\nBLOCK($1 error)\n}",
		"~for $1, $2 := range <[2]any> {\nGUARD\nswitch $3 := $2.(type) {\ncase nil:\n<&int> += $1\ncase int, string:\nout += fmt.Sprint($3)\ncase fmt.Stringer:\nout += $3.String()\n}\nBLOCK()}", "~$1:\nfor $2 := range seq(3) {\nGUARD\nfor $3, $4 := range pairs(<[]int>) {\nif <bool> {\nbreak $1\n}\nif <bool> {\ncontinue $1\n}\ndefer func() { <&int> += $3 }()\nBLOCK($2 int, $3 int, $4 int)}\n}",
	}

	moreRisky = []string{
		"<&float64> = <vec>[<int> & 3]", "<&color> = <grid>[<int> & 3][<int> & 1]", "<&int> /= int(<level> & 1)", "<&int> <<= <int8> & 15 - 4", "{\nvar $1 holder\nif <bool> {\n$1 = <holder>\n}\n<&int> = $1.sum()\n}", "<&float64> = <[]float64>[<int> & 3]", "{\n$1 := <[]int>[<int>&1 : 2 : <int>&7]\n<&int> += len($1)\n}", "panic(<float64>)", "{\nvar $1 []func(int) int\n<&int> = append($1, nil)[0](1)\n}",
		"~_ = <any>.(level)", "~<&int> = <any>.(interface{ area() int }).area()", "~{\nvar $1 any = <[]int>\n_ = map[any]int{$1: 1}\n}", "~{\n$1 := make(chan int, 1)\nclose($1)\nif <bool> {\nclose($1)\n}\n$1 <- 1\n}", "~panic(<gap>)", "~panic(<level>)", "~_ = <fmt.Stringer>.(color)", "~_ = <error>.(failure)", "~_ = <shape>.(*point)", "~panic(fmt.Errorf(\"w %w\", <error>))", "~_ = <any> == any(func() {})",
	}
)

func init() {
	plainKinds, interpretedKinds = append(plainKinds, moreKinds...), append(interpretedKinds, moreInterpreted...)
	for kind, rules := range moreLiterals {
		literals[kind] = append(literals[kind], rules...)
	}
	for kind, rules := range moreExpressions {
		expressions[kind] = append(expressions[kind], rules...)
	}
	for kind, show := range moreShows {
		shows[kind] = show
	}
	for _, k := range integerKinds {
		expressions[k] = append(expressions[k], strings.ReplaceAll("K(<level>)", "K", k), strings.ReplaceAll("pick(<bool>, <K>, <K>)", "K", k), strings.ReplaceAll("K(<bits>)", "K", k), strings.ReplaceAll("func(n K) K { return n }(<K>)", "K", k))
	}
	simple = append(simple, moreSimple...)
	statements = append(append(statements, moreSimple...), moreStatements...)
	risky = append(risky, moreRisky...)
}
