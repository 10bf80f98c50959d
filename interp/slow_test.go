package interp_test

import (
	"testing"

	"github.com/quernlab/quern/interp"
)

// TestSlowCells runs cells in the interpreter that the VM would run.
func TestSlowCells(t *testing.T) {
	t.Parallel()
	// The interpreter sees the underlying types of fields of a type that mentions itself.
	const declarations = `type S string
type N int
type scope struct {
	outer  *scope
	labels []S
	m      map[S]N
	a      [2]N
	n      N
	ch     chan S
	f      func(S) N
}
s, label, k := &scope{labels: []S{"a", "b"}, m: map[S]N{"a": 1}, a: [2]N{1, 4}, n: 2, ch: make(chan S, 1), f: func(s S) N { return N(len(s)) }}, S("b"), N(1)`
	for _, row := range []struct{ in, want string }{
		{"for i, v := range s.labels {\n\tfmt.Print(i, v == label, v+label, \" \")\n}", "0 falseab 1 truebb "},
		{"for v, n := range s.m {\n\tfmt.Print(v == label, n == k)\n}", "false true"},
		{"for _, v := range s.a {\n\tfmt.Print(v == k, v*k, \" \")\n}", "true 1 false 4 "},
		{"var v S\nfor _, v = range s.labels {\n\tfmt.Print(v == label, \" \")\n}", "false true "},
		{"for i := range s.n {\n\tfmt.Print(i == k, \" \")\n}", "false true "},
		{"fmt.Print(s.f(label) == k, s.f(label)+k, append(s.labels, label)[2] == label)", "true 2 true"},
		{"s.ch <- label\nfmt.Print(<-s.ch == label)", "true"},
		{"p := &s.a\nfmt.Print(p[:1][0] == k, s.m[label], (&scope{a: s.a}).a[:][1]*k)", "true 0 4"},
		{"fs := reflect.StructField{Index: []int{4, 5}}\nfmt.Print([]int{-fs.Index[0] - 1, 3 - fs.Index[1]}, append([]int{-fs.Index[0] * 2}, fs.Index...))", "[-5 -2] [-8 4 5]"},
	} {
		for _, options := range [][]interp.Option{nil, {interp.Slow()}} {
			n := newNotebook(t, options...)
			n.must(t, declarations, "")
			n.must(t, "func run() {\n"+row.in+"\n}\nrun()", row.want)
		}
	}
}

// TestSpreadArguments calls methods with the results of a function as arguments.
func TestSpreadArguments(t *testing.T) {
	t.Parallel()
	const declarations = `type state struct{ bits uint64; n, at int }
func (s state) add(v uint64, n int) state { s.bits |= v << s.n; s.n += n; return s }
type pointer struct{ n int }
func (p *pointer) add(v uint64, n int) int { p.n += int(v); return p.n + n }
type adder interface{ add(uint64, int) int }
type stater interface{ add(uint64, int) state }
type text string
func (t text) all(list ...any) string { return fmt.Sprint(string(t), list) }
func two(a uint64, b int) (uint64, int) { return a, b }
func date() (int, int, int) { return 1, 2, 3 }`
	for _, row := range []struct{ in, want string }{
		{"s := state{at: 7}\nfor i := range 3 {\n\ts = s.add(two(1, i))\n}\nfmt.Print(s)", "{3 3 7}"},
		{"p := &pointer{1}\nfmt.Print(p.add(two(3, 9)), *p)", "13 {4}"},
		{"var a adder = &pointer{1}\nfmt.Print(a.add(two(3, 9)))", "13"},
		{"var a stater = state{at: 7}\nfmt.Print(a.add(two(3, 9)))", "{3 9 7}"},
		{"t := text(\"x\")\nfmt.Print(t.all(two(3, 9)), t.all(date()))", "x[3 9]x[1 2 3]"},
		{"t := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)\nfmt.Print(t.AddDate(date()).Format(time.DateOnly))", "2001-03-04"},
		{"p := &pointer{1}\nfunc() { defer p.add(two(3, 9)) }()\nfmt.Print(*p)", "{4}"},
	} {
		for _, options := range [][]interp.Option{nil, {interp.Slow()}} {
			n := newNotebook(t, options...)
			n.must(t, declarations, "")
			n.must(t, "func run() {\n"+row.in+"\n}\nrun()", row.want)
		}
	}
}
