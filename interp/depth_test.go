package interp_test

import (
	"strings"
	"testing"
)

// Infinite recursion ends its cell or goroutine, and nothing else. The test is not parallel
// because it needs much memory.
func TestRecursion(t *testing.T) {
	n := newNotebook(t)
	n.must(t, "kept := 41\ndeferred := 0\nclo := func() int { kept++; return kept }", "")
	for _, src := range []string{
		"func f(n int) int { return f(n+1) + 1 }\nf(0)",
		"type V struct{}\nfunc (v *V) String() string { return v.String() }\nfmt.Println(&V{})",
		"type U int\nfunc (u U) String() string { return fmt.Sprint(u) }\nU(1)",
		"type W int\nfunc (w W) M() W { return w.M() }\ntemplate.Must(template.New(\"\").Parse(\"{{.M}}\")).Execute(os.Stdout, W(1))",
		"func h() { defer func() { deferred++; recover() }(); h() }\nfunc top() { defer func() { recover() }(); h() }\ntop()",
	} {
		if got := n.run(src); !strings.Contains(got, "! runtime error: stack overflow") {
			t.Errorf("%q: %s", src, got)
		}
	}
	n.must(t, "clo()", "= 42")
	n.must(t, "deferred > 1000", "= true")
	n.must(t, "func depth(n int) int { if n == 0 { return 0 }; return 1 + depth(n-1) }\ndepth(20_000)", "= 20000")
	if got := n.run("done := make(chan int)\nfunc k(n int) int { return k(n+1) + 1 }\ngo func() { defer close(done); k(0) }()\n<-done;"); !strings.Contains(got, "! runtime error: stack overflow") {
		t.Errorf("in a goroutine: %s", got)
	}
	n.must(t, "clo()", "= 43")
}
