package lower_test

import "testing"

// TestConditions runs conditions whose first part yaegi could use as the whole condition.
func TestConditions(t *testing.T) {
	const declarations = "type P struct{ X, Y int }\ntype S = struct{ A int }\nfunc yes(any) bool { return true }\nvar n, ok, p, f = uint32(7), true, P{1, 2}, func() {}"
	for _, condition := range []string{
		"(-(n) != n) || ok", "-(n) != n && ok", "((n)) == 7 && (ok)", "(ok) && ((ok)) || !(ok)", "(*(&p)).X == (1) && ok",
		"p == (P{1, 2}) && ok", "(P{X: 1, Y: 2}) == p && ok", "ok && (P{X: 1, Y: 2}) == p && yes(P{X: 1})",
		"yes(P{X: 1}) && yes(struct{ A int }{3}) && yes(S{A: 1})", "[4]int{1, 3: -7}[n&3] == -7 && ok", `map[string]int{"a": 1}["a"] == 1 && ok`,
		"interface{}(n) == interface{}(uint32(7)) && (ok)", "(func())(f) != nil && ok", "struct{ A int }(S{3}) == (S{A: 3}) && ok",
		"(func() bool { return true }()) && ok", "n<<(n&1)>>(uint(n)&1) == 7 && ok",
	} {
		_, out, err := runCells(t, declarations, "func() string {\ndefer func() {}()\nif "+condition+" {\nreturn \"yes\"\n}\nreturn \"no\"\n}()",
			"func() string {\ndefer func() {}()\nswitch {\ncase "+condition+", false:\nreturn \"yes\"\n}\nreturn \"no\"\n}()", "func() bool { defer func() {}(); x := "+condition+"; return x }()")
		if err != nil || out != "= yes\n= yes\n= true\n" {
			t.Errorf("%s: %q, %v", condition, out, err)
		}
	}
}
