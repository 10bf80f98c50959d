package interp_test

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/interp"
)

var color = regexp.MustCompile("\x1b\\[[0-9;]*m")

// traceback runs cells and returns the traceback of the last one, without
// colors.
func traceback(t *testing.T, cells ...string) string {
	t.Helper()
	n := newNotebook(t)
	var err error
	for i, src := range cells {
		if _, err = n.Execute(context.Background(), i+1, src); err != nil && i < len(cells)-1 {
			t.Fatalf("%q: %v", src, err)
		}
	}
	var e *interp.Error
	if !errors.As(err, &e) {
		t.Fatalf("the last cell ended with %v", err)
	}
	text := strings.Join(e.Traceback, "\n")
	if !strings.Contains(text, "\x1b[") {
		t.Errorf("no colors in %q", text)
	}
	if strings.Contains(e.Value, "\x1b") {
		t.Errorf("colors in the value %q", e.Value)
	}
	return color.ReplaceAllString(text, "")
}

func TestTraceback(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		cells []string
		want  string
	}{
		{"two functions in two cells", []string{"func inner(list []int) int {\n\tn := 3\n\treturn list[n]\n}", "func outer() int {\n\treturn inner(nil) + 1\n}\nouter()"},
			"cell[2]:4:1\n    outer()\ncell[2]:2:9 in outer\n    return inner(nil) + 1\ncell[1]:3:9 in inner\n    return list[n]\nruntime error: index out of range"},
		{"method", []string{"type T struct{ m map[string]int }\nfunc (t T) Set() {\n\tt.m[\"a\"] = 1\n}", "T{}.Set()"},
			"cell[2]:1:1\n    T{}.Set()\ncell[1]:3:2 in T.Set\n    t.m[\"a\"] = 1\nruntime error: assignment to entry in nil map"},
		{"statement", []string{"x := 1\n\npanic(\"here\")"}, "cell[1]:3:1\n    panic(\"here\")\npanic: here"},
		{"recursion", []string{"func down(n int) {\n\tif n == 0 {\n\t\tpanic(\"deep\")\n\t}\n\tdown(n - 1)\n}\ndown(5)"},
			"cell[1]:7:1\n    down(5)\ncell[1]:5:2 in down, 5 calls\n    down(n - 1)\ncell[1]:3:3 in down\n    panic(\"deep\")\npanic: deep"},
		{"deep recursion", []string{"func down(n int) {\n\tif n == 0 {\n\t\tpanic(\"deep\")\n\t}\n\tdown(n - 1)\n}\ndown(150)"},
			"cell[1]:7:1\n    down(150)\ncell[1]:5:2 in down, 150 calls\n    down(n - 1)\ncell[1]:3:3 in down\n    panic(\"deep\")\npanic: deep"},
		{"very deep recursion", []string{"func down(n int) {\n\tif n == 0 {\n\t\tpanic(\"deep\")\n\t}\n\tdown(n - 1)\n}\ndown(500)"},
			"cell[1]:7:1\n    down(500)\ncell[1]:5:2 in down, more than 199 calls\n    down(n - 1)\ncell[1]:3:3 in down\n    panic(\"deep\")\npanic: deep"},
		{"compiled function that calls a literal", []string{"func less(a, b int) bool {\n\tpanic(a)\n}\nlist := []int{1, 2}\nsort.Slice(list, func(i, j int) bool {\n\treturn less(i, j)\n})"},
			"cell[1]:5:1\n    sort.Slice(list, func(i, j int) bool {\nin sort.Slice, compiled\ncell[1]:6:9\n    return less(i, j)\ncell[1]:2:2 in less\n    panic(a)\npanic: 1"},
		{"panic in compiled code", []string{"func f(n int) string {\n\treturn strings.Repeat(\"a\", n)\n}\nf(-1)"},
			"cell[1]:4:1\n    f(-1)\ncell[1]:2:9 in f\n    return strings.Repeat(\"a\", n)\nin strings.Repeat, compiled\n"},
		{"statement that goes on", []string{"func one() int { return []int{1}[0] }\nfunc g(list []int) int {\n\treturn one() + one() + list[5]\n}\ng(nil)"},
			"cell[1]:5:1\n    g(nil)\ncell[1]:3:25 in g\n    return one() + one() + list[5]\nruntime error"},
		{"deferred calls", []string{"func clean() { _ = strings.ToUpper(\"a\") }\nfunc work(m map[string]int) {\n\tdefer clean()\n\tm[\"a\"] = 1\n}\nfunc outer() {\n\tdefer clean()\n\twork(nil)\n}\nouter()"},
			"cell[1]:10:1\n    outer()\ncell[1]:8:2 in outer\n    work(nil)\ncell[1]:4:2 in work\n    m[\"a\"] = 1\nruntime error: assignment to entry in nil map"},
		{"panic in a deferred call", []string{"func clean() {\n\tpanic(\"second\")\n}\nfunc work() {\n\tdefer clean()\n\tpanic(\"first\")\n}\nwork()"},
			"cell[1]:8:1\n    work()\n"},
		{"recovered before", []string{"func f() { defer func() { recover() }(); panic(1) }\nfunc g(p *int) int {\n\treturn *p\n}\nf()\ng(nil)"},
			"cell[1]:6:1\n    g(nil)\ncell[1]:3:9 in g\n    return *p\nruntime error: invalid memory address"},
		{"range over a function", []string{"func each(yield func(int) bool) {\n\tyield(1)\n}\nfunc f(list []int) {\n\tfor i := range each {\n\t\t_ = list[i]\n\t}\n}\nf(nil)"},
			"cell[1]:9:1\n    f(nil)\ncell[1]:5:2 in f\n    for i := range each {\ncell[1]:2:2 in each\n    yield(1)\ncell[1]:6:7 in f\n    _ = list[i]\nruntime error: index out of range [1] with length 0"},
		{"generic", []string{"func at[T any](list []T, i int) T {\n\treturn list[i]\n}\nat([]string{}, 3)"},
			"cell[1]:4:1\n    at([]string{}, 3)\ncell[1]:2:9 in at\n    return list[i]\nruntime error: index out of range"},
		{"error of a type of the cell", []string{"type E struct{ code int }\nfunc (e *E) Error() string { return fmt.Sprint(\"code \", e.code) }\npanic(&E{7})"},
			"cell[1]:3:1\n    panic(&E{7})\npanic: code 7 (*main.E)"},
		{"Stringer", []string{"type S int\nfunc (s S) String() string { return \"text\" }\npanic(S(3))"}, "cell[1]:3:1\n    panic(S(3))\npanic: "},
		{"literal", []string{"func f() {\n\tg := func(list []int) int {\n\t\treturn list[2]\n\t}\n\tg(nil)\n}\nf()"},
			"cell[1]:7:1\n    f()\ncell[1]:5:2 in f\n    g(nil)\ncell[1]:3:10 in a function literal of f\n    return list[2]\nruntime error"},
		{"method of a generic type", []string{"type Stack[T any] struct{ l []T }\nfunc (s *Stack[T]) Pop() T {\n\treturn s.l[0]\n}\nslices.SortFunc([]int{1, 2}, func(a, b int) int {\n\treturn (&Stack[int]{}).Pop()\n})"},
			"cell[1]:5:1\n    slices.SortFunc([]int{1, 2}, func(a, b int) int {\n"},
		{"generic function of the standard library", []string{"slices.SortFunc([]int{1, 2}, func(a, b int) int { panic(\"less\") })"},
			"cell[1]:1:1\n    slices.SortFunc([]int{1, 2}, func(a, b int) int { panic(\"less\") })\nin slices.SortFunc\nin sort.Slice, compiled\ncell[1]:1:51\n    slices.SortFunc([]int{1, 2}, func(a, b int) int { panic(\"less\") })\npanic: less"},
		{"loop of a cell", []string{"func at(list []int, i int) int {\n\treturn list[i]\n}\nsum := 0\nfor i := range 3 {\n\tsum += i + at(nil, i)\n}"},
			"cell[1]:6:13\n    sum += i + at(nil, i)\ncell[1]:2:9 in at\n    return list[i]\nruntime error"},
		{"loop of a cell fails itself", []string{"list := []int{1}\nfor i := 0; ; i++ {\n\tlist[i]++\n}"}, "cell[1]:3:2\n    list[i]++\nruntime error"},
		{"nil", []string{"panic(nil)"}, "cell[1]:1:1\n    panic(nil)\nruntime error: panic called with nil argument"},
		{"joined errors", []string{"panic(errors.Join(errors.New(\"a\"), errors.New(\"b\")))"}, "cell[1]:1:1\n    panic(errors.Join(errors.New(\"a\"), errors.New(\"b\")))\npanic: a\nb"},
		{"assertion", []string{"var x any = 1\n_ = x.(string)"}, "cell[1]:2:1\n    _ = x.(string)\nruntime error: interface conversion: interface {} is int, not string"},
		{"unread error", []string{"x := 1\n_, err := strconv.Atoi(\"a\")"},
			"cell[1]:2:4\n    _, err := strconv.Atoi(\"a\")\nerror: strconv.Atoi: parsing \"a\": invalid syntax (*strconv.NumError)\nerr is not read in this cell: read it, or write `_ = err`"},
		{"panic after an unread error", []string{"f, err := os.Open(\"nosuch\")\n_ = *f"},
			"cell[1]:2:5\n    _ = *f\nruntime error: invalid memory address or nil pointer dereference\ncell[1]:1:4\n    f, err := os.Open(\"nosuch\")\n" +
				"err was set before, and not read: open nosuch: no such file or directory (*fs.PathError)"},
		{"panic in a function after an unread error", []string{"func use(f *os.File) {\n\t_ = *f\n}\nf, err := os.Open(\"nosuch\")\nuse(f)\n_, err = os.Open(\"other\")"},
			"cell[1]:5:1\n    use(f)\ncell[1]:2:6 in use\n    _ = *f\nruntime error: invalid memory address or nil pointer dereference\ncell[1]:4:4\n    f, err := os.Open(\"nosuch\")\n" +
				"err was set before, and not read: open nosuch"},
		{"unread error of an iteration", []string{"var err error\nfor _, text := range []string{\"a\", \"1\"} {\n\t_, err = strconv.Atoi(text)\n}"},
			"cell[1]:3:5\n    _, err = strconv.Atoi(text)\nerror: strconv.Atoi: parsing \"a\": invalid syntax (*strconv.NumError)\nerr is not read in this cell: read it, or write `_ = err`"},
		{"unread error before a loop", []string{"_, err := strconv.Atoi(\"a\")\nfor range 2 {\n\t_, err = strconv.Atoi(\"1\")\n}"},
			"cell[1]:1:4\n    _, err := strconv.Atoi(\"a\")\nerror: strconv.Atoi"},
		{"unread error before another", []string{"_, err := strconv.Atoi(\"a\")\n_, err = strconv.Atoi(\"1\")"},
			"cell[1]:1:4\n    _, err := strconv.Atoi(\"a\")\nerror: strconv.Atoi"},
		{"unread error of a block", []string{"sum := 0\nfor _, text := range []string{\"1\", \"a\"} {\n\tn, err := strconv.Atoi(text)\n\tsum += n\n}"},
			"cell[1]:3:5\n    n, err := strconv.Atoi(text)\nerror: strconv.Atoi: parsing \"a\": invalid syntax (*strconv.NumError)\nerr is not read in this cell: read it, or write `_ = err`"},
		{"unread error of a head", []string{"if n, err := strconv.Atoi(\"a\"); n == 0 {\n\tpanic(n)\n}"},
			"cell[1]:1:7\n    if n, err := strconv.Atoi(\"a\"); n == 0 {\nerror: strconv.Atoi"},
		{"compile errors", []string{"x := a\ny := b"}, "cell[1]:1:6: undefined: a\n    x := a\n         ^\ncell[1]:2:6: undefined: b\n    y := b\n         ^"},
		{"unsupported", []string{"func f(seq func(func(int) bool)) (n uintptr) {\n\tfor i := range seq { n = uintptr(unsafe.Pointer(&i)) }\n\treturn\n}"}, "cell[1]:2:27: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := traceback(t, row.cells...)
			if row.name == "unsupported" {
				if !strings.HasPrefix(got, row.want) || !strings.Contains(got, "not supported") {
					t.Errorf("got\n%s", got)
				}
				return
			}
			if !strings.HasPrefix(got, row.want) {
				t.Errorf("got\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

// A panic is described without errors that the cell has read, that are nil, or that an earlier cell has set.
func TestPanicsWithoutUnreadErrors(t *testing.T) {
	t.Parallel()
	for name, cells := range map[string][]string{
		"read":         {"_, err := os.Open(\"nosuch\")\n_ = err\nvar p *int\n_ = *p"},
		"nil":          {"_, err := strconv.Atoi(\"1\")\nvar p *int\n_ = *p"},
		"earlier cell": {"_, err := os.Open(\"nosuch\")\n_ = err", "var p *int\n_ = *p\n_, err = strconv.Atoi(\"1\")"},
		"afterwards":   {"_, err := os.Open(\"nosuch\")\n_ = err", "f := func(p *int) (int, error) { return *p, nil }\n_, err = f(nil)"},
	} {
		if got := traceback(t, cells...); !strings.HasSuffix(got, "runtime error: invalid memory address or nil pointer dereference") {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

// The innermost frame of a panic has the position of its statement.
func TestPositionsOfPanics(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		cells []string
		want  string
	}{
		{"statement", []string{"var m map[string]int\nx := 1\nx++\nm[\"a\"] = x"}, "cell[1]:4:1"},
		{"function of an earlier cell", []string{"func f(i int) int {\n\ta := []int{1}\n\treturn a[i]\n}", "x := 1\nf(x)"}, "cell[1]:3:9"},
		{"condition of a loop", []string{"a := []int{1, 2}\nfor i := 0; a[i] > 0; i++ {\n\t_ = i\n}"}, "cell[1]:2:13"},
		{"through a deferred call", []string{"func f() {\n\tdefer func() {\n\t\tx := []int{1}\n\t\t_ = x[0]\n\t}()\n\tpanic(1)\n}\nf()"}, "cell[1]:6:2"},
		{"division", []string{"z := 0\ny := 1 /\n\tz"}, "cell[1]:2:6"},
		{"in a literal", []string{"f := func() {\n\tpanic(2)\n}\nf()"}, "cell[1]:2:2"},
		{"after a goto", []string{"i := 0\nagain:\ni++\nif i < 3 {\n\tgoto again\n}\npanic(i)"}, "cell[1]:7:1"},
		{"first store in a block", []string{"func f(a []int) int {\n\tif len(a) == 0 {\n\t\treturn a[1]\n\t}\n\treturn a[0]\n}\nf(nil)"}, "cell[1]:3:10"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var last string
			for line := range strings.Lines(traceback(t, row.cells...)) {
				if strings.HasPrefix(line, "cell[") {
					last = line
				}
			}
			if got, _, _ := strings.Cut(strings.TrimSpace(last), " "); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// await waits until the notebook has written text to standard error.
func (n *notebook) await(t *testing.T, text string) string {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !strings.Contains(n.err.peek(), text) {
		if time.Now().After(deadline) {
			t.Fatalf("standard error has no %q: %q", text, n.err.peek())
		}
		time.Sleep(time.Millisecond) // polls for the output of a goroutine
	}
	return color.ReplaceAllString(n.err.take(), "")
}

// execute runs a cell that must not fail, and does not consume its output.
func (n *notebook) execute(t *testing.T, src string) {
	t.Helper()
	n.cell++
	if _, err := n.Execute(context.Background(), n.cell, src); err != nil {
		t.Fatalf("%q: %v", src, err)
	}
}

func TestGoroutines(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "ch := make(chan int)\ndone := make(chan bool)\ngo func() { for v := range ch { fmt.Println(\"got\", v) }; done <- true }()", "")
	n.execute(t, "ch <- 1; ch <- 2")
	n.execute(t, "close(ch)\n<-done;")
	if got, want := n.out.take(), "got 1\ngot 2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "x := 20\nfunc f() int { return x }", "")
	for _, row := range []struct{ in, want string }{
		{"x + 1", "21"},
		{"f()", "20"},
		{"\"a\"", "\"a\""},
		{"x +", "compile error: \"x +\" is not an expression"},
		{"y := 1", "compile error: \"y := 1\" is not an expression"},
		{"undefinedName", "compile error: cell[0]:1:1: undefined: undefinedName\n    undefinedName\n    ^"},
		{"1 / (x - 20)", "runtime error: integer divide by zero"},
	} {
		result, err := n.Evaluate(context.Background(), row.in)
		got, _ := result.Data["text/plain"].(string)
		if err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%q gives %q, want %q", row.in, got, row.want)
		}
	}
	n.must(t, "f() + x", "= 40")
}

func TestClose(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	n.must(t, "1", "! internal error: the session is closed")
}

// Code of a cell that runs while the result is shown can be interrupted.
func TestShowing(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	e := interruptAt(t, n, "type T struct{}\nfunc (T) String() string { fmt.Println(\"go\"); for { } }\nT{}")
	if e.Name != "interrupted" || e.Stuck {
		t.Errorf("ended with %v", e)
	}
	n.must(t, "1", "= 1")
}

func TestOwnPackages(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	result, err := n.Execute(context.Background(), 1, "display.HTML(\"<b>x</b>\")")
	if err != nil || result.Data["text/html"] != "<b>x</b>" {
		t.Errorf("got %v, %v", result.Data, err)
	}
	result, err = n.Execute(context.Background(), 2, "x := tensor.New([]float32{1, 2, 3}, 3)\nx.Add(x).Data()")
	if err != nil || result.Data["text/plain"] != "[2 4 6]" {
		t.Errorf("got %v, %v", result.Data, err)
	}
}

// The output of a goroutine goes to the cell that started it.
func TestOutput(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	streams := map[int][2]*buffer{}
	of := func(cell int) (stdout, stderr io.Writer) {
		mu.Lock()
		defer mu.Unlock()
		if _, ok := streams[cell]; !ok {
			streams[cell] = [2]*buffer{{}, {}}
		}
		return streams[cell][0], streams[cell][1]
	}
	n := newNotebook(t, interp.Output(of))
	n.execute(t, "start, done := make(chan int), make(chan int)\ngo func() { <-start; fmt.Println(\"late\"); println(\"low\"); go func() { fmt.Println(\"grandchild\"); done <- 1 }() }()\nfmt.Println(\"first\")")
	n.execute(t, "start <- 1\n<-done\nfmt.Println(\"second\")")
	n.execute(t, "fmt.Fprintln(os.Stdout, \"third\")\nfmt.Fprint(os.Stderr, \"error\")")
	// A goroutine of compiled code belongs to the cell whose call started it.
	n.execute(t, "list := func(f func()) { wg := new(sync.WaitGroup); wg.Go(f); wg.Wait() }\nlist(func() { fmt.Println(\"fourth\") })")
	for cell, want := range map[int][2]string{
		1: {"first\nlate\ngrandchild\n", "low\n"}, 2: {"second\n", ""}, 3: {"third\n", "error"}, 4: {"fourth\n", ""},
	} {
		if got := [2]string{streams[cell][0].take(), streams[cell][1].take()}; got != want {
			t.Errorf("cell %d has %q, want %q", cell, got, want)
		}
	}
}
