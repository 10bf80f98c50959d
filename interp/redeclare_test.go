package interp_test

import (
	"testing"
)

// Values that were created before a function was declared again call the new function.
func TestRedeclare(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		cells []string
		want  string // the result of the last cell
	}{
		{"closure", []string{"func f() int { return 1 }", "g := func() int { return f() }", "func f() int { return 2 }", "g()"}, "2"},
		{"closure, twice", []string{"func f() int { return 1 }", "g := func() int { return f() }", "func f() int { return 2 }", "func f() int { return 3 }", "g()"}, "3"},
		{"again what it was", []string{"func f() int { return 1 }", "g := func() int { return f() }", "func f() int { return 2 }", "func f() int { return 1 }", "g()"}, "1"},
		{"to a function with a deferred call", []string{"func f() int { return 1 }", "g := func() int { return f() }", "func f() (n int) { defer func() { n = 2 }(); return 1 }", "g()"}, "2"},
		{"from a function with a deferred call", []string{"func f() (n int) { defer func() { n = 1 }(); return 0 }", "g := func() int { return f() }", "func f() int { return 2 }", "g()"}, "2"},
		{"function with a deferred call, twice", []string{"func f() (n int) { defer func() { n = 1 }(); return 0 }", "g := func() int { return f() }", "func f() int { return 2 }", "func f() (n int) { defer func() { n = 3 }(); return 0 }", "g()"}, "3"},
		{"function that returned a closure", []string{"func f(n int) int { return n }", "func mk() func(int) int { return func(n int) int { s := 0; for i := range 3 { s += f(n + i) }; return s } }", "g := mk()", "func f(n int) int { return 10 * n }", "g(1)"}, "60"},
		{"closure with a deferred call", []string{"func f(n int) int { return n }", "func mk() func(int) int { defer func() {}(); return func(n int) int { defer func() {}(); return f(n) } }", "g := mk()", "func f(n int) int { return 10 * n }", "g(1)"}, "10"},
		{"through another function", []string{"func f() int { return 1 }", "func h() int { return f() + 100 }", "g := func() int { return h() }", "func f() int { return 2 }", "g()"}, "102"},
		{"method", []string{"type T struct{ n int }\nfunc (t T) M() int { return t.n }", "x := T{5}\ng := func() int { return x.M() }", "func (t T) M() int { return -t.n }", "g()"}, "-5"},
		{"method by a pointer", []string{"type T struct{ n int }\nfunc (t *T) M(d int) int { t.n += d; return t.n }", "x := &T{5}\ng := func() int { return x.M(1) }", "func (t *T) M(d int) int { t.n -= d; return t.n }", "g()"}, "4"},
		{"method value", []string{"type T struct{ n int }\nfunc (t T) M() int { defer func() {}(); return t.n }", "g := func() int { return T{7}.M() }", "func (t T) M() int { return -t.n }", "g()"}, "-7"},
		{"new method of values in interfaces", []string{
			"type T struct{ A int }\nvar a any = T{1}\nl := []any{T{2}, &T{3}}\nm := map[any]any{T{4}: T{5}}\nvar e any = struct{ X any }{T{6}}\njson.Marshal([]any{a, l, m[T{4}], e})",
			"func (t T) MarshalJSON() ([]byte, error) { return []byte(fmt.Sprint(t.A * 10)), nil }",
			"b, _ := json.Marshal([]any{a, l, m[T{4}], e, T{7}})\nstring(b)",
		}, `"[10,[20,30],50,{\"X\":60},70]"`},
		{"new method of values in variables of other types", []string{
			"type T int\ntype S struct{ T; X any }\nvar err error = fmt.Errorf(\"%v\", T(1))\ns := &S{X: [1]any{T(2)}}\nvar p any = &s.X\nvar f func() any = func() any { return T(3) }\njson.Marshal(p)",
			"func (t T) MarshalText() ([]byte, error) { return []byte{'a' + byte(t)}, nil }",
			"b, _ := json.Marshal([]any{s.X, p, f(), *s})\nstring(b)",
		}, `"[[\"c\"],[\"c\"],\"d\",\"a\"]"`},
		{"new method and equality", []string{
			"type T struct{ A int }\nvar a, b any = T{1}, T{1}\nkeep := func() any { return a }\nheld := a\nget := func() any { return held }\nfmt.Sprint(a == b)",
			"func (t T) Twice() int { return 2 * t.A }",
			"fmt.Sprint(a == b, a == any(T{1}), keep() == b, get() == any(T{1}), map[any]int{a: 1}[T{1}], a.(interface{ Twice() int }).Twice())",
		}, `"true true true true 1 2"`},
		{"new method of values in a list", []string{
			"type T struct{ A int }\ntype node struct { v any; next *node; m map[string]any; s []any }\nvar head *node\nfor i := range 50 { head = &node{T{i}, head, map[string]any{\"a\": T{i}}, []any{[]any{T{i}}}} }\nshow := func() (s string) { for n := head; n != nil; n = n.next { s += fmt.Sprint(n.v, n.m, n.s) }; return s }\nlen(show())",
			"func (t T) String() string { return \"T\" }",
			"show() == strings.Repeat(\"T map[a:T] [[T]]\", 50), head.v.(fmt.Stringer) == any(T{49})",
		}, "true, true"},
		{"new method of values in closures, channels and after the length of slices", []string{
			"type T struct{ A int }\nfunc box(x any) func() any { return func() any { return x } }\nfunc list() func() []any { var l []any; return func() []any { l = append(l, T{len(l)}); return l } }\ntype S struct{ x any }\nfunc (s S) Get() any { return s.x }\nfunc (s *S) Pointer() any { return s.x }\nfunc field(s S) func() any { p := &s; return func() any { defer func() {}(); return p.x } }\nfunc handler(x any) http.HandlerFunc { return func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, x) } }",
			"f, next, h := box(T{1}), list(), handler(T{2})\nnext()\nc := make(chan any, 3)\nc <- T{3}\nc <- &T{4}\nget, pointer := S{T{5}}.Get, (&S{T{6}}).Pointer\nvar g interface{ Get() any } = S{T{7}}\ngetI := g.Get\nl := []any{T{8}, T{9}}[:1]\nm := map[string]any{\"k\": box(T{10}), \"l\": field(S{T{11}})}\nr := httptest.NewRecorder()\nh(r, nil)\njson.Marshal([]any{f(), next(), r.Body.String()})",
			"func (t T) String() string { return fmt.Sprint(\"T\", t.A) }",
			"h(r, nil)\nfmt.Sprint(f(), next(), r.Body, <-c, <-c, get(), pointer(), getI(), l[:2], m[\"k\"].(func() any)(), m[\"l\"].(func() any)())",
		}, `"T1 [T0 T1 T2] {2}T2 T3 T4 T5 T6 T7 [T8 T9] T10 T11"`},
		{"new method of keys and errors that compiled packages hold", []string{
			"type key struct{ n int }\nc, cancel := context.WithTimeout(context.WithValue(ctx, key{1}, \"value\"), time.Hour)\nvar m sync.Map\nm.Store(key{2}, key{3})\nvar v atomic.Value\nv.Store(key{4})\nl, r := list.New(), ring.New(2)\nl.PushBack(key{5})\nr.Next().Value = key{6}\nkeys := &struct{ l *list.List; r *ring.Ring }{l, r}",
			"type E struct{ code int }\nfunc (e E) Error() string { return \"E\" }\nvar target error = E{1}\nwrapped := []error{fmt.Errorf(\"%w\", target), fmt.Errorf(\"%w %w\", io.EOF, target), errors.Join(target), &fs.PathError{Err: target}, &url.Error{Err: &net.OpError{Err: os.NewSyscallError(\"\", target)}}, &os.LinkError{Err: fmt.Errorf(\"%w\", &target2{target})}, &json.MarshalerError{Err: target}, &exec.Error{Err: target}}\ntype target2 struct{ error }\nfunc (t *target2) Unwrap() error { return t.error }\nclient := &http.Client{Transport: transport{}}\ntype transport struct{}\nfunc (transport) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.EOF }",
			"func (k key) String() string { return fmt.Sprint(\"key\", k.n) }\nfunc (E) Timeout() bool { return true }\nclosed := 0\nfunc (transport) CloseIdleConnections() { closed++ }",
			"text := fmt.Sprint(c.Value(key{1}), c.Value(key{2}))\ncancel()\nvalue, ok := m.Load(key{2})\nv.Store(v.Load().(key))\ntext += fmt.Sprint(value, ok, v.Load(), v.CompareAndSwap(key{4}, key{7}), keys.l.Front().Value, keys.r.Next().Value)\nfor _, err := range wrapped { e, ok := errors.AsType[E](err); var t interface{ Timeout() bool }; text += fmt.Sprint(\" \", errors.Is(err, target), ok, e.code, errors.As(err, &t)) }\nclient.CloseIdleConnections()\ntext, closed, os.IsTimeout(wrapped[3])",
		}, `"value<nil>key3 true key4 true key5 key6 true true 1 true true true 1 true true true 1 true true true 1 true true true 1 true true true 1 true true true 1 true true true 1 true", 1, true`},
		{"variadic", []string{"func f(xs ...int) int { return len(xs) }", "g := func() int { return f() + f(1) + f([]int{1, 2}...) }", "func f(xs ...int) int { return 10 * len(xs) }", "g()"}, "30"},
		{"variadic with a deferred call", []string{"func f(s string, xs ...int) int { defer func() {}(); return len(xs) }", "g := func() int { return f(\"\") + f(\"\", 1) + f(\"\", []int{1, 2}...) }", "func f(s string, xs ...int) int { return 10 * len(xs) }", "func f(s string, xs ...int) int { defer func() {}(); return 100 * len(xs) }", "g()"}, "300"},
		{"floats and several results", []string{"func f(x float64, y any) (float64, any) { return x, y }", "g := func() any { a, b := f(1, 2); return []any{a, b} }", "func f(x float64, y any) (float64, any) { return -x, \"new\" }", "g()"}, "[-1 new]"},
		{"goroutine", []string{"func f() string { return \"old\" }", "in, out := make(chan int), make(chan string)\ngo func() { for range in { out <- f() } }()", "in <- 1\n<-out", "func f() string { return \"new\" }", "in <- 1\n<-out"}, `"new"`},
		{"method that hides a promoted one", []string{"type E struct{ n int }\nfunc (e E) M() string { return \"E\" }\ntype W struct{ *E }\nvar w = W{&E{1}}\nfunc use() string { return w.M() + w.E.M() }\nfunc twice() string { return use() + use() }", "func (w W) M() string { return \"W\" }", "twice() + w.M()"}, `"WEWEW"`},
		{"method that hides one of two levels", []string{"type A struct{}\nfunc (*A) M() string { return \"A\" }\ntype B struct{ A }\ntype C struct{ B }\nvar c C\nfunc use(c *C) string { return c.M() }", "func (*B) M() string { return \"B\" }", "s := use(&c)", "func (C) M() string { return \"C\" }", "s + use(&c)"}, `"BC"`},
		{"method that hides the less deep of two", []string{"type A struct{}\nfunc (A) M() string { return \"A\" }\ntype B struct{ A }\ntype D struct{}\nfunc (D) M() string { return \"D\" }\ntype W struct{ B; D }\nfunc use(w W) string { return w.M() }", "func (W) M() string { return \"W\" }", "use(W{})"}, `"W"`},
		{"value receiver to pointer receiver", []string{
			"type T struct{ n int }\nfunc (t T) String() string { return fmt.Sprint(\"T\", t.n) }\ntype W struct{ T }\nt, w := T{1}, W{T{2}}\nvar a, b, c any = t, w, []any{&t}\nvar s fmt.Stringer = t\nvar i interface{ String() string } = t\nfmt.Sprint(a, b, s)",
			"func (t *T) String() string { return fmt.Sprint(\"*T\", t.n) }",
			"_, x := a.(fmt.Stringer)\n_, y := a.(interface{ String() string })\nfmt.Sprint(x, y, a, b, t, w, &t, &w, c, s.String(), i.String(), reflect.TypeOf(t).NumMethod(), reflect.TypeOf(&w).NumMethod())",
		}, `"false false {1} {{2}} {1} {{2}} *T1 *T2 [*T1]*T1*T10 1"`},
		{"pointer receiver to value receiver", []string{
			"type T struct{ n int }\nfunc (t *T) String() string { return fmt.Sprint(\"*T\", t.n) }\ntype W struct{ T }\nt, w := T{1}, W{T{2}}\nvar a, b any = t, w\nfmt.Sprint(a, b, &t)",
			"func (t T) String() string { return fmt.Sprint(\"T\", t.n) }",
			"_, x := a.(fmt.Stringer)\nfmt.Sprint(x, a, b, t, w, &t, &w)",
		}, `"true T1 T2 T1 T2 T1 T2"`},
		{"other signature of a method", []string{
			"type T struct{ n int }\nfunc (t T) String() string { return fmt.Sprint(\"T\", t.n) }\nt := T{1}\nvar a any = t\nvar s fmt.Stringer = t\nvar i interface{ String() string } = t\nfmt.Sprint(a, s)",
			"func (t T) String() int { return t.n }",
			"func try(f func() string) (s string) { defer func() { if r := recover(); r != nil { s = \"panic\" } }(); return f() }\n_, x := a.(fmt.Stringer)\n_, y := a.(interface{ String() int })\nfmt.Sprint(x, y, a, &t, try(s.String), try(i.String))",
			"func (t T) String() string { return fmt.Sprint(\"again\", t.n) }",
			"fmt.Sprint(a, &t, s.String(), i)",
		}, `"again1 again1again1again1"`},
		{"other signature of a method of values", []string{
			"type T struct{ n int }\nfunc (t T) String() string { return \"\" }\nvar a any = T{1}\nvar s fmt.Stringer = T{1}\nvar i interface{ String() string } = T{1}\nfmt.Sprint(a)",
			"func (t T) String() int { return t.n }",
			"func try(f func() string) (s string) { defer func() { if r := recover(); r != nil { s = \"panic\" } }(); return f() }\n_, x := a.(fmt.Stringer)\n_, y := a.(interface{ String() int })\nfmt.Sprint(x, y, a, try(func() string { return s.String() }), try(func() string { return i.String() }))",
		}, `"false true {1}panicpanic"`},
		{"method value follows, method expression stays", []string{"type T struct{ n int }\nfunc (t T) M() int { return 1 }\nx := T{1}\nf, g := x.M, T.M", "func (t T) M() int { return 2 }", "f(), g(x)"}, "2, 1"},
		{"function value stays", []string{"func f() int { return 1 }", "g := f", "func f() int { return 2 }", "g()"}, "1"},
		{"other parameters", []string{"func f() int { return 1 }", "g := func() int { return f() }", "func f(n int) int { return 2 }", "g()"}, "1"},
		{"other parameters, undone", []string{"func f() int { return 1 }", "g := func() int { return f() }", "func f(n int) int { return 2 }", "func f() int { return 3 }", "g()"}, "3"},
		{"other type of the receiver", []string{"type T struct{ n int }\nfunc (t T) M() int { return 1 }", "x := T{1}", "g := func() int { return x.M() }", "type T struct{ s string }\nfunc (t T) M() int { return 2 }", "g()"}, "1"},
		{"dependant that no longer compiles", []string{"func f() int { return 1 }", "func h() int { return f() }", "g := func() (s string) { defer func() { s = fmt.Sprint(recover()) }(); return fmt.Sprint(h()) }", "func f(s string) {}", "g()[:22]"}, `"h no longer compiles: "`},
		{"recursive", []string{"func f(n int) int { if n == 0 { return 0 }; return 1 + f(n-1) }", "g := func() int { return f(3) }", "func f(n int) int { if n == 0 { return 0 }; return 2 + f(n-1) }", "g()"}, "6"},
		{"recovers", []string{"func f() any { return recover() }", "g := func() (s string) { defer func() { s = fmt.Sprint(s, recover()) }(); defer f(); panic(1) }", "g()", "func f() any { return 5 }", "g()"}, `"1"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			for i, src := range row.cells {
				result, err := n.Execute(t.Context(), i+1, src)
				if err != nil {
					t.Fatalf("%q: %v", src, err)
				}
				if i == len(row.cells)-1 {
					if got := result.Data["text/plain"]; got != row.want {
						t.Errorf("got %v, want %s", got, row.want)
					}
				}
			}
		})
	}
}

// A method that does not compile is an error at its place, also if its type is a struct of an earlier cell.
func TestMethodWithError(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "type E struct{}\nfunc (E) M() int { return 1 }\ntype W struct{ E }\nfunc use() int { return W{}.M() }", "")
	n.must(t, "func (W) M(x missing) int { return 2 }", "! compile error: cell[2]:1:14: undefined: missing\n    func (W) M(x missing) int { return 2 }\n                 ^")
	n.must(t, "use()", "= 1")
}
