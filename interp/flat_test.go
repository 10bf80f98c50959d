package interp_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The cost of cells, completion and inspection does not grow with the number of types that
// earlier cells have declared: they allocate as much with 5000 types as with 250.
func TestFlat(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("declares thousands of types")
	}
	session := func(types int) *notebook {
		n := newNotebook(t)
		for from := 0; from < types; from += 250 {
			var b strings.Builder
			for i := from; i < from+250; i++ {
				fmt.Fprintf(&b, "type T%[1]d struct{ A, B int }\nfunc (t T%[1]d) M() int { return t.A }\nvar v%[1]d T%[1]d\n", i)
			}
			if got := n.run(b.String()); got != "" {
				t.Fatal(got)
			}
		}
		return n
	}
	small, large := session(250), session(5000)
	complete := func(src string, atLeast int) func(*notebook) {
		return func(n *notebook) {
			if _, _, items := n.Complete(src, len(src)); len(items) < atLeast {
				t.Errorf("%s: %d proposals", src, len(items))
			}
		}
	}
	cell := func(src, want string) func(*notebook) {
		return func(n *notebook) {
			if got := n.run(src); got != want {
				t.Errorf("%s: %s", src, got)
			}
		}
	}
	for name, do := range map[string]func(*notebook){
		"completion of a field":               complete("func g(t T7) {\n\tfmt.Println(t.", 3),
		"completion of a name":                complete("fmt.Println(T123", 1),
		"completion of a name that all match": complete("fmt.Println(T", 250),
		"completion without a prefix":         complete("fmt.Println(", 250),
		"completion behind a syntax error":    complete("x := = 3\np := T7{}\np.", 3),
		"inspection":                          func(n *notebook) { n.Inspect("T7{}", 1, 0) },
		"inspection of a value":               func(n *notebook) { n.Inspect("v7", 1, 0) },
		"cell":                                cell("1 + 1", "= 2"),
		"cell that uses types":                cell("T7{A: 3}.M() + v8.M()", "= 3"),
		"cell that declares a variable":       cell("x := 1\nx + 1", "= 2"),
		"cell that declares a type again":     cell("type T9 struct{ A, B int }", ""),
		"cell that declares a function again": cell("func f() int { return T7{A: 4}.M() }\nf()", "= 4"),
		"cell with an undefined name":         func(n *notebook) { n.run("undefinedName") },
	} {
		t.Run(name, func(t *testing.T) {
			few, fewBytes := work(func() { do(small) })
			many, manyBytes := work(func() { do(large) })
			t.Logf("%d and %d allocations, %d and %d kB", few, many, fewBytes>>10, manyBytes>>10)
			more := uint64(100 << 10)
			if strings.HasPrefix(name, "cell that declares") {
				more = 600 << 10 // yaegi copies the addresses of all variables
			}
			if many > 2*few+500 || manyBytes > 2*fewBytes+more {
				t.Errorf("%d allocations (%d kB) with 250 types, %d (%d kB) with 5000", few, fewBytes>>10, many, manyBytes>>10)
			}
		})
	}
}

// work returns the number and bytes of f's allocations: the median of some calls, since a session
// is swept after every few cells.
func work(f func()) (count, bytes uint64) {
	const calls = 15
	var counts, sizes []uint64
	for range calls {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		counts, sizes = append(counts, after.Mallocs-before.Mallocs), append(sizes, after.TotalAlloc-before.TotalAlloc)
	}
	slices.Sort(counts)
	slices.Sort(sizes)
	return counts[calls/2], sizes[calls/2]
}
