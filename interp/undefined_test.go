package interp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestNotReached checks what names mean after a cell that ended before the statements that define them.
func TestNotReached(t *testing.T) {
	t.Parallel()
	type cell struct{ src, want string } // the outcome begins with want
	const fail = "zero := 0\nfail := func() int { return 1 / zero }\n"
	failed := func(src string) cell { return cell{src, "! runtime error: integer divide by zero"} }
	missing := func(name string, number int) cell {
		return cell{name, fmt.Sprintf("! compile error: cell[*]:1:1: undefined: %s: cell[%d] ended before the statement that declares it; run it again", name, number)}
	}
	for _, row := range []struct {
		name  string
		cells []cell
	}{
		{"short definition", []cell{failed("a := 10\nb := a / (a - 10)\nc := 5"), missing("c", 1), missing("b", 1), {"a", "= 10"}}},
		{"several variables", []cell{{fail, ""}, failed("a, b := 1, 2\nc, d := fail(), 4\ne, f := 5, 6"), {"a + b", "= 3"}, missing("c", 2), missing("d", 2), missing("e", 2), missing("f", 2)}},
		{"one new variable", []cell{{fail + "a := 1", ""}, failed("a, b := 2, fail()"), {"a", "= 1"}, missing("b", 2)}},
		{"var statements", []cell{{fail, ""}, failed("a := 1\nvar b, c int\nvar d = fail()\nvar e int\nvar (\n\tf = 1\n\tg string\n)"), {"a + b + c", "= 1"}, missing("d", 2), missing("e", 2), missing("f", 2), missing("g", 2)}},
		{"var declarations", []cell{{fail, ""}, failed("var a int\nvar b = fail()\nvar c int\nvar d = 4\ne := 5"), {"a", "= 0"}, missing("b", 2), missing("c", 2), missing("d", 2), missing("e", 2)}},
		{"var declarations that succeed", []cell{{fail, ""}, failed("var a int\nvar b = 2\nvar c string\nfail()\nd := 1"), {"a", "= 0"}, {"b", "= 2"}, {"c", `= ""`}, missing("d", 2)}},
		{"the value of an earlier cell", []cell{{fail + "a := 1\nb := 2", ""}, failed("a := 3\nfail()\nb := 4"), {"a", "= 3"}, {"b", "= 2"}}},
		{"the value of another type", []cell{{fail + "a := 1\nvar s string = \"x\"", ""}, failed("fail()\na := \"text\"\nvar s int"), {"a", "= 1"}, {"s", `= "x"`}, {"a = 5; a", "= 5"}}},
		{"a lock", []cell{{fail + "var mu sync.Mutex\nmu.Lock()", ""}, failed("fail()\nvar mu sync.Mutex"), {"mu.TryLock()", "= false"}}},
		{"a function of an earlier cell", []cell{{fail + "func a() int { return 1 }\nfunc b() int { return a() }", ""}, {"fail()\na := 5", "note"}, {"a() + b()", "= 2"}}},
		{"a type of an earlier cell", []cell{{fail + "type T struct{ n int }\nfunc (t T) N() int { return t.n }\nfunc f() T { return T{2} }", ""}, failed("fail()\nT := 5"), {"T{3}.N() + f().N()", "= 5"}, {"func g() T { return T{1} }\ng() == T{1}", "= true"}}},
		{"a constant of an earlier cell", []cell{{fail + "const k = 3", ""}, failed("fail()\nk := 5"), {"const l = k + 1\nl", "= 4"}}},
		{"the name of a package", []cell{{fail, ""}, failed("fail()\nstrings := 5"), {`strings.ToUpper("a")`, `= "A"`}}},
		{"a predeclared name", []cell{{fail, ""}, {"fail()\nlen := 5", "note: len is predeclared"}, {`len("abc")`, "= 3"}}},
		{"types, constants and functions", []cell{{fail, ""}, failed("fail()\ntype T struct{ n int }\nfunc (t T) N() int { return t.n }\nconst k = 3\nfunc f() int { return k }"), {"T{2}.N() + f()", "= 5"}}},
		{"functions that use the variables", []cell{{fail, ""}, failed("func f() int { return w * 2 }\nfunc g() int { return f() + 1 }\nfunc h() int { return 7 }\nfail()\nw := 4"), {"h()", "= 7"},
			{"f()", "! panic: f no longer compiles: cell[2]:1:23: undefined: w: cell[2] ended before"}, {"g()", "! panic: f no longer compiles"}, {"w := 5", ""}, {"f() + g()", "= 21"}}},
		{"methods that use the variables", []cell{{fail, ""}, failed("type T struct{}\nfunc (T) String() string { return fmt.Sprint(w) }\nfail()\nw := 4"), {"T{}.String()", "! panic: T.String no longer compiles"}, {"w := 5\nfmt.Println(T{})", "5\n"}}},
		{"functions of the earlier type", []cell{{fail + "w := 1\nfunc f() int { return w * 2 }", ""}, {"fail()\nw := \"x\"", "note: this cell breaks f"}, {"f()", "= 2"}}},
		{"generic functions that use the variables", []cell{{fail, ""}, failed("func f[T any](x T) int { return w * 2 }\nfail()\nw := 4"), {"f(1)", "! panic: f no longer compiles"}, {"w := 5\nf(1)", "= 10"}}},
		{"literals that use the variables", []cell{{fail, ""}, failed("var f func() int\nfail()\nw := 4\nf = func() int { return w }"), {"f == nil", "= true"}}},
		{"the fixed cell", []cell{{"zero := 0", ""}, failed("a := 1\nfunc f() int { return c }\nb := a / zero\nc := 5"), missing("c", 2), {"zero = 1\na := 1\nfunc f() int { return c }\nb := a / zero\nc := 5", ""}, {"a + b + c + f()", "= 12"}}},
		{"failed twice", []cell{{fail, ""}, failed("fail()\nc := 5"), failed("fail()\nc := 5"), missing("c", 3), {"c := 1\nc", "= 1"}, failed("fail()\nc := 2"), {"c", "= 1"}}},
		{"an unread error", []cell{{"a := 1\n_, err := strconv.Atoi(\"x\")\n_, err = strconv.Atoi(\"1\")\nb := 2\n_ = err", "! error"}, {"a", "= 1"}, {"err != nil", "= true"}, missing("b", 1)}},
		{"an unread error at the end", []cell{{"a := 1\nb, err := strconv.Atoi(\"x\")", "! error"}, {"a + b", "= 1"}}},
		{"a failed call at the end", []cell{{"a := 1\nerrors.Join(io.EOF)\nos.Remove(\"/no/such/file\")", "! error"}, {"a", "= 1"}}},
		{"return", []cell{{"a := 1\nif a == 1 {\n\treturn\n}\nb := 2", ""}, {"a", "= 1"}, missing("b", 1)}},
		{"Goexit", []cell{{"a := 1\nruntime.Goexit()\nb := 2", "! runtime error"}, {"a", "= 1"}, missing("b", 1)}},
		{"goto", []cell{{"i := 0\nagain:\ni++\nif i < 3 {\n\tgoto again\n}\nj := i", ""}, {"i + j", "= 6"}}},
		{"statements of the VM", []cell{{fail, ""}, failed("a := func() int { s := 0; for i := range 4 { s += i }; return s }()\nb := func() int { for range 3 { fail() }; return 1 }()\nc := func() int { return 1 }()"), {"a", "= 6"}, missing("b", 2), missing("c", 2)}},
		{"conditions and calls", []cell{{fail, ""}, failed("a := len(\"abc\") == 3 && fmt.Sprint(1) == \"1\"\nb := map[string]int{\"a\": len(fmt.Sprint(12))}\nc := []int{1, 2}[len(\"a\")]\nd := fail() == 1 && a"), {"fmt.Sprint(a, b, c)", `= "true map[a:2] 2"`}, missing("d", 2)}},
		{"a long cell", []cell{{fail, ""}, failed(numbered(150, "v%d := %[1]d\n") + "fail()\n" + numbered(150, "w%d := %[1]d\n")), {"v0 + v149", "= 149"}, missing("w0", 2), missing("w149", 2)}},
		{"deferred calls", []cell{{"defer func() { panic(1) }()\na := 1", "! panic: 1"}, {"a", "= 1"}}},
		{"%who", []cell{{fail, ""}, failed("aa := 1\nfail()\nbb := 2"), {"%who", "aa    int           1\nfail  func() int    func() int\nzero  int           0\n"}}},
		{"commands", []cell{{"a := 1\n%cd /no/such/folder\nb := 2", "! error"}, {"a", "= 1"}, missing("b", 1)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := newNotebook(t)
			for i, c := range row.cells {
				got, want := n.run(c.src), strings.ReplaceAll(c.want, "*", fmt.Sprint(i+1))
				got = strings.TrimPrefix(got, "stderr: ")
				if !strings.HasPrefix(got, want) || want == "" && got != "" {
					t.Errorf("cell %d, %q: got\n%s\nwant\n%s", i+1, c.src, got, want)
				}
			}
		})
	}
}

// numbered repeats a text with a number.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestNotReachedByInterrupt interrupts a cell in a call that returns what it has.
func TestNotReachedByInterrupt(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := n.Execute(ctx, 100, "a := 1\nwait := func() int { fmt.Print(\"waits\"); <-ctx.Done(); return 2 }\nb := wait()\nc := wait()\nd := wait()")
		ended <- err
	}()
	for n.out.peek() == "" {
		time.Sleep(time.Millisecond) // polls for the output of the cell
	}
	n.Interrupt()
	if err := <-ended; err == nil {
		t.Fatal("the cell was not interrupted")
	}
	n.out.take()
	n.must(t, "a", "= 1")
	if got := n.run("d"); !strings.Contains(got, "undefined: d: cell[100] ended before") {
		t.Errorf("got %s", got)
	}
}

// TestNotReachedCompletion checks that names that a cell has not reached are not offered.
func TestNotReachedCompletion(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.run("reachedOne := 1\npanic(1)\nreachedTwo := 2")
	_, _, items := n.Complete("reached", len("reached"))
	if len(items) != 1 || items[0].Text != "reachedOne" {
		t.Errorf("got %v, want reachedOne", items)
	}
	if data := n.Inspect("reachedTwo", 0, 0); data != nil {
		t.Errorf("inspection describes %v", data)
	}
}
