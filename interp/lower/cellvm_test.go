package lower_test

import (
	"strings"
	"testing"
)

// TestCellStatements runs statements at the top level of cells.
func TestCellStatements(t *testing.T) {
	for _, tt := range []struct{ name, cells, want string }{
		{"closure", "n := 1\n---\nf := func() int { n++; return n }", ""},
		{"closure in a variable declaration", "var f = func(n int) int { return n * 2 }", ""},
		{"closures in one declaration", "var f, g = func(n int) int { return n * 2 }, func() {}", ""},
		{"results of a literal", "var a, b = func() (int, string) { return 1, \"x\" }()", ""},
		{"recursive closure", "var f func(int) int\nf = func(n int) int { if n < 2 { return n }; return f(n-1) + f(n-2) }", ""},
		{"block", "{ s := 0; for i := range 10 { s += i }; fmt.Println(s) }", "45\n"},
		{"if", "n := 3\n---\nif m := n; m > 2 { for range m { fmt.Print(m) } } else { fmt.Print(func() int { return n }()) }", "333"},
		{"switch", "n := 3\n---\nswitch { case n > 2: for range n { fmt.Print(n) } }", "333"},
		{"type switch", "var x any = 3\n---\nswitch x := x.(type) { case int: for range x { fmt.Print(x) }; case string: fmt.Print(x) }", "333"},
		{"select", "c := make(chan int, 1)\nc <- 2\n---\nselect { case n := <-c: for range n { fmt.Print(n) }; default: fmt.Print(0) }", "22"},
		{"labeled switch", "n := 3\n---\nout: switch { case n > 0: for i := range 5 { if i == n { break out }; fmt.Print(i) }; fmt.Print(\"end\") }", "012"},
		{"jump within a statement", "{ i := 0; again: i++; if i < 3 { goto again }; func() { fmt.Print(i) }() }", "3"},
		{"goroutine", "c := make(chan int)\n---\ngo func(n int) { c <- n }(4)\n---\n<-c", "= 4\n"},
		{"goroutine last", "c := make(chan int, 1)\n---\ngo func(n int) { c <- n }(4)", ""},
		{"goroutine of a group", "var wg sync.WaitGroup\nn := make([]int, 3)\n---\nfor i := range 3 { wg.Go(func() { for j := range 5 { n[i] += i * j } }) }\n---\nwg.Wait()\nn", "= [0 10 20]\n"},
		{"goroutine of a group last", "var wg sync.WaitGroup\n---\nwg.Go(func() { for range 5 { } })", ""},
		{"goroutine of a group in a function", "func sum(list ...int) int { var wg sync.WaitGroup; var n atomic.Int64; for _, x := range list { wg.Go(func() { n.Add(int64(x)) }) }; wg.Wait(); return int(n.Load()) }\n---\nfor i := range 2 { fmt.Print(sum(i, 2, 3)) }", "56"},
		{"callback", "xs := []int{3, 1, 2}\n---\nsort.Slice(xs, func(i, j int) bool { return xs[i] < xs[j] })", ""},
		{"methods as a callback", "type by []int\nfunc (b by) Len() int { return len(b) }\nfunc (b by) Less(i, j int) bool { return b[i] < b[j] }\nfunc (b by) Swap(i, j int) { b[i], b[j] = b[j], b[i] }\nxs := by{3, 1, 2}\n---\nsort.Sort(xs)", ""},
		{"method value", "type T struct{ n int }\nfunc (t T) M() int { return t.n }\nt := T{3}\n---\nf := t.M", ""},
		{"field", "type T struct{ f func() int }\nvar t T\n---\nt.f = func() int { return 1 }", ""},
		{"element of a map", "m := map[string]func() int{}\n---\nm[\"a\"] = func() int { return 1 }", ""},
		{"element of a slice of a pointer", "s := &struct{ list []func() }{make([]func(), 2)}\n---\ns.list[1] = func() {}", ""},
		{"literals in a composite", "m := map[string][]func(int) int{\"a\": {func(n int) int { return n }, nil}}", ""},
		{"several variables", "n := 1\n---\nn, f := 2, func() int { return n }", ""},
		{"result", "n := 2\n---\nslices.IndexFunc([]int{1, 2}, func(m int) bool { return m == n })", "= 1\n"},
		{"several results", "func two(f func() int) (int, error) { return f(), nil }\n---\ntwo(func() int { return 5 })", "= 5\n= <nil>\n"},
		{"untyped result", "n := 2\n---\nfunc() int { return n }() == 2", "= true\n"},
		{"function as a result", "f := func() {}\n---\nf == nil, func() int { return 1 }()", "= false\n= 1\n"},
		{"named result", "type N int\nfunc (n N) String() string { return fmt.Sprint(\"N\", int(n)) }\n---\nfunc() N { return 4 }()", "= N4\n"},
		{"variadic generic", "func most[T cmp.Ordered](a T, b ...T) T { for _, x := range b { a = max(a, x) }; return a }\n---\nfor i := range 2 { fmt.Print(most(i, 3, 1), most(\"a\", \"b\"), most(1.5), most(1, []int{7}...)) }", "3b1.5 73b1.5 7"},
		{"cmp.Or", "type p struct{ a, b int }\nps := []p{{2, 1}, {1, 2}, {1, 1}}\n---\nslices.SortFunc(ps, func(x, y p) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })\n---\nps", "= [{1 1} {1 2} {2 1}]\n"},
		{"variadic literal", "f := func(n int, list ...string) int { return n + len(list) }\n---\nf(1, \"a\", \"b\") + f(2) + f(3, []string{\"c\"}...)", "= 9\n"},
		{"exit", "for i := range 2 { if i > 5 { os.Exit(1) }; fmt.Print(i) }", "01"},
		{"environment", "for range 2 { fmt.Print(os.Getpid() > 0, len(os.Getenv(\"NO SUCH\"))) }", "true 0true 0"},
		{"CPUs", "for range 2 { fmt.Print(runtime.NumCPU() > 0) }", "truetrue"},
		{"timers", "for range 2 { time.AfterFunc(time.Hour, func() {}).Stop(); time.NewTimer(time.Hour).Reset(1); time.NewTicker(time.Hour).Stop(); <-time.After(1); <-time.Tick(1) }", ""},
		{"function at the end of a context", "c := make(chan int)\n---\nfor range 2 { ctx, cancel := context.WithCancel(context.Background()); context.AfterFunc(ctx, func() { c <- 1 }); cancel(); fmt.Print(<-c) }", "11"},
		{"package sync", "for range 2 { var m sync.Map; m.Clear(); p := sync.Pool{New: func() any { return 1 }}; fmt.Print(p.Get()) }", "11"},
		{"Grow", "for range 2 { var b strings.Builder; var c bytes.Buffer; b.Grow(5); c.Grow(5); fmt.Print(b.Len() + c.Len()) }", "00"},
		{"reflect.TypeFor", "type T struct{}\nvar t [3]reflect.Type\nfunc of[T any]() reflect.Type { return reflect.TypeFor[T]() }\n---\nfor range 2 { t = [3]reflect.Type{reflect.TypeFor[int](), reflect.TypeFor[T](), of[[]T]()} }\n---\nt", "= [int main.T []main.T]\n"},
		{"deferred method of a reflect.Value", "func() { defer reflect.ValueOf(func() { fmt.Print(\"d\") }).Call(nil); for range 2 { fmt.Print(1) } }()", "11d"},
		{"defer in a range over a function", "func() { for i := range slices.Values([]int{1, 2}) { defer fmt.Print(i) } }()", "21"},
		{"go statements", "c := make(chan int, 9)\n---\nfor i := range 2 { m := map[int]int{1: 2}; go func(n int) { c <- n }(i); go os.Getpid(); go fmt.Fprint(io.Discard, i); go clear(m) }", ""},
		{"go statement with a context", "for range 0 { go accel.Evaluate(context.Background(), nil, nil) }", ""},
		{"deferred builtins", "func() { m, c := map[int]int{1: 2}, make(chan int); defer func() { for range c { }; fmt.Print(len(m)) }(); defer close(c); defer clear(m); defer recover(); defer copy([]int{1}, []int{2}) }()", "0"},
		{"deferred sort", "xs := []int{2, 1}\n---\nfunc() { defer sort.Slice(xs, func(i, j int) bool { return xs[i] < xs[j] }); for range 2 { fmt.Print(1) } }()", "11"},
		{"function that ends with its context", "for range 0 { r, err := accel.Fit(context.Background(), nil, nil); fmt.Print(r, err) }", ""},
		{"method that ends with its context", "var m quantize.Model\n---\nfor range 0 { m.Report(context.Background(), nil); func() { defer (&m).Report(context.Background(), nil) }() }", ""},
		{"controls for parameters", "for range 0 { widgets.Interact(func(rate float64) {}, 3) }", ""},
		{"literal as an argument of a compiled function", "n := 2\n---\nfmt.Print(os.Expand(\"$a\", func(s string) string { for range n { s += \"!\" }; return s }))", "a!!"},
		{"result with a literal as an argument of a compiled function", "os.Expand(\"$a\", func(s string) string { return s + \"!\" })", "= a!\n"},
		{"variable with a literal as an argument of a compiled function", "var s = os.Expand(\"$a\", func(s string) string { return s + \"!\" })", ""},
		{"literal in a literal for a compiled function", "n := 1\n---\nfmt.Print(os.Expand(\"$a\", func(s string) string { return func() string { n++; return fmt.Sprint(s, n) }() }))", "a2"},
		{"deferred literal", "n := 1\n---\ndefer func() { for range n { fmt.Print(\"d\") } }()", "d"},
		{"deferred literal with arguments", "n := 1\n---\ndefer func(m int) { for range m { fmt.Print(\"d\") } }(n + 1)", "dd"},
		{"deferred literal that recovers", "defer func() { fmt.Print(recover()) }()\npanic(1)", "1"},
		{"deferred variable that recovers", "f := func() { fmt.Print(recover()) }\n---\ndefer f()\npanic(2)", "2"},
		{"jump to a statement", "i := 0\nagain: for range 2 { i++ }\nif i < 6 { goto again }\nfmt.Print(i)", "6"},
		{"jump out of a statement", "i := 0\nagain: i++\nfor range 2 { if i < 3 { goto again } }\nfmt.Print(i)", "3"},
		{"plain statement", "n := 1\n---\nif n > 0 { n++ }", ""},
		{"recover outside of a deferred call", "m := map[string]func(){}\n---\n{ defer0 := func() { recover() }; defer0(); m[\"a\"] = func() {} }\n---\nlen(m)", "= 1\n"},
		{"method of a value through a pointer", "type I interface{ M(*T) int }\ntype T struct{ n int; s string }\nfunc (t T) M(p *T) int { p.n = 9; return t.n }\nt := &T{n: 1}\nvar i I = t\n---\ni.M(t), t.n", "= 1\n= 9\n"},
		{"methods of values of all kinds through pointers", "type G interface{ Get() int }\ntype F func() int\nfunc (f F) Get() int { return f() + 1 }\ntype N int8\nfunc (n N) Get() int { return int(n) }\ntype E struct{}\nfunc (E) Get() int { return 7 }\ntype W struct{ p *int }\nfunc (w W) Get() int { return *w.p }\ntype A [4]int\nfunc (a A) Get() int { return a[2] }\ntype P[T any] struct{ v T; k [2]int }\nfunc (p P[T]) Get() int { return p.k[1] + len(fmt.Sprint(p.v)) }\n---\nf, n, x, a := F(func() int { return 40 }), N(3), 5, A{1, 2, 3}\nfor _, g := range []G{&f, &n, &E{}, &W{&x}, &a, &P[string]{\"ab\", [2]int{1, 2}}, f, n, a} { n, x, a[2] = 8, 6, 30; fmt.Print(g.Get(), \" \") }", "41 8 7 6 30 4 41 3 3 "},
		{"nil pointer and method of a value", "type G interface{ Get() int }\ntype T struct{ n int }\nfunc (t T) Get() int { return t.n }\nvar g G = (*T)(nil)\n---\nfunc() { defer func() { fmt.Print(recover()) }(); g.Get() }()", "value method main.T.Get called using nil *T pointer"},
		{"receiver of a method changes", "type G interface{ Get() int }\ntype T struct{}\nfunc (t *T) Get() int { return 1 }\nvar g G = &T{}\n---\nfmt.Print(g.Get())\n---\nfunc (t T) Get() int { return 2 }\n---\nfmt.Print(g.Get())\n---\nfunc (t *T) Get() int { return 3 }\n---\ng.Get()", "12= 3\n"},
		{"method of an embedded field declared again", "type G interface{ Get() int }\ntype T struct{ n int }\nfunc (t T) Get() int { return t.n }\ntype U struct{ name string; T }\nvar g, h G = U{T: T{1}}, &U{T: T{2}}\n---\nfmt.Print(g.Get(), h.Get())\n---\nfunc (t T) Get() int { return 10 * t.n }\n---\nfmt.Print(g.Get(), h.Get())\n---\nfunc (u *U) Get() int { return 100 * u.n }\n---\nfmt.Print(g.Get(), h.Get())", "1 210 20100 200"},
		{"call of a method of many types", "type G interface{ Get() int }\ntype A int\ntype B int\ntype C int\nfunc (A) Get() int { return 1 }\nfunc (*B) Get() int { return 2 }\nfunc (C) Get() int { return 4 }\nlist := []G{A(0), new(A), new(B), C(0), new(C)}\n---\nn := 0\nfor i := range 1000 { n += list[i%5].Get() }\n---\nn\n---\nfunc (A) Get() int { return 10 }\n---\nfor i := range 5 { n += list[i].Get() }\n---\nn", "= 2400\n= 2430\n"},
		{"keys of maps in memory", "type K struct{ x, y int; s string }\nm := map[K]int{}\n---\nk := K{1, 2, \"a\"}\nfor i := range 4 { k.x = i % 2; m[k]++; m[K{y: i}] += i }\nk.x = 7\ndelete(m, K{y: 3})\n---\nlen(m), m[K{1, 2, \"a\"}], m[k]\n---\nn := map[[2]any]string{{1, \"a\"}: \"x\"}\nn[[2]any{1, \"a\"}]", "= 5\n= 2\n= 0\n= x\n"},
		{"shadowed", "x := 1\n---\n{ x := \"s\"; f := func() string { x += \"t\"; return x }; fmt.Print(f(), x) }\n---\nx", "stst= 1\n"},
		{"other type in a later cell", "x := 1\nf := func() int { return x }\n---\nx := \"s\"\n---\nf()", "= 1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cells := strings.Split(tt.cells, "\n---\n")
			s := newSession(t)
			for _, cell := range cells {
				if err := s.run(cell); err != nil {
					t.Fatalf("%v\n%s", err, s.dump())
				}
			}
			if got := s.output.String(); got != tt.want {
				t.Errorf("got %q, want %q\n%s", got, tt.want, s.dump())
			}
		})
	}
}
