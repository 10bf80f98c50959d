package interp_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/interp"
)

// liveHeap returns the size of the objects that are reachable.
func liveHeap() int {
	var m runtime.MemStats
	// Finalizers, cleanups and pools release more memory in a second and third collection.
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// sweepEvery is the number of cells after which a session with few definitions drops replaced
// ones.
const sweepEvery = interp.SweepLeast

// The memory of a cell is released when it runs again, or when its names are redefined: at most
// 50 MB remain after 20 000 such runs.
func TestRerunsKeepLittle(t *testing.T) {
	const limit = 50 << 20 / 20_000
	// The runtime never releases a type that has been made for interface values of a type of a cell, and the type needs its methods.
	// 10 000 edits of a type keep less than 60 MB, of types, method tables, code and source. With QUERN_LONG=1 they run.
	const limitOfNewTypes = 60_000_000 / 10_000
	newTypes := []string{"another type with String", "ever another type with method", "ever another type with String", "ever another type and its pointer with String", "local type", "json"}
	// yaegi never releases the variable of a function that package vm runs for a statement, and a cell of the row has 100. In seven
	// measurements a variable took 24 to 49 bytes, since slices and maps grow in steps; the other rows keep little else.
	const limitOfLiterals = 100 * 50
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
		{"another type with method", func(i int) string {
			return fmt.Sprintf("type T struct{ A, B%d int }\nfunc (t T) M() int { return t.A }\nT{A: 1}.M()", i%2)
		}},
		{"another type with String", func(i int) string {
			return fmt.Sprintf("type T struct{ A, B%d int }\nfunc (t T) String() string { return \"\" }\nfmt.Println(T{A: 1})", i%2)
		}},
		{"ever another type with method", func(i int) string {
			return fmt.Sprintf("type T struct{ A, B%d int }\nfunc (t T) M() int { return t.A }\nT{A: 1}.M()", i)
		}},
		{"ever another type with String", func(i int) string {
			return fmt.Sprintf("type T struct{ A, B%d int }\nfunc (t T) String() string { return fmt.Sprint(t.A + %d) }\nfmt.Println(T{A: 1})", i, i)
		}},
		{"ever another type and its pointer with String", func(i int) string {
			return fmt.Sprintf("type T struct{ A, B%d int }\nfunc (t T) String() string { return fmt.Sprint(t.A + %d) }\nfmt.Println(T{A: 1}, &T{A: 2})", i, i)
		}},
		{"recursive type", func(i int) string {
			return fmt.Sprintf("type N struct{ next *N; v%d int }\nfunc (n *N) Len() int { if n == nil { return 0 }; return 1 + n.next.Len() }\n(&N{}).Len()", i%2)
		}},
		{"method again", func(i int) string {
			if i == 0 {
				return "type T struct{ A int }"
			}
			return fmt.Sprintf("func (t T) M() int { return t.A + %d }\nT{1}.M()", i)
		}},
		{"interface", func(i int) string {
			return fmt.Sprintf("type I interface{ M%d() int }\ntype T [%d]int\nfunc (t T) M%d() int { return 1 }\nvar v I = T{}\nv.M%d()", i%2, i%2+1, i%2, i%2)
		}},
		{"generic function", func(i int) string {
			return fmt.Sprintf("func Map[A, B any](s []A, f func(A) B) []B { var r []B; for _, x := range s { r = append(r, f(x)) }; return r }\nMap([]int{1}, func(n int) int { return n + %d })", i)
		}},
		{"generic type", func(i int) string {
			return fmt.Sprintf("type S[T any] struct{ x []T; a%d int }\nfunc (s *S[T]) Push(x T) { s.x = append(s.x, x) }\nvar s S[int]\ns.Push(1)\nlen(s.x)", i%2)
		}},
		{"generic library", func(i int) string { return "s := []int{3, 1}\nslices.Sort(s)\nslices.Max(s)" }},
		{"cell type in generic library", func(i int) string {
			return fmt.Sprintf("type P struct{ A, B%d int }\ns := []P{{A: 3}}\nslices.SortFunc(s, func(a, b P) int { return a.A - b.A })", i%2)
		}},
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
		{"long text", func(i int) string { return fmt.Sprintf("/* %d %s */ 1", i, strings.Repeat("x", 100_000)) }},
		{"many literals", func(i int) string {
			return fmt.Sprintf("x := %d\n", i) + strings.Repeat("func() { x++ }()\n", 100) + strings.Repeat("//\n", 20_000)
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
			limit, runs := limit, runs
			if strings.HasPrefix(row.name, "ever") && os.Getenv("QUERN_LONG") == "1" {
				runs = 10_000 / sweepEvery * sweepEvery
			}
			switch {
			case slices.Contains(newTypes, row.name):
				limit = limitOfNewTypes
			case row.name == "interface": // two types
				limit = 8 << 10
			case row.name == "many literals":
				limit = limitOfLiterals
			}
			// The heap is that of the process: what earlier tests have left may grow by a megabyte once.
			// A leak grows each time.
			next, each := warm, limit+1
			for try := 0; try < 3 && each > limit; try++ {
				before := liveHeap()
				for range runs {
					run(next)
					next++
				}
				each = (liveHeap() - before) / runs
			}
			if each > limit {
				t.Errorf("each run keeps %d bytes", each)
			}
			runtime.KeepAlive(n)
		})
	}
}

// A page is displayed without being copied. One that is too large for a message is rejected when
// the message is built, before it takes several times its size.
func TestDisplayIsNotCopied(t *testing.T) {
	const size = 24 << 20
	shown := 0
	defer display.SetSink(display.SetSink(display.SinkFunc(func(m display.Message) { shown = len(m.Data["text/html"].(string)) })))
	n := newNotebook(t)
	if got := n.run(fmt.Sprintf("page := strings.Repeat(\"<b>\", %d)\ntype Page struct{}\nfunc (Page) MIMEBundle() map[string]any { return map[string]any{\"text/html\": page} }", size/3)); got != "" {
		t.Fatal(got)
	}
	n.run("display.Show(display.HTML(\"\"))") // loads packages
	for _, src := range []string{"display.HTML(page)", "display.Show(display.HTML(page))", "Page{}"} {
		shown = 0
		n.cell++
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result, err := n.Execute(t.Context(), n.cell, src)
		runtime.ReadMemStats(&after)
		if page, ok := result.Data["text/html"].(string); ok {
			shown = len(page)
		}
		if err != nil || shown != size {
			t.Errorf("%s: %v, %d bytes are shown", src, err, shown)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > size/4 {
			t.Errorf("%s: %d bytes were allocated for a page of %d", src, grown, size)
		}
	}
}

// A traceback shows the lines of all functions that later cells can use, however many cells have
// run.
func TestOldTracebacks(t *testing.T) {
	n := newNotebook(t)
	for _, src := range []string{
		"func fails(list []int) int {\n\treturn list[9]\n}",
		"func generic[T any](f func(list []T) T) T {\n\treturn f(nil)\n}",
		"type T struct{}\nfunc (T) fails() int {\n\treturn generic(fails)\n}",
		"closure := func() int {\n\treturn T{}.fails()\n}",
		"m := map[string]func() int{}\ntype holder struct{ f func() int }\nvar h holder",
		"m[\"a\"] = func() int {\n\treturn closure()\n}",
		"h.f = func() int {\n\treturn m[\"a\"]()\n}",
	} {
		if got := n.run(src); got != "" {
			t.Fatalf("%s: %s", src, got)
		}
	}
	comment := "// " + strings.Repeat("x", 100_000)
	for range 3 * sweepEvery {
		n.run("1 " + comment)
	}
	n.cell++
	_, err := n.Execute(t.Context(), n.cell, "h.f()")
	var e *interp.Error
	if !errors.As(err, &e) {
		t.Fatalf("the cell ended with %v", err)
	}
	got := color.ReplaceAllString(strings.Join(e.Traceback, "\n"), "")
	for _, line := range []string{
		"\n    return m[\"a\"]()", "\n    return closure()", "\n    return T{}.fails()", "\n    return generic(fails)", "\n    return f(nil)", "\n    return list[9]",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
}

// Values, closures and goroutines still work if their types, functions and variables were
// replaced long ago.
func TestOldValues(t *testing.T) {
	t.Parallel()
	const first = `type Inner struct{ n int }
func (i Inner) String() string { return fmt.Sprint("inner ", i.n) }
type Outer struct{ In Inner; P *Inner }
type T struct{ A int }
func (t T) String() string { return fmt.Sprint("old ", t.A) }
func (t *T) Inc() { t.A++ }
type Failure struct{ code int }
func (f *Failure) Error() string { return fmt.Sprint("failure ", f.code) }
type Incer interface{ Inc() }
type List[E any] struct{ xs []E }
func (l *List[E]) Push(x E) int { l.xs = append(l.xs, x); return len(l.xs) }
func twice[E any](x E) []E { return []E{x, x} }
func grow(n int) int { total += n; return total }
total := 0
var keep any = T{1}
var outer any = Outer{In: Inner{5}, P: &Inner{6}}
var key = map[any]string{T{7}: "seven"}
var err error = fmt.Errorf("wrapped: %w", &Failure{3})
p := &T{10}
mk := func(n int) any { return T{n} }
inc := func() int { p.A = 10; var i Incer = p; i.Inc(); i.(Incer).Inc(); return p.A }
code := func(err error) int { var f *Failure; if errors.As(err, &f) { return f.code }; return -1 }
is := func(x any) string { switch x := x.(type) { case T: return fmt.Sprint("T", x.A); case fmt.Stringer: return "S" }; return "" }
must := func(x any) (s string) { defer func() { s = fmt.Sprint(recover()) }(); return fmt.Sprint(x.(T).A) }
push := (&List[T]{}).Push
pair := func(n int) int { return len(twice(T{n})) }
counted := func() int { total = 0; s := 0; for i := range 3 { s += grow(i) }; return s }
in, out := make(chan int), make(chan string)
go func() { for n := range in { out <- fmt.Sprint(T{n}, is(mk(n)), counted()) } }()
look := []func() string{
	func() string { return fmt.Sprint(keep, mk(2), outer, key[mk(7)]) },
	func() string { return keep.(fmt.Stringer).String() + is(keep) + is(outer) + must("text") },
	func() string { return fmt.Sprint(inc(), code(err), pair(1), counted()) },
	func() string { b, _ := json.Marshal(outer); return string(b) },
	func() string { return fmt.Sprintf("%T %+v %v", keep, outer, keep == mk(1)) },
}`
	again := func(i int) string {
		return fmt.Sprintf(`type Inner struct{ s [%d]string }
func (i Inner) String() string { return "new" }
type Outer struct{ X, Y Inner }
type T struct{ B string; c [%d]int }
func (t T) String() string { return "new" }
func (t T) Dec() {}
type Failure struct{ text string }
func (f Failure) Error() string { return "new" }
type Incer interface{ Dec() }
type List[E any] struct{ ys map[int]E }
func (l *List[E]) Push(x E, y int) {}
func twice[E any](x, y E) int { return 0 }
func grow(s string) {}
total := ""
inc, mk, code, is, must, pair, counted := 1, 2, 3, 4, 5, 6, 7
fmt.Sprint(T{}, List[T]{}, Failure{}, twice(1, 2)) + Inner{}.String()`, i%3+1, i%2+1)
	}
	n := newNotebook(t)
	if got := n.run(first); got != "" {
		t.Fatal(got)
	}
	views := func() (s string) {
		for i := range 5 {
			s += n.run(fmt.Sprintf("look[%d]()", i)) + "\n"
		}
		return s + n.run("in <- 3\n<-out") + n.run("push")
	}
	want := views()
	if strings.Contains(want, "!") || !strings.Contains(want, "inner 5") {
		t.Fatal(want)
	}
	for range 2 {
		for i := range sweepEvery + 5 {
			if got := n.run(again(i)); strings.Contains(got, "!") {
				t.Fatal(got)
			}
			if i%40 == 20 {
				runtime.GC()
			}
		}
		if got := views(); got != want {
			t.Errorf("before\n%s\nand then\n%s", want, got)
		}
	}
}
