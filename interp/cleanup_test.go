package interp_test

import (
	"fmt"
	"testing"
)

// TestCleanups says that cleanups run once their object is unreachable, as far as the cells can tell.
func TestCleanups(t *testing.T) {
	t.Parallel()
	const collect = `for range 1000 {
	runtime.GC()
	select {
	case m := <-done:
		fmt.Println(m)
	case <-time.After(time.Millisecond):
		continue
	}
	break
}`
	for _, row := range []struct{ name, cell, want string }{
		{"function", "func f() {\n\tx := &T{make([]byte, 1<<16)}\n\truntime.AddCleanup(x, func(n int) { done <- fmt.Sprint(\"cleanup \", n) }, 3)\n}\nf()", "cleanup 3\n"},
		{"literal", "func() {\n\tx := &T{make([]byte, 1<<16)}\n\truntime.AddCleanup(x, func(n int) { done <- fmt.Sprint(\"cleanup \", n) }, 3)\n}()", "cleanup 3\n"},
		{"variable of the cells", "x := &T{make([]byte, 1<<16)}\n_ = runtime.AddCleanup(x, func(n int) { done <- fmt.Sprint(\"cleanup \", n) }, 3)\nx = nil", "cleanup 3\n"},
		{"pointer to a field", "func f() *[]byte {\n\tx := &T{make([]byte, 1<<16)}\n\truntime.AddCleanup(&x.b, func(t *T) { done <- fmt.Sprint(len(t.b)) }, &T{nil})\n\treturn nil\n}\nf();", "0\n"},
		{"method", "func (t T) Close() { done <- \"closed\" }\nfunc open() *T {\n\tx := &T{make([]byte, 1<<16)}\n\truntime.AddCleanup(x, T.Close, T{})\n\treturn x\n}\nfunc f() { x := open(); x.b[0] = 1 }\nf()", "closed\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			n.must(t, "type T struct{ b []byte }\ndone := make(chan string, 1)", "")
			n.must(t, row.cell, "")
			n.must(t, collect, row.want)
		})
	}
}

// TestCollectInFunction calls runtime.GC in the function that called the one whose variable referred to the object.
func TestCollectInFunction(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, `type T struct{ n int }
func f() string {
	done := make(chan string, 1)
	func() {
		x := &T{5}
		runtime.SetFinalizer(x, func(x *T) { done <- fmt.Sprint("finalized ", x.n) })
	}()
	for range 1000 {
		runtime.GC()
		select {
		case s := <-done:
			return s
		case <-time.After(time.Millisecond):
		}
	}
	return "none"
}
f()`, `= "finalized 5"`)
}

// TestFinalizersOfCells runs finalizers of a program, which has ended when the next cell runs, and of that one. Both run on one goroutine of the
// runtime. The test is not parallel to others, which use it, too.
func TestFinalizersOfCells(t *testing.T) {
	n := newNotebook(t)
	const cell = `%sfunc %s() {
	done := make(chan bool, 1)
	func() {
		x := &T{5}
		runtime.SetFinalizer(x, func(x *T) { fmt.Println("finalized", x.n); done <- true })
	}()
	for range 1000 {
		runtime.GC()
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
%s`
	n.must(t, fmt.Sprintf(cell, "type T struct{ n int }\n", "main", ""), "finalized 5\n")
	n.must(t, fmt.Sprintf(cell, "", "f", "f()"), "finalized 5\n")
}

// TestStoppedCleanup says that a cleanup does not run after Stop, and not before its object is unreachable: the other object
// of the same cell shows that it could have.
func TestStoppedCleanup(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, `ran := make(chan string, 9)
type T struct{ b []byte }
func add(x *T, name string) runtime.Cleanup { return runtime.AddCleanup(x, func(s string) { ran <- s }, name) }
var kept *T
func start() {
	kept = &T{make([]byte, 1<<16)}
	add(kept, "kept")
	stopped := add(&T{make([]byte, 1<<16)}, "stopped")
	stopped.Stop()
	add(&T{make([]byte, 1<<16)}, "first")
}
func wait() string {
	for range 1000 {
		runtime.GC()
		select {
		case s := <-ran:
			return s
		case <-time.After(time.Millisecond):
		}
	}
	return "none"
}
start()
wait()`, `= "first"`)
	n.must(t, "kept = nil\nwait()", `= "kept"`)
	n.must(t, "len(ran)", "= 0")
}
