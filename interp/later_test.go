package interp_test

import (
	"strings"
	"testing"
)

// later is a package whose functions are compiled when they are called for the first time.
const later = `package later

import ("fmt"; "path"; "reflect"; "runtime"; "sort"; "strings"; "sync"; "unsafe")

var b = other()
var a = initial()

func initial() int { return b + 1 }
func other() int { return 41 }

func Initialized() (int, int) { return a, b }

func Sum(start int, list ...int) int { for _, x := range list { start += x }; return start }
func Sums() int { return Sum(1) + Sum(1, 2, 3) + Sum(0, []int{4, 5}...) }

func Fib(n int) int { if n < 2 { return n }; return Fib(n-1) + Fib(n-2) }

func where() string { _, file, line, _ := runtime.Caller(1); return fmt.Sprint(path.Base(file), " ", line) }
func Where() string {
	return where()
}

func Name() string { return runtime.FuncForPC(reflect.ValueOf(Fib).Pointer()).Name() }

func add(text *string, more string) { *text += more }
func Deferred() (text string) { defer add(&text, "c"); defer add(&text, "b"); add(&text, "a"); return text }

func send(c chan<- int, n int) { c <- n }
func Go() int { c := make(chan int); go send(c, 7); return <-c }

func double(n int) int { return 2 * n }
var table = map[string]func(int) int{"double": double}
func Table(n int) int { return table["double"](n) }
func Same() bool {
	f := double
	before := reflect.ValueOf(f).Pointer()
	f(1)
	g := double
	return before == reflect.ValueOf(g).Pointer()
}

func fail(text string) { var m map[string]int; m[text] = 1 }
func Fail() { fail("x") }
func Recovered() (s string) { defer func() { s = fmt.Sprint(recover()) }(); Fail(); return }
func recovers() { if r := recover(); r != nil { note = fmt.Sprint("note ", r) } }
var note string
func Noted() string { func() { defer recovers(); panic(1) }(); return note }

type T struct{ n int; rest [3]int }
func New(n int) *T { return &T{n: n} }
func (t *T) Add(by int) *T { t.n += by; return t }
func (t T) Get() int { return t.n }
func (t T) String() string { return fmt.Sprint("T", t.n) }
func (t T) getter() func() int { return t.Get }
func Methods() string {
	t := New(1).Add(2)
	get := t.getter()
	t.Add(10)
	return fmt.Sprint(get(), (*T).Add(t, 1).Get(), T.Get(*t), t)
}

type embeds struct{ *T; name string }
func Embedded() int { e := embeds{New(3), "e"}; e.Add(4); var i interface{ Get() int } = e; return e.Get() * i.Get() }

// A method of an interface as a value is left to the interpreter.
func Text(s fmt.Stringer) func() string { return s.String }
func Texts() string { return Text(New(5))() + Text(New(6))() }

func Map[X, Y any](list []X, f func(X) Y) (to []Y) { for _, x := range list { to = append(to, f(x)) }; return to }
func Generic() []string { return Map([]int{1, 2}, label) }
func label(n int) string { return strings.Repeat("x", n) }

func mixed(a int8, b float32, c string, d []int, e any, f complex128, g T, h func() int, i map[string]int, j bool) (string, float64, T, error) {
	g.rest[2] = i["k"]
	return fmt.Sprint(a, b, c, d, e, f, h(), j), float64(b) / 2, g, fmt.Errorf("error %d", a)
}
func Mixed() string {
	s, x, t, err := mixed(-3, 1.5, "s", []int{1}, 2, 3i, T{n: 4}, New(5).Get, map[string]int{"k": 6}, true)
	return fmt.Sprint(s, x, t.rest, err)
}

func Concurrent() int {
	var wait sync.WaitGroup
	sums := make([]int, 16)
	for i := range sums {
		wait.Go(func() { sums[i] = shared(i) })
	}
	wait.Wait()
	return Sum(0, sums...)
}
func shared(n int) int { return New(n).Add(1).Get() }

func Sorted() []int { list := []int{3, 1, 2}; sort.Slice(list, func(i, j int) bool { return less(list[i], list[j]) }); return list }
func less(a, b int) bool { return a < b }

func depth(n int) int { if n == 0 { return 0 }; return 1 + depth(n-1) }
func Deep() int { return depth(20000) }

func Unsupported() any { var n uintptr; for i := range func(func(int) bool) {} { n = uintptr(unsafe.Pointer(&i)) }; return n }
func Unused() any { return Unsupported() }
`

// TestLater compares functions that are compiled at their first call with what compiled Go does, on the first and second call.
func TestLater(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/later@v1.0.0/go.mod":   "module example.com/later\n",
		"example.com/later@v1.0.0/later.go": later,
	}))
	n.must(t, "%get example.com/later@v1.0.0\nimport \"example.com/later\"", "example.com/later v1.0.0\n")
	for _, row := range []struct{ in, want string }{
		{"later.Unused", "func"},
		{"fmt.Sprint(later.Initialized())", "= \"42 41\""},
		{"later.Sums()", "= 16"},
		{"later.Fib(15)", "= 610"},
		{"later.Where()", "= \"later.go 20\""},
		{"later.Name()", "= \"example.com/later.Fib\""},
		{"later.Deferred()", "= \"abc\""},
		{"later.Go()", "= 7"},
		{"later.Same()", "= true"},
		{"later.Table(4)", "= 8"},
		{"later.Recovered()", "= \"assignment to entry in nil map\""},
		{"later.Noted()", "= \"note 1\""},
		{"later.Methods()", "= \"3 14 14 T14\""},
		{"later.Embedded()", "= 49"},
		{"later.Texts()", "= \"T5T6\""},
		{"later.Generic()", "= [x xx]"},
		{"later.Mixed()", "= \"-3 1.5s[1] 2 (0+3i) 5 true0.75 [0 0 6] error -3\""},
		{"later.Concurrent()", "= 136"},
		{"later.Sorted()", "= [1 2 3]"},
		{"later.Deep()", "= 20000"},
		{"later.Map([]int{3}, func(n int) *later.T { return later.New(n).Add(1) })[0].Get()", "= 4"},
		{"f := later.New(1).Add; f(2).Get()", "= 3"},
		{"later.Fail()", "assignment to entry in nil map"},
		{"later.Unused()", "later.Unsupported cannot be called: package example.com/later cannot be interpreted"},
		{"later.Sum(1, 2)", "= 3"},
	} {
		for range 2 {
			if got := n.run(row.in); !strings.Contains(got, row.want) {
				t.Errorf("%s\ngot  %s\nwant %s", row.in, got, row.want)
			}
		}
	}
}

// TestLaterVersion checks that callers in earlier cells use another version of a module, also of functions that they have not
// called before.
func TestLaterVersion(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/v@v1.0.0/go.mod": "module example.com/v\n",
		"example.com/v@v1.0.0/v.go":   "package v\nfunc One() int { return inner() }\nfunc Two() int { return inner() * 2 }\nfunc inner() int { return 1 }\n",
		"example.com/v@v1.1.0/go.mod": "module example.com/v\n",
		"example.com/v@v1.1.0/v.go":   "package v\nfunc One() int { return inner() + 100 }\nfunc Two() int { return inner() * 20 }\nfunc inner() int { return 2 }\n",
	}))
	n.must(t, "%get example.com/v@v1.0.0\nimport \"example.com/v\"\nfunc one() int { return v.One() }\nfunc two() int { return v.Two() }\nold := v.One", "example.com/v v1.0.0\n")
	n.must(t, "one()", "= 1")
	if got := n.run("%get example.com/v@v1.1.0\nimport \"example.com/v\"\nfmt.Println(one(), two(), v.One(), v.Two())"); !strings.Contains(got, "102 40 102 40") {
		t.Errorf("got %s", got)
	}
}

// TestLaterInitializers: a function that is called for the first time uses variables whose initializers make compiled
// interfaces of values, for which their methods are compiled.
func TestLaterInitializers(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/w@v1.0.0/go.mod": "module example.com/w\n",
		"example.com/w@v1.0.0/w.go": `package w

import ("errors"; "fmt"; "net/http")

type jar struct{ n int }
func (j *jar) RoundTrip(r *http.Request) (*http.Response, error) { return nil, errors.New(fmt.Sprint("jar ", count(j.n))) }
func count(n int) int { return n + len(names) }
var names = []string{"a", "b"}
var transport http.RoundTripper = &jar{5}

func Get() error { _, err := transport.RoundTrip(nil); return err }
`,
	}))
	n.must(t, "%get example.com/w@v1.0.0\nimport \"example.com/w\"", "example.com/w v1.0.0\n")
	n.must(t, "w.Get()", "! error: jar 7")
}

// Goroutines of a module call a function for the first time at the same time: one of them compiles it.
func TestLaterInGoroutines(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/w@v1.0.0/go.mod": "module example.com/w\n",
		"example.com/w@v1.0.0/w.go": `package w

import "sync"

var table = map[int]string{1: "one", 2: "two"}
func lookup(n int) string { return table[n] }
func Many() (all string) {
	var wait sync.WaitGroup
	list := make([]string, 32)
	for i := range list { wait.Go(func() { list[i] = lookup(1 + i%2) }) }
	wait.Wait()
	for _, s := range list { all += s[:1] }
	return all
}
`,
	}))
	n.must(t, "%get example.com/w@v1.0.0\nimport \"example.com/w\"", "example.com/w v1.0.0\n")
	n.must(t, "w.Many()", "= \"otototototototototototototototot\"")
}

// TestLaterError checks that a function that does not compile is an error when it is called, each time, and not before.
func TestLaterError(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, modules(t, map[string]string{
		"example.com/e@v1.0.0/go.mod": "module example.com/e\n",
		"example.com/e@v1.0.0/e.go":   "package e\n\nfunc Good() int { return 1 }\n\nfunc Bad() int {\n\treturn \"text\"\n}\nfunc Calls() int { return Bad() }\n",
	}))
	n.must(t, "%get example.com/e@v1.0.0\nimport \"example.com/e\"", "example.com/e v1.0.0\n")
	n.must(t, "e.Good()", "= 1")
	for range 2 {
		for _, cell := range []string{"e.Bad()", "e.Calls()"} {
			want := `e.Bad cannot be called: package example.com/e cannot be interpreted: example.com/e@v1.0.0/e.go:6:9: cannot use "text"`
			if got := n.run(cell); !strings.Contains(got, want) {
				t.Errorf("%s\ngot  %s\nwant %s", cell, got, want)
			}
		}
	}
	n.must(t, "e.Good()", "= 1")
}
