package interp_test

import (
	"runtime/debug"
	"strings"
	"testing"
)

// A cell that allocates more memory than is available panics, which it can recover from, and the
// session continues.
func TestAllocationBeyondMemory(t *testing.T) {
	old := debug.SetMemoryLimit(2 << 30)
	defer debug.SetMemoryLimit(old)
	for _, expr := range []string{
		"make([]byte, 1<<36)",
		"make([]byte, n)",
		"make([]byte, 0, n)",
		"make([]int64, n/8, n/4)",
		"make([]float32, n)",
		"make([]string, n)",
		"make([]T, n)",
		"make([]*T, uint64(n))",
		"make(Ts, n)",
		"make([][]int, n)",
		"make([][1000]int, n/1000)",
		"make(map[int]int, n)",
		"make(map[string]T, n)",
		"make(chan int, n)",
		"make(chan<- T, n)",
		"append(make([]byte, 10), make([]byte, n)...)",
		"slices.Grow([]int{}, n)",
		"slices.Repeat([]int{1}, n)",
		"strings.Repeat(\"abc\", n)",
		"bytes.Repeat([]byte(\"abc\"), n)",
		"generic[T](n)",
		"func() any { var b strings.Builder; b.Grow(n); return b.Len() }()",
		"func() any { var b bytes.Buffer; b.Grow(n); return b.Len() }()",
	} {
		t.Run(expr, func(t *testing.T) {
			n := newNotebook(t)
			n.run("n := 1 << 36\ntype T struct{ a, b string }\ntype Ts []T\nfunc generic[E any](n int) []E { return make([]E, n) }")
			const want = "runtime error: out of memory: cannot allocate "
			if got := n.run("_ = " + expr); !strings.Contains(got, want) || !strings.Contains(got, "may have 2 GiB") {
				t.Errorf("got %s", got)
			}
			if got := n.run("func() (text string) { defer func() { text = recover().(runtime.Error).Error() }(); _ = " + expr + "; return }()"); !strings.Contains(got, want) {
				t.Errorf("recovered %s", got)
			}
			if got := n.run("func f() (text string) { defer func() { text = fmt.Sprint(recover()) }(); _ = " + expr + "; return }\nf()"); !strings.Contains(got, want) {
				t.Errorf("recovered in a function %s", got)
			}
		})
	}
}

// A size that no Go program can have panics as in compiled Go.
func TestAllocationOutOfRange(t *testing.T) {
	for expr, want := range map[string]string{
		"make([]byte, n)":              "runtime error: makeslice: len out of range",
		"make([]byte, 0, n)":           "runtime error: makeslice: cap out of range",
		"make([]T, n>>1)":              "runtime error: makeslice: len out of range",
		"make(chan [8]byte, n)":        "makechan: size out of range",
		"len(make(map[string]int, n))": "<nil>", // no panic: the size is a hint
	} {
		n := newNotebook(t)
		n.run("n := 1 << 61\ntype T struct{ a, b string }")
		for _, cell := range []string{
			"func() (e any) { defer func() { e = recover() }(); return " + expr + " }()",
			"func f() (e any) { defer func() { e = recover() }(); return " + expr + " }\nf()",
		} {
			if got := n.run(cell); got != "= "+want {
				t.Errorf("%s: got %s, want %s", cell, got, want)
			}
		}
	}
}

// The same holds for strings that become too long.
func TestConcatenationBeyondMemory(t *testing.T) {
	old := debug.SetMemoryLimit(300 << 20)
	defer debug.SetMemoryLimit(old)
	for _, expr := range []string{
		"func() any { s := \"s\"; for { s += s } }()",
		"func() any { s := Text(\"s\"); for { s = s + s + \"!\" } }()",
		"func() any { f := func() string { return strings.Repeat(\"x\", 70<<20) }; return f() + f() + f() + f() + f() }()",
		"func() any { a := []Text{\"s\"}; i := 0; for { a[i] += a[0] } }()",
		"func() any { m := map[string]string{\"\": \"s\"}; for { m[\"\"] += m[\"\"] } }()",
		"func() any { w := wrapped{in: &wrapped{t: \"s\"}}; for { w.in.t += w.in.t } }()",
	} {
		n := newNotebook(t)
		n.run("type Text string\ntype wrapped struct { in *wrapped; t Text }")
		got := n.run("func() (text string) { defer func() { text = recover().(runtime.Error).Error() }(); _ = " + expr + "; return }()")
		if !strings.Contains(got, "runtime error: out of memory: cannot allocate ") {
			t.Errorf("%s: recovered %s", expr, got)
		}
		n.run("runtime.GC()")
	}
}

// Allocations that fit, and those that Go itself rejects, behave as in compiled Go.
func TestAllocationWithinMemory(t *testing.T) {
	for _, row := range [][2]string{
		{"n := 70 << 20; len(make([]byte, n))", "= 73400320"},
		{"n := -1; make([]int, n)", "! runtime error: makeslice: len out of range"},
		{"n := -1; make([]int, 0, n)", "! runtime error: makeslice: cap out of range"},
		{"n := 3; make(map[int]int, n)", "= map[]"},
		{"n := -3; make(map[int]int, n)", "= map[]"},
		{"n := -3; make(chan int, n)", "! runtime error: makechan: size out of range"},
		{"n := uint8(3); len(make([]int, n))", "= 3"},
		{"n := 1 << 40; len(make([]struct{}, n))", "= 1099511627776"},
		{"strings.Repeat(\"ab\", 3)", "= \"ababab\""},
		{"strings.Repeat(\"ab\", -1)", "! panic: strings: negative Repeat count"},
		{"len(make([]int, 3.0))", "= 3"},
		{"s := \"a\"; s += \"b\" + s; s = s + \"c\" + s; s", "= \"abacaba\""},
		{"type S string; type W struct { in *W; s S }; w := W{in: &W{s: \"a\"}}; w.in.s += \"b\" + w.in.s; w.in.s = w.in.s + S(\"c\"); fmt.Sprintf(\"%T %v\", w.in.s, w.in.s)", "= \"main.S abac\""},
		{"i := 0; next := func() int { i++; return i }; m := map[int]string{1: \"a\"}; m[next()] += \"b\"; fmt.Sprint(m, i)", "= \"map[1:ab] 1\""},
		{"i := 0; next := func() int { i++; return i }; a := []string{\"x\", \"y\"}; a[next()-1] += fmt.Sprint(next(), a[0]); fmt.Sprint(a, i)", "= \"[x2x y] 2\""},
		{"p := new(string); q := &p; **q += \"a\"; *p += \"b\"; *p", "= \"ab\""},
		{"func j[T ~string](a, b T) T { a += b; return a + b }; type S string; fmt.Sprintf(\"%T%v\", j(S(\"a\"), \"b\"), j(\"c\", \"d\"))", "= \"main.Scdd\""},
	} {
		n := newNotebook(t)
		if got := n.run(row[0]); !strings.HasPrefix(got, row[1]) {
			t.Errorf("%s gives %s, want %s", row[0], got, row[1])
		}
	}
}
