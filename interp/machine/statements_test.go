package machine_test

import "fmt"

// statement writes a random statement.
func (g *generator) statement() {
	if g.depth > 3 {
		g.simple()
		return
	}
	switch g.IntN(9) {
	case 0:
		g.line("if %s {", g.expr("bool"))
		g.scope(g.statements)
		if g.IntN(2) == 0 {
			g.line("} else {")
			g.scope(g.statements)
		}
		g.line("}")
	case 1:
		g.loop()
	case 2:
		g.ranged()
	case 3:
		k := pick(g, "int", "string", "uint8")
		g.line("switch %s {", g.expr(k))
		// One constant only: two could be the same.
		g.line("case %s, %s:", g.literal(k), g.variable0(k))
		g.scope(g.statements)
		g.line("case %s + %s:", g.variable0(k), g.expr(k))
		g.scope(g.statements)
		g.line("default:")
		g.scope(g.statements)
		g.line("}")
	case 4:
		g.declare(pick(g, kinds...))
	default:
		g.simple()
	}
}

func (g *generator) statements() {
	for range 1 + g.IntN(3) {
		g.statement()
	}
}

// loop writes a loop that ends: all loops share a number of steps.
func (g *generator) loop() {
	g.count++
	i := fmt.Sprintf("i%d", g.count)
	switch g.IntN(3) {
	case 0:
		g.line("for %s := 0; %s < %d; %s++ {", i, i, 1+g.IntN(5), i)
	case 1:
		g.line("for %s, n := 0, %s & 7; %s <= n; %s += 2 {", i, g.expr("int"), i, i)
	default:
		g.line("for %s := range %s & 3 {", i, g.expr("int"))
	}
	g.scope(func() {
		g.line("if steps++; steps > 2000 { break }")
		g.names["int"] = append(g.names["int"], i+"c")
		g.line("%sc := %s", i, i)
		g.statements()
		if g.IntN(3) == 0 {
			g.line("if %s { %s }", g.expr("bool"), pick(g, "break", "continue"))
		}
		g.statements()
	})
	g.line("}")
}

func (g *generator) ranged() {
	g.count++
	k, v := fmt.Sprintf("k%d", g.count), fmt.Sprintf("e%d", g.count)
	kind := pick(g, "[]int", "string", "[4]int16", "[]point", "map[int]int")
	elem := map[string]string{"[]int": "int", "string": "int32", "[4]int16": "int16", "[]point": "point", "map[int]int": "int"}[kind]
	if kind == "map[int]int" {
		// The order is random.
		g.line("for %s, %s := range %s { counter += %s * %s }", k, v, g.expr(kind), k, v)
		return
	}
	g.line("for %s, %s := range %s {", k, v, g.expr(kind))
	g.scope(func() {
		g.line("if steps++; steps > 2000 { break }")
		g.line("counter += %s", k)
		if elem != "int32" {
			g.names[elem] = append(g.names[elem], v)
		}
		g.line("_ = %s", v)
		g.statements()
	})
	g.line("}")
}

func (g *generator) simple() {
	k := pick(g, kinds...)
	switch g.IntN(8) {
	case 0:
		if v := g.variable("[]int"); v != "" {
			g.line("if len(%s) > 2 { %s[1], %s[0] = %s[0], %s }", v, v, v, v, g.expr("int"))
			return
		}
	case 1:
		if v := g.variable("map[string]int"); v != "" {
			g.line("%s", pick(g, v+"["+g.expr("string")+"] += "+g.literal("int"), "delete("+v+", "+g.expr("string")+")", "table["+g.expr("string")+"]++"))
			return
		}
	case 2:
		if v := g.variable("point"); v != "" {
			g.line("%s", pick(g, v+".x = "+g.expr("int"), v+".move("+g.expr("int")+")", v+".in.a["+g.expr("int")+"&1] -= 3", v+".name += \"x\""))
			g.line("if len(%s.name) > 40 { %s.name = \"\" }", v, v)
			return
		}
	case 3:
		k = pick(g, integerKinds...)
		if v := g.variable(k); v != "" {
			g.line("%s %s %s", v, pick(g, "+=", "-=", "*=", "|=", "&^=", "^="), g.expr(k))
			return
		}
	case 4:
		if a, b := g.variable("int"), g.variable("string"); a != "" && b != "" {
			g.line("%s, %s = %s(%s, %s)", a, b, pick(g, "two", "two"), g.expr("int"), g.expr("int"))
			return
		}
	case 5:
		if a, b := g.variable("int"), g.variable("string"); a != "" && b != "" {
			g.line("%s, %s = named(%s)", a, b, g.expr("int"))
			return
		}
	case 6:
		if v := g.variable("[4]int16"); v != "" {
			g.line("%s[%s & 3] = %s", v, g.expr("int"), g.expr("int16"))
			return
		}
	}
	if v := g.variable(k); v != "" {
		g.line("%s = %s", v, g.expr(k))
		if k == "string" || k == "[]int" || k == "[]point" || k == "[]byte" || k == "[]string" {
			g.line("if len(%s) > 60 { %s = %s[:1] }", v, v, v)
		}
	}
}
