package interp_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// liveHeap is the size of the objects that are reachable.
func liveHeap() int {
	var m runtime.MemStats
	// Finalizers, cleanups and pools let go of more in a second and third run.
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// sweepEvery is after how many cells a session of few definitions forgets what was
// replaced.
const sweepEvery = interp.SweepLeast

// TestRerunsKeepLittle says that what a cell leaves behind is forgotten when it is
// run again, or when its names get other meanings: 20 000 such runs may keep 50 MB.
func TestRerunsKeepLittle(t *testing.T) {
	const limit = 50 << 20 / 20_000
	warm, runs := 2*sweepEvery, 3*sweepEvery
	if testing.Short() {
		runs = sweepEvery
	}
	for _, row := range []struct {
		name string
		src  func(i int) string
	}{
		{"expression", func(i int) string { return "1 + 1" }},
		{"print", func(i int) string { return "fmt.Println(1)" }},
		{"variable", func(i int) string { return "x := 1\nx + 1" }},
		{"variable of another type", func(i int) string { return []string{"x := 1", "x := \"\""}[i%2] }},
		{"loop", func(i int) string { return "s := 0\nfor i := range 10 { s += i }\ns" }},
		{"function", func(i int) string { return "func f(n int) int { return n + 1 }\nf(1)" }},
		{"another function", func(i int) string { return fmt.Sprintf("func f(n int) int { return n + %d }\nf(1)", i) }},
		{"engine function", func(i int) string { return fmt.Sprintf("func f(c complex128) complex128 { return c * %d }\nf(1i)", i) }},
		{"function of another type", func(i int) string {
			return []string{"func f(n int) int { return n + 1 }", "func f(n string) string { return n }"}[i%2]
		}},
		{"fails to compile", func(i int) string { return "x := undefined + 1" }},
		{"fails to parse", func(i int) string { return "x := := 3" }},
		{"fails by a panic", func(i int) string { return "panic(1)" }},
		{"closure", func(i int) string { return "k := 1\ng := func(n int) int { k++; return n + k }\ng(2)" }},
		{"goroutine", func(i int) string { return "c := make(chan int)\ngo func() { c <- 1 }()\n<-c" }},
		{"waitgroup", func(i int) string {
			return "var wg sync.WaitGroup\nfor i := range 3 { wg.Go(func() { _ = i }) }\nwg.Wait()"
		}},
		{"defer", func(i int) string { return "func() { defer func() { recover() }(); panic(1) }()" }},
		{"import", func(i int) string { return "import \"strings\"\nstrings.ToUpper(\"a\")" }},
		{"type", func(i int) string { return "type T struct{ A int }\nT{1}" }},
		{"type with method", func(i int) string {
			return "type T struct{ A int }\nfunc (t T) M() int { return t.A }\nT{1}.M()"
		}},
		{"another type", func(i int) string { return fmt.Sprintf("type T struct{ A [%d]int }\nlen(T{}.A)", i%2+1) }},
		{"method again", func(i int) string {
			if i == 0 {
				return "type T struct{ A int }"
			}
			return fmt.Sprintf("func (t T) M() int { return t.A + %d }\nT{1}.M()", i)
		}},
		{"generic function", func(i int) string {
			return fmt.Sprintf("func Map[A, B any](s []A, f func(A) B) []B { var r []B; for _, x := range s { r = append(r, f(x)) }; return r }\nMap([]int{1}, func(n int) int { return n + %d })", i)
		}},
		{"generic library", func(i int) string { return "s := []int{3, 1}\nslices.Sort(s)\nslices.Max(s)" }},
		{"local type", func(i int) string {
			return "func f() any { type L struct{ X int }; return L{1} }\nf()"
		}},
		{"json", func(i int) string {
			return fmt.Sprintf("type P struct{ A int; B%d int }\nb, _ := json.Marshal(P{A: 1})\nstring(b)", i%2)
		}},
		{"dependant", func(i int) string {
			if i == 0 {
				return "const k = 1\nfunc f() int { return k }\nfunc g() int { return f() }"
			}
			return fmt.Sprintf("const k = %d", i)
		}},
		{"switch, select, range over func", func(i int) string {
			return "for x := range func(yield func(int) bool) { yield(1) } { switch any(x).(type) { case int: ; case string: } }\nselect { default: }"
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := newNotebook(t)
			run := func(i int) {
				n.cell++
				_, err := n.Execute(t.Context(), n.cell, row.src(i))
				if fails := strings.HasPrefix(row.name, "fail"); (err != nil) != fails {
					t.Fatalf("%s: %v", row.src(i), err)
				}
				n.out.take()
				n.err.take()
			}
			for i := range warm {
				run(i)
			}
			before := liveHeap()
			for i := range runs {
				run(warm + i)
			}
			if each := (liveHeap() - before) / runs; each > limit {
				t.Errorf("each run keeps %d bytes", each)
			}
			runtime.KeepAlive(n)
		})
	}
}
