package machine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes random programs of what the machine compiles. They end, and
// print what they computed.
type generator struct {
	*rand.Rand
	text   strings.Builder
	indent int
	names  map[string][]string // of variables in scope, by type
	count  int
	depth  int
	loops  int
}

// kinds are the types of variables.
var kinds = []string{"int", "int8", "uint8", "int16", "uint32", "int64", "uint64", "float64", "float32", "bool", "string",
	"[]int", "[]string", "[]byte", "[4]int16", "map[int]int", "map[string]int", "point", "*point", "[]point", "func(int) int", "pair"}

const declarations = `
type point struct {
	x, y int
	name string
	in   struct{ a [3]int8; f float64 }
}
type pair struct{ a, b int32 }
func (p point) sum() int { return p.x + p.y + len(p.name) }
func (p *point) move(d int) { p.x += d; p.y -= d; p.in.a[p.x&1]++ }
func (p pair) swap() pair { return pair{p.b, p.a} }
func twice(f func(int) int, n int) int { return f(f(n)) }
func two(a, b int) (int, string) { return a - b, fmt.Sprint(a, b) }
func named(n int) (r int, s string) { defer0 := n; r = defer0 * 2; if n > 3 { s = "big"; return }; return r + 1, "small" }
func sum(list ...int) (n int) { for _, v := range list { n += v }; return }
func fact(n int) int { if n < 2 { return 1 }; return n * fact(n-1) }
var counter, zero int
var shared = []int{1, 2, 3}
var table map[string]int
`

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 7)), names: map[string][]string{}}
}

func (g *generator) line(format string, a ...any) {
	g.text.WriteString(strings.Repeat("\t", g.indent))
	fmt.Fprintf(&g.text, format, a...)
	g.text.WriteByte('\n')
}

// program is the source of a cell that defines run, which returns a text.
func (g *generator) program() string {
	g.text.WriteString(declarations)
	g.line("func run() (out string) {")
	g.indent++
	g.line("counter, table = 0, map[string]int{}")
	g.line("steps := 0")
	for _, k := range kinds {
		g.declare(k)
	}
	for range 10 + g.IntN(20) {
		g.statement()
	}
	for _, k := range kinds {
		for _, name := range g.names[k] {
			g.print(k, name)
		}
	}
	g.line("return out + fmt.Sprintln(counter, shared, len(table), steps)")
	g.indent--
	g.line("}")
	return g.text.String()
}

func (g *generator) print(kind, name string) {
	switch kind {
	case "func(int) int":
		g.line("out += fmt.Sprintln(%s(3))", name)
	case "*point":
		g.line("out += fmt.Sprintln(%s.x, %s.sum())", name, name)
	case "point":
		g.line("out += fmt.Sprintln(%s.x, %s.y, %s.name, %s.in.a, %s.sum())", name, name, name, name, name)
	case "[]point":
		g.line("for i := range %s { out += fmt.Sprintln(i, %s[i].x, %s[i].name, %s[i].in.f) }", name, name, name, name)
	case "pair":
		g.line("out += fmt.Sprintln(%s.a, %s.b)", name, name)
	default:
		g.line("out += fmt.Sprintln(%s)", name)
	}
}

func (g *generator) declare(kind string) {
	g.count++
	name := fmt.Sprintf("v%d", g.count)
	switch g.IntN(3) {
	case 0:
		g.line("var %s %s = %s", name, kind, g.expr(kind))
	case 1:
		g.line("var %s %s", name, kind)
		g.line("%s = %s", name, g.expr(kind))
	default:
		if strings.HasPrefix(kind, "[]") || kind == "string" || kind == "point" || kind == "pair" {
			g.line("%s := %s(%s)", name, kind, g.expr(kind))
		} else {
			g.line("var %s = (%s)(%s)", name, kind, g.expr(kind))
		}
	}
	g.line("_ = %s", name)
	g.names[kind] = append(g.names[kind], name)
}

func (g *generator) variable(kind string) string {
	list := g.names[kind]
	if len(list) == 0 {
		return ""
	}
	return list[g.IntN(len(list))]
}

// scope forgets the variables that statements declares.
func (g *generator) scope(statements func()) {
	saved := map[string]int{}
	for k, list := range g.names {
		saved[k] = len(list)
	}
	g.indent++
	g.depth++
	statements()
	g.depth--
	g.indent--
	for k := range g.names {
		g.names[k] = g.names[k][:saved[k]]
	}
}

func pick(g *generator, list ...string) string { return list[g.IntN(len(list))] }

var integerKinds = []string{"int", "int8", "uint8", "int16", "uint32", "int64", "uint64"}

func isInteger(kind string) bool {
	return strings.Contains(" "+strings.Join(integerKinds, " ")+" ", " "+kind+" ")
}

// expr is an expression of a type.
func (g *generator) expr(kind string) string {
	g.depth++
	defer func() { g.depth-- }()
	if v := g.variable(kind); v != "" && (g.depth > 5 || g.IntN(3) == 0) {
		return v
	}
	if g.depth > 7 {
		return g.literal(kind)
	}
	switch {
	case isInteger(kind):
		return g.integer(kind)
	case kind == "float64" || kind == "float32":
		switch g.IntN(6) {
		case 0:
			return g.literal(kind)
		case 1:
			return fmt.Sprintf("%s(%s)", kind, g.expr(pick(g, integerKinds...)))
		case 2:
			return fmt.Sprintf("-(%s)", g.expr(kind))
		}
		return fmt.Sprintf("(%s %s %s)", g.expr(kind), pick(g, "+", "-", "*", "/"), g.expr(kind))
	case kind == "bool":
		k := pick(g, "int", "int8", "uint64", "float64", "string", "uint32")
		switch g.IntN(5) {
		case 0:
			return "!" + g.expr("bool")
		case 1:
			return fmt.Sprintf("(%s %s %s)", g.expr("bool"), pick(g, "&&", "||", "==", "!="), g.expr("bool"))
		}
		return fmt.Sprintf("(%s %s %s)", g.expr(k), pick(g, "<", "<=", "==", "!=", ">", ">="), g.expr(k))
	}
	return g.other(kind)
}

func (g *generator) integer(kind string) string {
	switch g.IntN(12) {
	case 0:
		return g.literal(kind)
	case 1:
		return fmt.Sprintf("%s(%s)", kind, g.expr(pick(g, integerKinds...)))
	case 2:
		return fmt.Sprintf("(%s %s (%s & 31))", g.expr(kind), pick(g, "<<", ">>"), g.expr("uint8"))
	case 3:
		return fmt.Sprintf("(%s %s (%s | 1))", g.expr(kind), pick(g, "/", "%"), g.expr(kind))
	case 4:
		return pick(g, "-", "^") + "(" + g.expr(kind) + ")"
	case 5:
		if kind == "int" {
			return pick(g, "len("+g.expr("string")+")", "len("+g.expr("[]int")+")", g.expr("[]int")+"[0]", g.expr("map[int]int")+"["+g.expr("int")+"]",
				g.expr("point")+".x", g.variable0("*point")+".y", g.expr("point")+".sum()", "twice("+g.expr("func(int) int")+", "+g.expr("int")+")",
				"sum("+g.expr("int")+", "+g.expr("int")+")", "fact("+g.expr("int")+" & 7)", g.expr("map[string]int")+"["+g.expr("string")+"]", "cap("+g.expr("[]int")+"[:1])")
		}
		if kind == "uint8" {
			return pick(g, g.expr("[]byte")+"[0]", "("+g.expr("string")+"+\"é\")[0]")
		}
		if kind == "int16" {
			return g.variable0("[4]int16") + "[" + g.expr("int") + " & 3]"
		}
	case 6:
		if kind == "int" {
			return "min(" + g.expr("int") + ", " + g.expr("int") + ")"
		}
	}
	return fmt.Sprintf("(%s %s %s)", g.expr(kind), pick(g, "+", "-", "*", "&", "|", "^", "&^"), g.expr(kind))
}

// variable0 is a variable, which the program has one of.
func (g *generator) variable0(kind string) string {
	if v := g.variable(kind); v != "" {
		return v
	}
	return "(" + g.literal(kind) + ")"
}

func (g *generator) literal(kind string) string {
	switch {
	case kind == "int8":
		return fmt.Sprintf("int8(zero + %d)", g.IntN(256)-128)
	case kind == "uint8":
		return fmt.Sprintf("uint8(zero + %d)", g.IntN(256))
	case isInteger(kind) && kind[0] == 'i':
		return fmt.Sprintf("%s(zero + %d)", kind, g.IntN(2000)-1000)
	case isInteger(kind):
		return fmt.Sprintf("%s(zero + %d)", kind, g.IntN(70000))
	}
	switch kind {
	case "float64", "float32":
		return fmt.Sprintf("%s(float64(zero) + %g)", kind, float64(g.IntN(1000))/8-30)
	case "bool":
		return pick(g, "(zero == 0)", "(zero != 0)")
	case "string":
		return pick(g, `"a"`, `"héllo"`, `"\xff\xfe"`, `""`, `"日本"`)
	case "[]int":
		return pick(g, "([]int{4, 5})", "([]int{1, 5: 3})", "append([]int(nil), 1, 2)", "make([]int, 3, 7)")
	case "[]string":
		return `([]string{"p", "q"})`
	case "[]byte":
		return pick(g, `[]byte("xyz")`, "([]byte{1, 2, 200})")
	case "[4]int16":
		return "([4]int16{1, 3: -7})"
	case "map[int]int":
		return "(map[int]int{1: 2, 3: 4})"
	case "map[string]int":
		return `(map[string]int{"a": 1, "": 2})`
	case "point":
		return pick(g, `(point{1, 2, "n", struct{ a [3]int8; f float64 }{f: 1.5}})`, "(point{x: 3})")
	case "*point":
		return "(&point{x: 8, y: 9})"
	case "[]point":
		return `([]point{{x: 1}, {name: "z"}})`
	case "func(int) int":
		return "(func(n int) int { counter++; return n*2 + counter })"
	case "pair":
		return "(pair{3, -4})"
	}
	panic(kind)
}

// other is an expression of a type that is no scalar.
func (g *generator) other(kind string) string {
	n := g.IntN(4)
	switch {
	case n == 0:
		return g.literal(kind)
	case kind == "string":
		return pick(g, "("+g.expr("string")+" + "+g.expr("string")+")", "string("+g.expr("[]byte")+")", "string([]rune("+g.expr("string")+"))",
			"fmt.Sprint("+g.expr("int")+")", "strings.ToUpper("+g.expr("string")+")", g.expr("point")+".name", "string(rune("+g.expr("int")+"))", g.expr("[]string")+"[0]")
	case kind == "[]int":
		return pick(g, "append("+g.expr("[]int")+", "+g.expr("int")+")", "append("+g.expr("[]int")+", "+g.expr("[]int")+"...)", g.expr("[]int")+"[:1]", "append([]int{}, shared...)")
	case kind == "[]string":
		return "append(" + g.expr("[]string") + ", " + g.expr("string") + ")"
	case kind == "[]byte":
		return pick(g, "append("+g.expr("[]byte")+", "+g.expr("uint8")+")", "[]byte("+g.expr("string")+" + \"!\")")
	case kind == "point":
		return pick(g, "(*"+g.variable0("*point")+")", g.expr("[]point")+"[0]", "func() point { p := "+g.expr("point")+"; p.move(1); return p }()")
	case kind == "*point":
		return pick(g, "(&point{x: "+g.expr("int")+"})", "new(point)")
	case kind == "[]point":
		return "append(" + g.expr("[]point") + ", " + g.expr("point") + ")"
	case kind == "pair":
		return pick(g, g.expr("pair")+".swap()", "(pair{int32("+g.expr("int")+"), 1})")
	case kind == "func(int) int":
		if v := g.variable("int"); v != "" {
			return fmt.Sprintf("(func(n int) int { if n > 100 { return %s }; %s += n & 3; return n + %s })", v, v, g.literal("int"))
		}
	}
	if v := g.variable(kind); v != "" {
		return v
	}
	return g.literal(kind)
}
