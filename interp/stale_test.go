package interp_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/interp/magic"
)

// runCell executes the cell of a front end with an id.
func (n *notebook) runCell(t testing.TB, id, src string, options ...interp.CellOption) {
	t.Helper()
	n.cell++
	if id != "" {
		options = append(options, interp.ID(id))
	}
	if _, err := n.Execute(t.Context(), n.cell, src, options...); err != nil && !strings.HasPrefix(src, "// fails") {
		t.Fatalf("%s: %v", src, err)
	}
	n.out.take()
	n.err.take()
}

// runCells executes cells, one each in a paragraph that may begin with its id and a colon: "a: x := 1". "-a" deletes a cell.
func (n *notebook) runCells(t testing.TB, text string) {
	t.Helper()
	for _, cell := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		id, src, ok := strings.Cut(cell, ": ")
		if deleted, is := strings.CutPrefix(cell, "-"); is {
			n.runCell(t, "", "%help", interp.Deleted(deleted))
			n.cell--
		} else if ok && len(id) == 1 {
			n.runCell(t, id, src)
		} else {
			n.runCell(t, "", cell)
		}
	}
}

// TestStale has cells and what %stale reports after them.
func TestStale(t *testing.T) {
	t.Parallel()
	const nothing = "nothing is stale\n"
	for _, row := range []struct{ name, cells, want string }{
		{"no cells", "1", nothing},
		{"edited definition, without ids", `
func mean(xs []float64) float64 { return 0 }

xs := []float64{1}

mean(xs)

func mean(xs []float64) float64 { return xs[0] }
`, "cell[3] uses mean, which cell[4] has redefined\n  mean(xs)\n"},
		{"edited definition", `
a: func mean(xs []float64) float64 { return 0 }

b: xs := []float64{1}

c: mean(xs)

d: len(xs)

a: func mean(xs []float64) float64 { return xs[0] }
`, "cell[3] uses mean, which cell[5] has redefined\n  mean(xs)\n"},
		{"the same definition again", `
a: func f() int { return 1 }

b: f()

a: // a comment
func f() int { return 1 }
`, nothing},
		{"changed variable", `
a: x := 1

b: y := x + 1

c: y * 2

d: fmt.Println("no variables")

a: x := 2
`, "cell[2] uses x, which cell[5] has set again\n  y := x + 1\ncell[3] uses y of cell[2], which is stale\n  y * 2\n"},
		{"from top to bottom", `
a: x := 1

b: x

c: x = 2

d: x

e: x := 3

f: x
`, nothing},
		{"an overwritten variable", `
a: x := 1

b: x = 2

c: x

a: x := 1
`, "cell[2] sets x, which cell[4] has set again\n  x = 2\ncell[3] uses x, which cell[4] has set again\n  x\n"},
		{"an overwritten variable that nothing uses", `
a: start := 1
start

b: start := 2
start

a: start := 3
start
`, nothing},
		{"its own input", `
a: x := 1

b: x = x + 1

b: x = x + 1
`, nothing},
		{"method added below", `
a: type T struct{ n int }

b: t := T{1}

c: fmt.Println(t)

d: func (t T) String() string { return "T" }
`, nothing},
		{"method added above", `
a: type T struct{ n int }

b: t := T{1}
u := t.n

c: fmt.Println(t)

d: t.n

a: type T struct{ n int }
func (t T) String() string { return "T" }
`, "cell[3] uses T, of which cell[5] has redefined a method\n  fmt.Println(t)\n"},
		{"method changed", `
a: type T struct{ n int }

b: func (t *T) Get() int { return t.n }

c: t := &T{1}

d: t.Get()

e: t.n

b: func (t *T) Get() int { return -t.n }
`, "cell[4] uses T.Get, which cell[6] has redefined\n  t.Get()\n"},
		{"type changed", `
a: type T struct{ n int }

b: t := T{1}

c: t.n

a: type T struct{ n, m int }
`, "cell[2] uses T, which cell[4] has redefined\n  t := T{1}\ncell[3] uses T, which cell[4] has redefined\n  t.n\n"},
		{"interface", `
a: type Shape interface{ Area() int }

b: type Square struct{ a int }

c: func (s Square) Area() int { return s.a }

d: shapes := []Shape{Square{2}}

e: shapes[0].Area()

c: func (s Square) Area() int { return s.a * s.a }
`, "cell[4] uses Square, of which cell[6] has redefined a method\n  shapes := []Shape{Square{2}}\ncell[5] uses shapes of cell[4], which is stale\n  shapes[0].Area()\n"},
		{"redefined in the same cell", `
a: x := 1
x + 1

a: x := 2
x + 1
`, nothing},
		{"loop that changes a slice", `
a: xs := []int{1, 2}

b: for i := range xs {
	xs[i]++
}

c: xs[0]

d: len("a")

b: for i := range xs {
	xs[i] += 2
}
`, "cell[3] uses xs, which cell[5] has changed\n  xs[0]\n"},
		{"function chain", `
a: rate := 2

b: func inner(x int) int { return x * rate }

c: func outer(x int) int { return inner(x) }

d: outer(1)

e: func unused() int { return outer(2) }

a: rate := 3
`, "cell[4] uses rate through outer, which cell[6] has set again\n  outer(1)\n"},
		{"function that changes a variable", `
a: n := 0

b: func count() { n++ }

c: count()

d: n

c: count(); count()
`, "cell[4] uses n, which cell[5] has changed\n  n\n"},
		{"function variable", `
a: n := 0

b: count := func() { n++ }

c: count()

d: n

c: count(); count()
`, "cell[4] uses n, which cell[5] has changed\n  n\n"},
		{"shadowing locals", `
a: x := 1

b: func f(x int) int { return x }

c: for x := range 3 {
	f(x)
}

d: if x := f(2); x > 1 {
	fmt.Println(x)
}

a: x := 2
`, nothing},
		{"reset", `
a: x := 1

b: x

c: 1 + 1

%reset
`, "cell[1] defined x, which %reset has removed\n  x := 1\ncell[2] uses x, which %reset has removed\n  x\n"},
		{"deleted cell", `
a: func f() int { return 1 }

b: f()

-a
`, "cell[2] uses f, whose cell, cell[1], has been deleted\n  f()\n"},
		{"definition edited away", `
a: x, y := 1, 2

b: x

c: y

a: y := 2
`, "cell[2] uses x, which cell[4] no longer defines\n  x\ncell[3] uses y, which cell[4] has set again\n  y\n"},
		{"change edited away", `
a: x := 1

b: x++

c: x

b: fmt.Println(x)
`, "cell[3] uses x, which cell[4] no longer changes\n  x\n"},
		{"arguments", `
a: xs, m := []int{2, 1}, map[string]int{}

b: func first(s []int) int { return s[0] }
func zero(s []int) { clear(s) }

c: first(xs)

d: xs[0]

e: len(m)

c: first(xs) + slices.Max(xs)
`, nothing},
		{"sorted again", `
a: xs := []int{2, 1}

b: slices.Sort(xs)

c: xs[0]

b: slices.Sort(xs); slices.Reverse(xs)
`, "cell[3] uses xs, which cell[4] has changed\n  xs[0]\n"},
		{"changed in place, from a new value", `
a: x, y := 1, 1

b: z := []int{x}

c: z[0] += y

d: z[0]

b: z := []int{x}
`, "cell[3] uses z, which cell[5] has set again\n  z[0] += y\ncell[4] uses z, which cell[5] has set again\n  z[0]\n"},
		{"changed in place, again", `
a: y := 1

b: z := []int{1}

c: z[0] += y

a: y := 2
`, "cell[2] sets z, which cell[3] has changed and is stale\n  z := []int{1}\ncell[3] uses y, which cell[4] has set again\n  z[0] += y\n"},
		{"a value from below", `
a: x := 1

b: x

c: x = 2

b: x + 0
`, "cell[1] sets x, which cell[3] below has changed\n  x := 1\ncell[4] uses x, which cell[3] below it had set when it ran\n  x + 0\n"},
		{"a function that changes its argument", `
a: xs := []int{2, 1}

b: func zero(s []int) { for i := range s { set(s, i) } }
func set(s []int, i int) { s[i] = 0 }

c: zero(xs)

d: xs[0]

c: zero(xs[1:])
`, "cell[4] uses xs, which cell[5] has changed\n  xs[0]\n"},
		{"pointer", `
a: x := 1

b: p := &x

c: *p = 2

d: x

c: *p = 3
`, "cell[4] uses x, which cell[5] has changed\n  x\n"},
		{"own variable before a function", `
a: n := 1

b: func double() int { return 2 * n }

c: n := 5
double()

a: n := 2
`, nothing},
		{"old versions without ids", `
x := 1

x

x := 2

x
`, nothing},
		{"failed definition", `
a: x := 1

b: x

// fails
panic(1)
x := "a"
`, nothing},
		{"commands", `
a: x := 1

b: %who

c: !echo {x}

a: x := 2
`, "cell[3] uses x, which cell[4] has set again\n  !echo {x}\n"},
		{"imports", `
a: import str "strings"

b: str.ToUpper("a")

c: import str "strings"

a: import str "strings"
`, nothing},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			n.runCells(t, row.cells)
			if got := n.run("%stale"); got != row.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, row.want)
			}
		})
	}
}

// TestRunStale runs the stale cells again.
func TestRunStale(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.runCells(t, "a: x := 1\n\nb: fmt.Println(\"b\")\ny := 10 * x\n\nc: y + 1\n\nd: 5\n\na: x := 2")
	n.must(t, "%run stale", "cell[2]: fmt.Println(\"b\")\nb\ncell[3]: y + 1\n21\n")
	n.must(t, "%run stale", "nothing is stale\n")
	n.must(t, "%stale", "nothing is stale\n")

	// The first failure ends it.
	n.runCells(t, "e: f := func(x int) int { return x }\n\ng: f(1)\n\nh: f(2)\n\ne: f := func(x int) int { return 1 / (x - 1) }")
	if got := n.run("%run stale"); !strings.HasPrefix(got, "cell[10]: f(1)\n! runtime error: integer divide by zero") {
		t.Errorf("got %s", got)
	}
	n.must(t, "%stale", "cell[10] uses f, which cell[12] has set again\n  f(1)\ncell[11] uses f, which cell[12] has set again\n  f(2)\n")
	n.runCells(t, "e: f := func(x int) int { return -x }")
	n.must(t, "%run stale", "cell[10]: f(1)\n-1\ncell[11]: f(2)\n-2\n")

	// What it cannot repair, it says.
	n.runCells(t, "-d\n\n-e")
	n.must(t, "%run stale", "cell[10]: f(1)\n-1\ncell[11]: f(2)\n-2\n"+
		"still stale, because cells change what others use, or because a definition is missing:\n"+
		"cell[10] uses f, whose cell, cell[15], has been deleted\n  f(1)\ncell[11] uses f, whose cell, cell[15], has been deleted\n  f(2)\n")

	for in, want := range map[string]string{
		"%run x.py":     "%run has the argument stale: %run stale runs the cells that %stale lists; !go run runs a program, and a cell may hold one",
		"1\n%run stale": "%run must be alone in its cell",
		"%stale now":    "%stale takes no argument, but has \"now\"",
	} {
		if got := n.run(in); !strings.Contains(got, want) {
			t.Errorf("%s: got %s", in, got)
		}
	}
}

// randomCell returns a cell that sets a variable or a function of five each. Its text depends on what it reads, a constant, and
// on kind, which says what it sets and how. A cell that is not repeatable changes what it reads.
func randomCell(r *rand.Rand, kind int, repeatable bool) string {
	reads := func(except int) string {
		i := r.IntN(5)
		if i == except {
			i = (i + 1) % 5
		}
		if r.IntN(3) == 0 {
			return fmt.Sprintf("f%d()", i)
		}
		return fmt.Sprintf("v%d", i)
	}
	i := kind % 5
	switch kind / 5 {
	case 0:
		return fmt.Sprintf("func f%d() int { return v%d + %d }", i, r.IntN(5), r.IntN(9))
	case 1:
		return fmt.Sprintf("v%d := %d", i, r.IntN(9))
	case 2:
		if !repeatable {
			return fmt.Sprintf("v%d += %s", i, reads(-1))
		}
		return fmt.Sprintf("v%d = v%d + %d", i, (i+1+r.IntN(4))%5, r.IntN(9))
	}
	return reads(-1)
}

// TestRandomStale edits cells of random notebooks. After %run stale nothing is stale, and the values are those of the
// notebook from top to bottom.
func TestRandomStale(t *testing.T) {
	t.Parallel()
	const all = "[]int{v0, v1, v2, v3, v4, f0(), f1(), f2(), f3(), f4()}"
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 0))
		repeatable := seed%3 > 0
		cells := []string{"v0, v1, v2, v3, v4 := 1, 2, 3, 4, 5"}
		kinds := []int{-1}
		for i := range 5 {
			cells, kinds = append(cells, randomCell(r, i, repeatable)), append(kinds, i)
		}
		for range 2 + r.IntN(10) {
			kind := r.IntN(20)
			cells, kinds = append(cells, randomCell(r, kind, repeatable)), append(kinds, kind)
		}
		cells, kinds = append(cells, all), append(kinds, -1)
		n := newNotebook(t)
		for i, c := range cells {
			n.runCell(t, fmt.Sprint(i), c)
		}
		n.must(t, "%stale", "nothing is stale\n")
		history := ""
		for range 1 + r.IntN(4) {
			i := r.IntN(len(cells))
			if kinds[i]/5 == 2 && !repeatable {
				continue // it would change its own input twice
			}
			if kinds[i] >= 0 {
				cells[i] = randomCell(r, kinds[i], repeatable)
			}
			n.runCell(t, fmt.Sprint(i), cells[i])
			history += fmt.Sprintf("cell %d again: %s\n", i, cells[i])
		}
		ran := n.run("%run stale")
		describe := func() string {
			return fmt.Sprintf("seed %d:\n%s\n\n%s\n%s", seed, strings.Join(cells, "\n"), history, ran)
		}
		if got := n.run("%stale"); got != "nothing is stale\n" {
			t.Fatalf("%s\nstill stale: %s", describe(), got)
		}
		fresh := newNotebook(t)
		for _, c := range cells {
			fresh.runCell(t, "", c)
		}
		if got, want := n.run(all), fresh.run(all); got != want {
			t.Fatalf("%s\ngot  %s\nwant %s", describe(), got, want)
		}
	}
}

// stepRanks records the steps that rank 0 executes for all ranks.
type stepRanks struct {
	magic.Alone
	list []int
}

func (s *stepRanks) Once(_ context.Context, step int, f func() (string, error)) (string, error) {
	s.list = append(s.list, step)
	return f()
}

// TestRunStaleOnRanks checks that the commands of different cells are different steps of the cell with %run stale.
func TestRunStaleOnRanks(t *testing.T) {
	t.Parallel()
	skipWithoutShell(t)
	ranks := &stepRanks{}
	n := newNotebook(t, interp.Ranks(ranks))
	n.runCells(t, "a: x := \"a\"\n\nb: out := !echo b{x}\nout\n\nc: !echo c{x}\n\na: x := \"z\"")
	ranks.list = nil
	n.must(t, "%run stale", "cell[2]: out := !echo b{x}\n[bz]\ncell[3]: !echo c{x}\ncz\n")
	if len(ranks.list) != 2 || ranks.list[0] == ranks.list[1] {
		t.Errorf("steps %v", ranks.list)
	}
}
