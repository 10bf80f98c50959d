package compile_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// generator generates random programs from the rules of grammar_test.go. They terminate and return a text
// of what they computed and panicked with.
type generator struct {
	*rand.Rand
	names       map[string][]string // variables in scope, by type
	count       int
	depth       int
	interpreted bool // the function may contain what the VM does not support
	topLevel    bool // the statements are those of a cell: nothing is deferred or returns, and no error is set, which would end the cell if unread
	inner       int  // number of function literals without a result around the statement
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 7)), names: map[string][]string{}}
}

// program returns the source of a cell that declares func run() string.
func (g *generator) program() string {
	var b strings.Builder
	b.WriteString(declarations + moreDeclarations + deferDeclarations + effectDeclarations)
	main := "func run() (out string) {\n\tcounter, steps, table, trail = 0, 0, map[string]int{}, \"\"\n"
	for i := range 2 + g.IntN(3) {
		g.names = map[string][]string{}
		g.interpreted = i%2 == 1
		var parameters, arguments []string
		for j := range g.IntN(4) {
			kind := g.kind()
			name := fmt.Sprintf("p%d", j)
			arguments = append(arguments, g.expression(kind))
			parameters = append(parameters, name+" "+kind)
		}
		for _, p := range parameters {
			name, kind, _ := strings.Cut(p, " ")
			g.addName(name, kind)
		}
		fmt.Fprintf(&b, "func f%d(%s) (out string) {\n%s}\n", i, strings.Join(parameters, ", "), g.body())
		main += fmt.Sprintf("\tout += try(func() string { return f%d(%s) })\n", i, strings.Join(arguments, ", "))
	}
	return b.String() + main + "\treturn out + fmt.Sprintln(counter, shared, len(table), steps)\n}\n"
}

// cell returns statements for the top level of a cell, which add to the variable out what they computed.
func (g *generator) cell() string {
	g.names = map[string][]string{}
	g.interpreted, g.topLevel = g.IntN(2) == 1, true
	return g.statements()
}

// body returns the body of a function.
func (g *generator) body() string { return g.statements() + "return out\n" }

func (g *generator) statements() string {
	var b strings.Builder
	for range 6 + g.IntN(8) {
		b.WriteString(g.declaration(g.kind()))
	}
	for range 6 + g.IntN(10) {
		b.WriteString(g.statement())
	}
	for _, kind := range append(plainKinds[:len(plainKinds):len(plainKinds)], interpretedKinds...) {
		for _, name := range g.names[kind] {
			show, ok := shows[kind]
			if !ok {
				show = "fmt.Sprintln(%s)"
			}
			b.WriteString("out += " + strings.ReplaceAll(show, "%s", name) + "\n")
		}
	}
	return b.String()
}

func (g *generator) kind() string {
	n := len(plainKinds)
	if g.interpreted {
		n += len(interpretedKinds)
	}
	i := g.IntN(n)
	if i >= len(plainKinds) {
		return interpretedKinds[i-len(plainKinds)]
	}
	return plainKinds[i]
}

func (g *generator) addName(name, kind string) { g.names[kind] = append(g.names[kind], name) }

func (g *generator) name() string {
	g.count++
	return fmt.Sprintf("v%d", g.count)
}

func (g *generator) declaration(kind string) string {
	name, value := g.name(), g.expression(kind)
	g.addName(name, kind)
	form := g.choose("var N K = V", "var N K\nN = V", "var N = (K)(V)", "N := (K)(V)")
	return strings.NewReplacer("N", name, "K", kind, "V", value).Replace(form) + "\n_ = " + name + "\n"
}

func (g *generator) choose(list ...string) string { return list[g.IntN(len(list))] }

func (g *generator) variable(kind string) (string, bool) {
	list := g.names[kind]
	if len(list) == 0 {
		return "", false
	}
	return list[g.IntN(len(list))], true
}

// expression returns a random expression of a type.
func (g *generator) expression(kind string) string {
	g.depth++
	defer func() { g.depth-- }()
	v, ok := g.variable(kind)
	switch deep := g.depth > 4+g.IntN(4); {
	case ok && (deep || g.IntN(3) == 0):
		return v
	case deep || g.IntN(5) == 0:
		return g.fill(g.rule(literals, kind))
	}
	return g.fill(g.rule(expressions, kind))
}

// rule returns a random rule for a type. Rules that begin with ~ are only for functions that yaegi runs.
func (g *generator) rule(rules map[string][]string, kind string) string {
	list := rules[kind]
	if len(list) == 0 {
		list = literals[kind]
	}
	for {
		r := g.choose(list...)
		rest, interpreted := strings.CutPrefix(r, "~")
		if !interpreted || g.interpreted {
			return rest
		}
	}
}

func (g *generator) statement() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 3 {
		return g.randomStatement(simple) + "\n"
	}
	return g.randomStatement(statements) + "\n"
}

// one returns a statement from a random rule whose variables are in scope.
func (g *generator) randomStatement(rules []string) string {
	for range 20 {
		rule, interpreted := strings.CutPrefix(g.choose(rules...), "~")
		if interpreted && !g.interpreted {
			continue
		}
		if strings.Contains(rule, "ANY") {
			rule = strings.ReplaceAll(rule, "ANY", g.kind())
		}
		if strings.Contains(rule, "INTEGER") {
			rule = strings.ReplaceAll(rule, "INTEGER", g.choose(integerKinds...))
		}
		if g.topLevel && (outside(rule, "defer ") || outside(rule, "return ") || strings.Contains(rule, "<&error>")) {
			continue
		}
		if g.possible(rule) && (g.inner == 0 || !strings.Contains(rule, "return ")) {
			return g.fill(rule)
		}
	}
	return "counter++"
}

var (
	target      = regexp.MustCompile(`<&([^<>]+)>`)
	placeholder = regexp.MustCompile(`<&?[a-z*\[][^<>]*>|\$\d|BLOCK\([^()]*\)|RISKY|GUARD`)
)

// outside reports whether a rule has a keyword that is not inside one of its function literals.
func outside(rule, keyword string) bool {
	before, _, found := strings.Cut(rule, keyword)
	return found && !strings.Contains(before, "func(")
}

// possible reports whether the variables that a rule assigns to are in scope.
func (g *generator) possible(rule string) bool {
	for _, m := range target.FindAllStringSubmatch(rule, -1) {
		if len(g.names[m[1]]) == 0 {
			return false
		}
	}
	return true
}

// heads match the heads of statements, in which a composite literal needs parentheses.
var heads = regexp.MustCompile(`(?m)\b(if|for|switch) .*\{$`)

// fill replaces the placeholders of a rule: <int> by an expression of that type, <&int> by a variable, $1
// by a new name, and BLOCK($1 int) by statements that may use it. BLOCK(-) contains no return statement.
func (g *generator) fill(rule string) string {
	var inHead [][]int
	if strings.Contains(rule, "\n") {
		inHead = heads.FindAllStringIndex(rule, -1)
	}
	names := map[string]string{}
	name := func(mark string) string {
		if names[mark] == "" {
			names[mark] = g.name()
		}
		return names[mark]
	}
	value := func(s string) string {
		switch {
		case s[0] == '$':
			return name(s)
		case s == "GUARD":
			return "if steps++; steps > 3000 { break }"
		case s == "RISKY":
			return g.randomStatement(risky)
		case strings.HasPrefix(s, "BLOCK("):
			return g.block(s[len("BLOCK("):len(s)-1], name)
		}
		kind := s[1 : len(s)-1]
		if kind[0] != '&' {
			return g.expression(kind)
		}
		v, ok := g.variable(kind[1:])
		if !ok {
			return "(" + g.fill(g.rule(literals, kind[1:])) + ")"
		}
		return v
	}
	var b strings.Builder
	last := 0
	for _, at := range placeholder.FindAllStringIndex(rule, -1) {
		v := value(rule[at[0]:at[1]])
		for _, h := range inHead {
			if h[0] < at[0] && at[1] < h[1] && strings.Contains(v, "{") {
				v = "(" + v + ")"
			}
		}
		b.WriteString(rule[last:at[0]] + v)
		last = at[1]
	}
	return b.String() + rule[last:]
}

// block returns random statements that may also use variables.
func (g *generator) block(variables string, name func(string) string) string {
	saved := map[string]int{}
	for k, list := range g.names {
		saved[k] = len(list)
	}
	var b strings.Builder
	if variables == "-" {
		g.inner++
		defer func() { g.inner-- }()
	} else if variables != "" {
		for _, v := range strings.Split(variables, ", ") {
			mark, kind, _ := strings.Cut(v, " ")
			g.addName(name(mark), kind)
			b.WriteString("_ = " + name(mark) + "\n")
		}
	}
	for range 1 + g.IntN(3) {
		if g.IntN(6) == 0 {
			b.WriteString(g.declaration(g.kind()))
		} else {
			b.WriteString(g.statement())
		}
	}
	for k := range g.names {
		g.names[k] = g.names[k][:saved[k]]
	}
	return b.String()
}
