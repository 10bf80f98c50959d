package check

import (
	"strings"
	"testing"
)

// TestTooDeep checks that there is a limit of depth, but not of length.
func TestTooDeep(t *testing.T) {
	t.Parallel()
	const many = 20_000
	for _, row := range []struct{ name, in, want string }{
		{"statements", strings.Repeat("x = -x + y[i].z(1)\n", many), ""},
		{"statements in a line", strings.Repeat("x++; ", many), ""},
		{"elements", "x := []P{" + strings.Repeat("{A: -1, B: f(2)}, ", many) + "}", ""},
		{"pairs", "x := map[string]int{" + strings.Repeat("\"a\" + b: 2 * c,\n", many) + "}", ""},
		{"arguments", "f(" + strings.Repeat("a.b, ", many) + ")", ""},
		{"cases", "switch x {\n" + strings.Repeat("case -1, a + b:\n", many) + "}", ""},
		{"cases of types", "switch x.(type) {\n" + strings.Repeat("case *T:\n", many) + "default:\n}", ""},
		{"clauses", "select {\n" + strings.Repeat("case <-c: f()\n", many) + "}", ""},
		{"fields", "type T struct {\n" + strings.Repeat("A, B *[]map[string]int\n", many) + "}", ""},
		{"functions", strings.Repeat("func (t *T) f(x ...int) (int, error) { return -x }\n", many), ""},
		{"ifs", strings.Repeat("if x := -f(); x != nil { g() } else { h() }\n", many), ""},
		{"operators", "x := y" + strings.Repeat(" + y", many), "more than 10000 operators"},
		{"selectors", "x := y" + strings.Repeat(".y", many), "more than 10000 operators"},
		{"calls", "x := y" + strings.Repeat("()", many), "more than 10000 operators"},
		{"else ifs", "if x {}" + strings.Repeat(" else if y {}", many), "write it as a switch"},
		{"else ifs within the limit", "if x {}" + strings.Repeat(" else if x[0]&(1<<y) != 0 || y.z(x+1, -y) > x.y.z-1 {}", 1000), ""},
		{"else ifs in blocks", strings.Repeat("if x { y() } else if z { y() } else { z() }\n", many), ""},
		{"labels", strings.Repeat("a: ", many), "more than 10000 operators"},
		{"types", "var x " + strings.Repeat("map[string]", many) + "int", "more than 10000 operators"},
		{"results", "var x " + strings.Repeat("func() ", many) + "int", "more than 10000 operators"},
		{"channels", "var x " + strings.Repeat("chan ", many) + "int", "more than 10000 operators"},
		{"brackets", strings.Repeat("(", 1001), "more than 1000 deep"},
		{"brackets within the limit", strings.Repeat("(", 1000), ""},
		{"operators around brackets", strings.Repeat("a + b + c + d + e + f + g + h + i + j + k + (", 1000), "more than 10000 operators"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			list, _ := scan(row.in)
			if _, msg := tooDeep(list); row.want == "" && msg != "" || !strings.Contains(msg, row.want) {
				t.Errorf("%q, want %q", msg, row.want)
			}
		})
	}
}

// TestLines compares the line table with counting newlines.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"", "a", "a\n", "\n", "\n\nab\nc\r\n", "a\nbc"} {
		lines := linesOf(src)
		for offset := range len(src) + 1 {
			line, column := lines.position(offset)
			before := src[:offset]
			if want := 1 + strings.Count(before, "\n"); line != want || column != offset-strings.LastIndexByte(before, '\n') {
				t.Errorf("%q: offset %d is %d:%d", src, offset, line, column)
			}
		}
		for i, want := range strings.Split(src, "\n") {
			if got := lines.text(src, i+1); got != want {
				t.Errorf("%q: line %d is %q", src, i+1, got)
			}
		}
	}
}
