package compile

import (
	"strings"
	"testing"
)

// TestCode pins the instructions of the last function of each source.
func TestCode(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"arithmetic", "func f(a, b int8) int8 { return a*b - 3 }", `
  0 MulI n2, n0, n1
  1 Sign8 n2, n2
  2 AddK n0, n2, -3
  3 Sign8 n0, n0
  4 Ret
`},
		{"loop", "func f(n int) (s int) {\n\tfor i := 0; i < n; i++ {\n\t\ts += i\n\t}\n\treturn\n}", `
  0 Const n1, 0
  1 Const n2, 0
  2 IfLeI n0, n2, -> 5
  3 AddI n1, n1, n2
  4 LoopAddLt n2, n0, 1, -> 3
  5 Mov n0, n1
  6 Ret
  7 Mov n0, n1
  8 Ret
`},
		{"length", "func f(xs []int, s string) (n int) {\n\tfor i := 0; i < len(xs); i++ {\n\t\tn += xs[i]\n\t}\n\tfor n < len(s) {\n\t\tn += 2\n\t}\n\treturn\n}", `
  0 Const n1, 0
  1 Const n2, 0
  2 IfGeLen n2, s0, -> 6
  3 Ix64 n3, s0, n2
  4 AddI n1, n1, n3
  5 LoopAddLtLen n2, s0, 1, -> 3
  6 IfGeLen n1, s1, -> 9
  7 AddK n1, n1, 2
  8 LoopLtLen n1, s1, -> 7
  9 Mov n0, n1
 10 Ret
 11 Mov n0, n1
 12 Ret
`},
		{"recursion", "func f(n int) int {\n\tif n < 2 {\n\t\treturn n\n\t}\n\treturn f(n-1) + f(n-2)\n}", `
  0 IfGeK n0, 2, -> 2
  1 Ret
  2 AddK n1, n0, -1
  3 Call frame n1, s0, f
  4 AddK n2, n0, -2
  5 Call frame n2, s0, f
  6 AddI n0, n1, n2
  7 Ret
`},
		{"swap", "func f(xs []byte, i int) { xs[i], xs[i+1] = xs[i+1], xs[i] }", `
  0 AddK n1, n0, 1
  1 Ix8U n2, s0, n0
  2 Ix8U n3, s0, n1
  3 Put8 s0, n3, n0
  4 Put8 s0, n2, n1
  5 Ret
`},
		{"elements", "func f(xs, ys []byte, i int) { xs[i], ys[i] = ys[i], xs[i] }", `
  0 MovSl s2, s0
  1 Mov n1, n0
  2 MovSl s3, s1
  3 Mov n2, n0
  4 Ix8U n3, s1, n0
  5 Ix8U n4, s0, n0
  6 Put8 s2, n3, n1
  7 Put8 s3, n4, n2
  8 Ret
`},
		{"fields", "type P struct{ a int; s string }\nfunc f(p *P) string { p.a++; return p.s }", `
  0 Ld64 n0, s0, 0
  1 AddK n1, n0, 1
  2 St64 s0, n1, 0
  3 LdStr s0, s0, 8
  4 Ret
`},
		{"conditions", "func f(a, b float64, p *int) bool {\n\tfor p != nil && !(a < b || a == 1) {\n\t\treturn true\n\t}\n\treturn false\n}", `
  0 IfNil s0, -> 10
  1 IfLtF n0, n1, -> 10
  2 Const64 n2, 0
  3 IfEqF n0, n2, -> 10
  4 Const n0, 1
  5 Ret
  6 IfNil s0, -> 10
  7 IfLtF n0, n1, -> 10
  8 Const64 n2, 1
  9 LoopNeF n0, n2, -> 4
 10 Const n0, 0
 11 Ret
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := compile(t, tt.source)
			f := p.unit.functions[len(p.unit.functions)-1]
			if got := f.Disassemble(); got != strings.TrimPrefix(tt.want, "\n") {
				t.Errorf("got\n%swant%s", got, tt.want)
			}
		})
	}
}
