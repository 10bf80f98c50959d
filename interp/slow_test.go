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
	} {
		for _, options := range [][]interp.Option{nil, {interp.Slow()}} {
			n := newNotebook(t, options...)
			n.must(t, declarations, "")
			n.must(t, "func run() {\n"+row.in+"\n}\nrun()", row.want)
		}
	}
}
