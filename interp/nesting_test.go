package interp_test

import (
	"fmt"
	"strings"
	"testing"
)

// nested are cells with n levels of nesting. Each shows a value that depends on all levels.
var nested = []struct {
	name  string
	limit int
	cell  func(n int) string
	want  string
	msg   string // the error beyond the limit
}{
	{"if", 250, around("x := 1\n", "if x > 0 {\n", "x = 2", "}\n", "x"), "2", "blocks are nested more than 250 deep"},
	{"if with a definition", 250, around("x := 1\n", "if y := x; y > 0 {\n", "x = 2", "}\n", "x"), "2", "blocks are nested more than 250 deep"},
	{"else if", 990, chain("", "x == %[1]d + 1"), "7", "write it as a switch"},
	{"else if with a definition", 990, chain("", "y := x; y == %[1]d + 1"), "7", "write it as a switch"},
	{"else if with a call", 990, chain("n := 0\nf := func() int { n++; return -1 }\n", "x + f() > %[1]d"), "7", "write it as a switch"},
	{"else if in a function", 990, func(n int) string {
		return "func f() int {\n" + strings.TrimSuffix(chain("", "x == %[1]d + 1")(n), "x") + "return x\n}\nf()"
	}, "7", "write it as a switch"},
	{"for", 250, around("x := 0\n", "for range 1 {\n", "x++", "}\n", "x"), "1", "blocks are nested more than 250 deep"},
	{"for with a variable", 250, around("x := 0\n", "for i := 0; i < 1; i++ {\n", "x++", "}\n", "x"), "1", "blocks are nested more than 250 deep"},
	{"range over a map", 250, around("x := 0\nm := map[string]int{\"a\": 1}\n", "for _, v := range m {\nx += v - 1\n", "x++", "}\n", "x"), "1", "blocks are nested more than 250 deep"},
	{"switch", 250, around("x := 0\n", "switch x {\ncase 0:\n", "x = 3", "}\n", "x"), "3", "blocks are nested more than 250 deep"},
	{"type switch", 250, around("var x any = 0\n", "switch v := x.(type) {\ncase int:\n_ = v\n", "x = 3", "}\n", "x"), "3", "blocks are nested more than 250 deep"},
	{"select", 250, around("x := 0\nc := make(chan int)\nclose(c)\n", "select {\ncase <-c:\n", "x = 3", "}\n", "x"), "3", "blocks are nested more than 250 deep"},
	{"block", 250, around("x := 0\n", "{\n", "x = 3", "}\n", "x"), "3", "blocks are nested more than 250 deep"},
	{"function literal", 250, around("x := ", "func() int { return ", "5", "}()", "\nx"), "5", "blocks are nested more than 250 deep"},
	{"deferred literal", 249, around("x := 0\nfunc() {\n", "defer func() {\n", "x = 3", "}()\n", "}()\nx"), "3", "blocks are nested more than"},
	{"parentheses", 1000, around("y := 5\nx := ", "(", "y", ")", "\nx"), "5", "brackets are nested more than 1000 deep"},
	{"composite literal", 1000, around("x := ", "[]any{", "5", "}", "\nlen(x)"), "1", "brackets are nested more than 1000 deep"},
	{"calls", 1000, around("func f(x int) int { return x + 1 }\nx := ", "f(", "5", ")", "\nx > 5"), "true", "brackets are nested more than 1000 deep"},
	{"indexes", 1000, around("s := []int{0}\nx := ", "s[", "0", "]", "\nx"), "0", "brackets are nested more than 1000 deep"},
	{"struct types", 200, around("var x ", "struct { A ", "int", "}", "\nx == x"), "true", ""},
	{"operators", 9_900, func(n int) string { return "y := 1\nx := y" + strings.Repeat(" + y", n-1) + "\nx > 0" }, "true", "more than 10000 operators"},
	{"constants", 9_900, func(n int) string { return "x := 1" + strings.Repeat("+1", n-1) + "\nx > 0" }, "true", "more than 10000 operators"},
	{"strings", 9_900, func(n int) string { return "x := \"a\"" + strings.Repeat("+\n\"b\"", n-1) + "\nlen(x) > 0" }, "true", "more than 10000 operators"},
	{"negations", 9_900, func(n int) string { return "y := true\nx := " + strings.Repeat("!", n/2*2) + "y\nx" }, "true", "more than 10000 operators"},
	{"selectors", 9_900, func(n int) string {
		return "type T struct { a *T }\nvar x T\nx.a = &x\ny := x" + strings.Repeat(".a", n) + "\ny == &x"
	}, "true", "more than 10000 operators"},
	{"method calls", 3_000, func(n int) string {
		return "type T struct { n int }\nfunc (t *T) a() *T { t.n++; return t }\nx := &T{}\ny := x" + strings.Repeat(".a()", n) + "\ny == x && x.n > 0"
	}, "true", ""},
	{"pointer types", 2_000, around("var x ", "*", "int", "", "\nx == nil"), "true", ""},
	{"slice types", 2_000, around("var x ", "[]", "int", "", "\nx == nil"), "true", ""},
}

// chain returns a cell with a chain of n if statements, each with the condition.
func chain(before, condition string) func(int) string {
	return func(n int) string {
		return before + "x := 0\nif x == -1 {\n}" + times(n-1, " else if "+condition+" {\n}") + " else { x = 7 }\nx"
	}
}

// around returns a cell with inner between n times open and n times close.
func around(before, open, inner, end, after string) func(int) string {
	return func(n int) string {
		return before + strings.Repeat(open, n) + inner + "\n"[:min(1, strings.Count(open, "\n"))] + strings.Repeat(end, n) + after
	}
}

// A cell may be nested up to a limit. Deeper nesting is rejected
// with a reason, however deep it is.
func TestNesting(t *testing.T) {
	for _, row := range nested {
		t.Run(row.name, func(t *testing.T) {
			newNotebook(t).must(t, row.cell(row.limit), "= "+row.want)
			if row.msg == "" {
				return
			}
			n := newNotebook(t)
			for _, levels := range []int{row.limit + row.limit/40 + 1, 4 * row.limit} {
				src := row.cell(levels)
				got := n.run(src)
				if !strings.Contains(got, row.msg) && !strings.Contains(got, "brackets are nested more than 1000 deep") && !strings.Contains(got, "more than 10000 operators") {
					t.Errorf("%d levels: %.300s", levels, got)
				}
				if status, _ := n.IsComplete(src); status != "invalid" {
					t.Errorf("%d levels are %s", levels, status)
				}
				n.Complete(src, len(src))
				n.Inspect(src, len(src), 0)
			}
			n.must(t, "1 + 1", "= 2")
		})
	}
}

// Up to the limit, a cell with open brackets is incomplete.
func TestOpenBrackets(t *testing.T) {
	n := newNotebook(t)
	for _, bracket := range []string{"(", "[", "{"} {
		for levels, want := range map[int]string{1: "incomplete", 900: "incomplete", 200_000: "invalid"} {
			src := strings.Repeat(bracket, levels)
			if got, _ := n.IsComplete(src); got != want {
				t.Errorf("%d of %s: %s, want %s", levels, bracket, got, want)
			}
			n.Complete(src, len(src))
			n.Inspect(src, len(src), 0)
		}
		if got := n.run(strings.Repeat(bracket, 200_000)); !strings.Contains(got, fmt.Sprintf("cell[%d]:1:1001: brackets are nested more than 1000 deep", n.cell)) {
			t.Errorf("%.300s", got)
		}
	}
}
