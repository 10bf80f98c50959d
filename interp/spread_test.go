package interp_test

import "testing"

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
		n := newNotebook(t)
		n.must(t, declarations, "")
		n.must(t, "func run() {\n"+row.in+"\n}\nrun()", row.want)
	}
}
