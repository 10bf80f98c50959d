package interp_test

import (
	"testing"
)

// TestReplacedPanics checks the errors of panics that replace others. The texts are those of compiled Go, which does not write
// the type of an error, nor "runtime error" for panic(nil).
func TestReplacedPanics(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, `type T int
type S struct{}
func (S) String() string { defer func() { panic("second") }(); panic("first") }
func second(s string) { panic(s) }
func clean() { if r := recover(); r != nil { panic(fmt.Sprint("cleaned ", r)) } }
func again() { panic(recover()) }
func try(f func()) (err error) { defer func() { if r := recover(); r != nil { err = fmt.Errorf("%v", r) } }(); f(); return }
func both() { defer second("second"); panic("first") }
var nilMap map[string]int
var nilPointer *int`, "")
	for _, row := range []struct{ name, body, want string }{
		{"two", `defer func() { panic("second") }(); panic("first")`, "panic: first\n\tpanic: second"},
		{"three", `defer func() { panic("third") }(); defer func() { panic("second") }(); panic("first")`, "panic: first\n\tpanic: second\n\tpanic: third"},
		{"three, nested", `defer func() { defer func() { panic("third") }(); panic("second") }(); panic("first")`, "panic: first\n\tpanic: second\n\tpanic: third"},
		{"three functions", `defer func() { panic("third") }(); func() { defer func() { panic("second") }(); panic("first") }()`, "panic: first\n\tpanic: second\n\tpanic: third"},
		{"declared functions", `defer second("third"); both()`, "panic: first\n\tpanic: second\n\tpanic: third"},
		{"a deferred panic", `defer panic("second"); panic("first")`, "panic: first\n\tpanic: second"},
		{"below a range over a function", `for range func(yield func() bool) { yield() } { defer panic("second"); panic("first") }`, "panic: first\n\tpanic: second"},
		{"through compiled code", `defer second("third"); sort.Slice([]int{1, 2}, func(i, j int) bool { both(); return true })`, "panic: first\n\tpanic: second\n\tpanic: third"},
		{"runtime errors", `defer func() { nilMap["a"] = 1 }(); defer func() { _ = *nilPointer }(); _ = []int{1}[len("abcde")]`,
			"panic: runtime error: index out of range [5] with length 1\n\tpanic: runtime error: invalid memory address or nil pointer dereference\n\tpanic: runtime error: assignment to entry in nil map"},
		{"errors", `defer func() { panic(errors.New("second")) }(); panic(io.EOF)`, "panic: EOF\n\tpanic: second"},
		{"values", `defer func() { panic([]int{3}) }(); defer func() { panic(struct{ x int }{1}) }(); panic(T(2))`, "panic: main.T(2)\n\tpanic: (struct { x int }) {x:1}\n\tpanic: ([]int) [3]"},
		{"values that cannot be compared", `defer second("third"); func() { defer panic([]int{2}); panic(map[string]int{"a": 1}) }()`, "panic: (map[string]int) map[a:1]\n\tpanic: ([]int) [2]\n\tpanic: third"},
		{"nil", `defer func() { panic(nil) }(); panic("first")`, "panic: first\n\tpanic: runtime error: panic called with nil argument"},
		{"lines", `defer func() { panic("a\nb") }(); panic("first\nline")`, "panic: first\n\tline\n\tpanic: a\n\tb"},
		{"a text like that of package reflect", `defer second("third"); func() { defer panic("reflect.Value.Slice"); panic("first") }()`, "panic: first\n\tpanic: reflect.Value.Slice\n\tpanic: third"},

		{"recovered", `defer func() { recover(); panic("second") }(); panic("first")`, "panic: first [recovered]\n\tpanic: second"},
		{"wrapped", `defer clean(); panic("first")`, "panic: first [recovered]\n\tpanic: cleaned first"},
		{"the second is recovered", `defer func() { recover(); panic("third") }(); defer func() { panic("second") }(); panic("first")`, "panic: first\n\tpanic: second [recovered]\n\tpanic: third"},
		{"recovered inside of a deferred call", `defer func() { func() { defer clean(); panic("second") }() }(); panic("first")`, "panic: first\n\tpanic: second [recovered]\n\tpanic: cleaned second"},
		{"another one recovered inside", `defer func() { try(func() { panic("inner") }); panic("second") }(); panic("first")`, "panic: first\n\tpanic: second"},
		{"only another one recovered", `defer func() { try(both) }(); panic("first")`, "panic: first"},
		{"all recovered before", `defer panic("third"); defer func() { recover() }(); defer panic("second"); panic("first")`, "panic: third"},
		{"recovered as an error", `panic(try(both))`, "panic: second"},
		{"recovered by compiled code", `fmt.Sprint(S{}); fmt.Sprintf("%v", S{}); panic("third")`, "panic: third"},

		{"the same again", `defer again(); panic("first")`, "panic: first [recovered, repanicked]"},
		{"the same twice again", `defer again(); defer again(); panic("first")`, "panic: first [recovered, repanicked]"},
		{"a runtime error again", `defer again(); _ = *nilPointer`, "runtime error: invalid memory address or nil pointer dereference [recovered, repanicked]"},
		{"a slice again", `defer again(); panic([]int{1})`, "panic: ([]int) [1] [recovered]\n\tpanic: ([]int) [1]"},
		{"the same again, and another", `defer panic("second"); defer again(); panic("first")`, "panic: first [recovered, repanicked]\n\tpanic: second"},
		{"the same, not recovered", `defer panic(io.EOF); panic(io.EOF)`, "panic: EOF"},
		{"the same of three", `defer panic("second"); defer panic("first"); panic("first")`, "panic: first\n\tpanic: second"},

		{"Goexit", `defer panic("second"); runtime.Goexit()`, "panic: second"},
		{"Goexit in a deferred call", `defer panic("second"); defer runtime.Goexit(); panic("first")`, "panic: first\n\tpanic: second"},
		{"Goexit after recover", `defer panic("second"); defer func() { recover(); runtime.Goexit() }(); panic("first")`, "panic: first [recovered]\n\tpanic: second"},
		{"Goexit in a called function", `defer panic("second"); func() { defer runtime.Goexit(); panic("first") }()`, "panic: first\n\tpanic: second"},
		{"Goexit ends the panic", `defer func() { panic(fmt.Sprint("sees ", recover())) }(); defer runtime.Goexit(); panic("first")`, "panic: first\n\tpanic: sees <nil>"},
		{"only Goexit", `defer runtime.Goexit(); panic("first")`, "runtime error: the cell has called runtime.Goexit"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got, want := n.outcome("func() {\n"+row.body+"\n}()"), "! "+row.want; got != want {
				t.Errorf("in a function: got\n%s\nwant\n%s", got, want)
			}
			if got, want := n.outcome(row.body), "! "+row.want; got != want {
				t.Errorf("at the top level: got\n%s\nwant\n%s", got, want)
			}
			if row.name == "only Goexit" {
				return
			}
			want := "! " + row.want + "\nin a goroutine of this cell"
			if got := n.outcome("done := make(chan bool)\ngo func() {\ndefer close(done)\n" + row.body + "\n}()\n<-done"); got != want {
				t.Errorf("in a goroutine: got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestReplacedWithoutInternal checks that the panics with which the session ends code are not in the error of a later one, and
// that those that are errors of a cell are.
func TestReplacedWithoutInternal(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	for _, row := range []struct{ src, want string }{
		{"defer func() { panic(\"second\") }()\nif true {\n\treturn\n}", "! panic: second"},
		{"defer func() { panic(\"second\") }()\n_, err := strconv.Atoi(\"a\")\n_, err = strconv.Atoi(\"1\")\n_ = err",
			"! error: err was not read: strconv.Atoi: parsing \"a\": invalid syntax (*strconv.NumError)\n\tpanic: second"},
		{"func deep(n int) int { return deep(n+1) + 1 }\nfunc() { defer func() { panic(\"second\") }(); deep(0) }()",
			"! panic: runtime error: stack overflow: calls are nested too deeply, probably by infinite recursion\n\tpanic: second"},
	} {
		if got := n.outcome(row.src); got != row.want {
			t.Errorf("%q: got\n%s\nwant\n%s", row.src, got, row.want)
		}
	}
}
