package interp_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// times returns the text n times, with numbers from 0 for each %[1]d.
func times(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// long are cells of n parts, with the value of the last expression.
var long = []struct {
	name string
	n    int
	cell func(n int) string
	want func(n int) string
}{
	{"functions", 500, func(n int) string {
		return times(n, "func f%[1]d(x int) int { if x > %[1]d { return x }; return x + %[1]d }\n") + fmt.Sprintf("f%d(0)", n-1)
	}, func(n int) string { return fmt.Sprint(n - 1) }},
	{"functions that the engine runs", 300, func(n int) string {
		return "func f0(x complex128) complex128 { return x }\n" + times(n, "func g%[1]d(x complex128) complex128 { return f0(x) + %[1]d }\n") + fmt.Sprintf("real(g%d(0))", n-1)
	}, func(n int) string { return fmt.Sprint(n - 1) }},
	{"functions that call one that the engine runs", 300, func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "func f%d(x int) int { for range 1 { x = f%d(x) }; return x + 1 }\n", i, i+1)
		}
		return b.String() + fmt.Sprintf("func f%d(x int) int { return int(real(complex(float64(x), 0))) }\nf%d(0)", n, n-2)
	}, func(int) string { return "2" }},
	{"function literals", 500, func(n int) string {
		return "sum := 0\n" + times(n, "f%[1]d := func() int { return sum + %[1]d }\n") + fmt.Sprintf("f%d()", n-1)
	}, func(n int) string { return fmt.Sprint(n - 1) }},
	{"deferred calls", 500, func(n int) string { return "sum := 0\n" + times(n, "defer func() { sum += %[1]d }()\n") + "sum" }, func(int) string { return "0" }},
	{"loops", 500, func(n int) string { return "sum := 0\n" + times(n, "for range 2 { sum += %[1]d }\n") + "sum" },
		func(n int) string { return fmt.Sprint(n * (n - 1)) }},
	{"statements", 1000, func(n int) string { return "sum := 0\n" + times(n, "sum += %[1]d\n") + "sum" },
		func(n int) string { return fmt.Sprint(n * (n - 1) / 2) }},
	{"variables", 500, func(n int) string {
		return "v := 1\n" + times(n, "v%[1]d := v + %[1]d\n") + fmt.Sprintf("v%d", n-1)
	}, func(n int) string { return fmt.Sprint(n) }},
	{"errors that are read", 500, func(n int) string {
		return "var err error\n_ = func() {}\n" + times(n, "_, err = strconv.Atoi(\"%[1]d\")\nif err != nil { panic(err) }\n") + "1"
	}, func(int) string { return "1" }},
	{"structs", 500, func(n int) string {
		return "type P struct { A int; B string }\nx := []P{\n" + times(n, "{%[1]d, \"s%[1]d\"},\n") + "}\nlen(x)"
	}, func(n int) string { return fmt.Sprint(n) }},
	{"types with methods", 200, func(n int) string {
		return times(n, "type T%[1]d struct { A int }\nfunc (t T%[1]d) m() int { return t.A + %[1]d }\n") + fmt.Sprintf("T%d{1}.m()", n-1)
	}, func(n int) string { return fmt.Sprint(n) }},
	{"methods of one type", 300, func(n int) string {
		return "type T struct { A int }\n" + times(n, "func (t T) m%[1]d() int { return t.A + %[1]d }\n") + fmt.Sprintf("T{1}.m%d()", n-1)
	}, func(n int) string { return fmt.Sprint(n) }},
	{"instances", 200, func(n int) string {
		return "func G[T any](x T) T { return x }\n" + times(n, "type T%[1]d struct{ A int }\nvar v%[1]d = G(T%[1]d{%[1]d})\n") + fmt.Sprintf("v%d.A", n-1)
	}, func(n int) string { return fmt.Sprint(n - 1) }},
	{"cases", 500, func(n int) string {
		return "x := 3\nswitch x {\n" + times(n, "case %[1]d: x += %[1]d\n") + "}\nx"
	}, func(int) string { return "6" }},
	{"cases of types", 200, func(n int) string {
		return times(n, "type T%[1]d struct{ A int }\n") + fmt.Sprintf("var x any = T%d{}\ny := -1\nswitch x.(type) {\n", n-1) + times(n, "case T%[1]d: y = %[1]d\n") + "}\ny"
	}, func(n int) string { return fmt.Sprint(n - 1) }},
	{"elements", 1000, func(n int) string { return "x := []string{\n" + times(n, "\"element %[1]d\",\n") + "}\nlen(x)" },
		func(n int) string { return fmt.Sprint(n) }},
	{"operands", 1000, func(n int) string { return "x := true\ny := x" + strings.Repeat(" && x", n) + "\ny" }, func(int) string { return "true" }},
	{"strings that are concatenated", 1000, func(n int) string { return "x := \"\"\ny := x" + strings.Repeat(" + x", n) + "\nlen(y)" },
		func(int) string { return "0" }},
	{"index links", 1000, func(n int) string {
		return "type T []T\nvar x T\nif x != nil { _ = x" + strings.Repeat("[0]", n) + " }\nlen(x)"
	}, func(int) string { return "0" }},
	{"selector links", 1000, func(n int) string {
		return "type T struct { p *T }\nx := &T{}\nx.p = x\nx" + strings.Repeat(".p", n) + " == x"
	}, func(int) string { return "true" }},
	{"method call links", 1000, func(n int) string {
		return "type T struct { n int }\nfunc (t T) f() T { return T{t.n + 1} }\nx := T{}" + strings.Repeat(".f()", n) + "\nx.n"
	}, func(n int) string { return fmt.Sprint(n) }},
	{"call links", 1000, func(n int) string {
		return "type T func() T\nn := 0\nvar x T\nx = func() T { n++; return x }\n_ = x" + strings.Repeat("()", n) + "\nn"
	}, func(n int) string { return fmt.Sprint(n) }},
	{"dereferenced links", 200, func(n int) string {
		return "type T struct { p *T }\nx := &T{}\nx.p = x\ny := " + strings.Repeat("(*", n) + "x" + strings.Repeat(").p", n) + "\ny == x"
	}, func(int) string { return "true" }},
	{"undefined names", 500, func(n int) string { return times(n, "v%[1]d := undefined%[1]d\n") }, nil},
	{"syntax errors", 500, func(n int) string { return times(n, "v%[1]d := := 1\n") }, nil},
	{"timed statements", 500, func(n int) string { return "x := 0\n" + times(n, "%%time x += %[1]d\n") + "x" },
		func(n int) string { return fmt.Sprint(n * (n - 1) / 2) }},
	{"commands", 500, func(n int) string { return times(n, "!true %[1]d\n") + "undefined" }, nil},
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A cell with four times as many parts allocates about four times as much; with a quadratic
// algorithm it would allocate sixteen times as much.
func TestGrowth(t *testing.T) {
	for _, row := range long {
		t.Run(row.name, func(t *testing.T) {
			run := func(n int) uint64 {
				s, err := interp.New()
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				src := row.cell(n)
				return allocated(func() {
					result, err := s.Execute(context.Background(), 1, src)
					if (err == nil) != (row.want != nil) {
						t.Fatalf("%d parts: %v", n, err)
					}
					if row.want != nil && result.Data["text/plain"] != row.want(n) {
						t.Fatalf("%d parts: %v, want %s", n, result.Data["text/plain"], row.want(n))
					}
				})
			}
			run(10) // loads packages
			small, large := run(row.n), run(4*row.n)
			t.Logf("%d parts: %d kB, %d parts: %d kB", row.n, small>>10, 4*row.n, large>>10)
			if large > 6*small {
				t.Errorf("%d parts allocate %d kB, %d parts %d kB", row.n, small>>10, 4*row.n, large>>10)
			}
		})
	}
}
