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

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// traceback runs cells and returns the traceback of the last one, without
// colours.
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
		t.Errorf("no colours in %q", text)
	}
	if strings.Contains(e.Value, "\x1b") {
		t.Errorf("colours in the value %q", e.Value)
	}
	return colour.ReplaceAllString(text, "")
}

func TestTraceback(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		cells []string
		want  string
	}{
		{"two functions in two cells", []string{"func inner(list []int) int {\n\tn := 3\n\treturn list[n]\n}", "func outer() int {\n\treturn inner(nil) + 1\n}\nouter()"},
			"cell[2] in outer, declared on line 1\ncell[1]:3:9 in inner\n    return list[n]\nruntime error: index out of range"},
		{"method", []string{"type T struct{ m map[string]int }\nfunc (t T) Set() {\n\tt.m[\"a\"] = 1\n}", "T{}.Set()"},
			"cell[1]:3:2 in T.Set\n    t.m[\"a\"] = 1\nruntime error: assignment to entry in nil map"},
		{"statement", []string{"x := 1\n\npanic(\"here\")"}, "cell[1]:3:1\n    panic(\"here\")\npanic: here"},
		{"recursion", []string{"func down(n int) {\n\tif n == 0 {\n\t\tpanic(\"deep\")\n\t}\n\tdown(n - 1)\n}\ndown(5)"},
			"cell[1] in down, declared on line 1, 5 calls\ncell[1]:3:3 in down\n    panic(\"deep\")\npanic: deep"},
		{"unread error", []string{"x := 1\n_, err := strconv.Atoi(\"a\")"},
			"cell[1]:2:4\n    _, err := strconv.Atoi(\"a\")\nerror: strconv.Atoi: parsing \"a\": invalid syntax (*strconv.NumError)"},
		{"compile errors", []string{"x := a\ny := b"}, "cell[1]:1:6: undefined: a\n    x := a\n         ^\ncell[1]:2:6: undefined: b\n    y := b\n         ^"},
		{"unsupported", []string{"import \"weak\"\nx := 1\nweak.Make(&x)"}, "cell[1]:3:1: "},
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
	return colour.ReplaceAllString(n.err.take(), "")
}

// execute runs a cell that must not fail and leaves what it printed.
func (n *notebook) execute(t *testing.T, src string) {
	t.Helper()
	n.cell++
	if _, err := n.Execute(context.Background(), n.cell, src); err != nil {
		t.Fatalf("%q: %v", src, err)
	}
}

func TestGoroutinePanic(t *testing.T) {
	t.Parallel()
	skipConcurrent(t, "go func()")
	n := newNotebook(t)
	n.must(t, "release := make(chan int)\ngo func() {\n\t<-release\n\tpanic(\"in the background\")\n}()", "")
	n.execute(t, "release <- 1")
	got := n.await(t, "panic: in the background")
	if want := "in a goroutine of cell[1]:\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q first", got, want)
	}
	n.execute(t, "time.AfterFunc(0, func() { panic(\"in a timer\") });")
	n.await(t, "panic: in a timer")
	n.must(t, "1 + 1", "= 2")
}

func TestGoroutines(t *testing.T) {
	t.Parallel()
	skipConcurrent(t, "go func()")
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

// TestShowing says that code of a cell that runs while its result is shown can
// be interrupted.
func TestShowing(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	e, _ := interruptAt(t, n, "type T struct{}\nfunc (T) String() string { fmt.Println(\"go\"); for { } }\nT{}")
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

// TestOutput says that what a goroutine prints goes to the cell that started it.
func TestOutput(t *testing.T) {
	t.Parallel()
	skipConcurrent(t, "go func()")
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
	// A goroutine of compiled code belongs to the cell that made it start.
	n.execute(t, "list := func(f func()) { wg := new(sync.WaitGroup); wg.Go(f); wg.Wait() }\nlist(func() { fmt.Println(\"fourth\") })")
	for cell, want := range map[int][2]string{
		1: {"first\nlate\ngrandchild\n", "low\n"}, 2: {"second\n", ""}, 3: {"third\n", "error"}, 4: {"fourth\n", ""},
	} {
		if got := [2]string{streams[cell][0].take(), streams[cell][1].take()}; got != want {
			t.Errorf("cell %d has %q, want %q", cell, got, want)
		}
	}
}
