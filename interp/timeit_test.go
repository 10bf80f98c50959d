package interp_test

import (
	"regexp"
	"testing"
)

// measured replaces the times that %timeit prints, and nothing else.
var measured = regexp.MustCompile(`(?m)^\d[\d.e+]* [nµm]?s ± \d[\d.e+]* [nµm]?s per loop \(mean ± standard deviation of (\d+ runs?) of (\d[\d\x{a0}]* loops?)\)$`)

func TestTimeit(t *testing.T) {
	t.Parallel()
	const one = "time of 1 run of 1 loop\n"
	for _, row := range []struct{ name, in, want string }{
		{"loops and runs", "n := 0\n%timeit -n 10 -r 3 n++\nn", "time of 3 runs of 10 loops\n= 30"},
		{"seven runs", "n := 0\n%timeit -n 2 n++\nn", "time of 7 runs of 2 loops\n= 14"},
		{"options without a space", "n := 0\n%timeit -n10 -r1 n++\nn", "time of 1 run of 10 loops\n= 10"},
		{"options in another order", "n := 0\n%timeit -r 2\t-n 4  n += 2\nn", "time of 2 runs of 4 loops\n= 16"},
		{"a value", "%timeit -n1 -r1 1 + 2", one},
		{"a value that starts with a minus", "x := 3\n%timeit -n1 -r1 (-x)", one},
		{"a built-in function", "s := []int{1}\n%timeit -n1 -r1 len(s)", one},
		{"a built-in function of constants", "%timeit -n1 -r1 max(1, 2)", one},
		{"append", "s := []int{1}\n%timeit -n1 -r1 append(s, 2)", one},
		{"a conversion", "type T int\n%timeit -n1 -r1 T(1)", one},
		{"a receive", "c := make(chan int, 1)\nc <- 1\n%timeit -n1 -r1 <-c", one},
		{"a call without values", "%timeit -n2 -r1 fmt.Println(\"x\")", "x\nx\ntime of 1 run of 2 loops\n"},
		{"a call with two values", "%timeit -n1 -r1 strconv.Atoi(\"1\")", one},
		{"several lines", "n := 0\n%timeit -n 2 -r 1 for range 3 {\n\tn++\n}\nn", "time of 1 run of 2 loops\n= 6"},
		{"two statements in a line", "n := 0\n%timeit -n 2 -r 1 n++; n += 10\nn", "time of 1 run of 2 loops\n= 12"},
		{"a comment", "n := 0\n%timeit -n 2 -r 1 n++ // more\nn", "time of 1 run of 2 loops\n= 2"},
		{"twice", "n := 0\n%timeit -n1 -r1 n++\n%timeit -n1 -r1 n++\nn", one + one + "= 2"},
		{"a variable is local", "x := 1\n%timeit -n1 -r1 x := 2\nx", one + "= 1"},
		{"a literal", "%timeit -n1 -r1 func() { fmt.Println(1) }()", "1\n" + one},
		{"redefined int", "type int string\n%timeit -n1 -r1 1 + 2", one + "stderr: note: int is predeclared in Go: this cell redefines it, also for later cells (cell[1]:1:6)\n"},
		{"return", "n := 0\n%timeit -n 3 -r 1 if n++; n > 1 { return }\nn", "time of 1 run of 3 loops\n= 3"},
		{"return ends only the loop", "%timeit -n1 -r1 return\n2", one + "= 2"},
		{"break and continue", "n := 0\n%timeit -n 3 -r 1 for { n++; if n == 1 { continue }; break }\nn", "time of 1 run of 3 loops\n= 4"},
		{"defer", "n := 0\n%timeit -n 3 -r 1 defer func() { n++ }()\nn", "time of 1 run of 3 loops\n= 3"},
		{"cell", "%%timeit -n 3 -r 2\nn := 0\nfor range 2 {\n\tn++\n}\nfmt.Println(n)", "2\n2\n2\n2\n2\n2\ntime of 2 runs of 3 loops\n"},
		{"cell below preparation", "n := 0\n%%timeit -n 3 -r 1\nn++\nn += 10\n", "time of 1 run of 3 loops\n"},
		{"cell with defer", "var mu sync.Mutex\n%%timeit -n 3 -r 1\nmu.Lock()\ndefer mu.Unlock()", "time of 1 run of 3 loops\n"},
		{"cell with var", "%%timeit -n 1 -r 1\nvar x = 2\nfmt.Println(x)", "2\n" + one},
		{"cell with a function", "%%timeit -n 1 -r 1\nfunc f() int { return 4 }\nfmt.Println(f())", "4\n" + one},
		{"cell with a value", "%%timeit -n 1 -r 1\nx := 1\nx + 1", one},
		{"cell without the last value", "%%timeit -n 1 -r 1\nx := 1\nx + 1;", one},
		{"program", "%%timeit -n 2 -r 1\npackage main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }", "1\n1\ntime of 1 run of 2 loops\n"},
		{"main", "%%timeit -n 2 -r 1\nfunc main() { fmt.Println(1) }\nmain()", "1\n1\ntime of 1 run of 2 loops\n"},
		{"goroutines", "%%timeit -n 2 -r 1\nc := make(chan int)\ngo func() { c <- 1 }()\n<-c", "time of 1 run of 2 loops\n"},
		{"an error that is read", "_, err := os.Open(\"/none\")\n%timeit -n1 -r1 if err != nil { fmt.Println(1) }", "1\n" + one},
		{"an error as a value", "%timeit -n1 -r1 errors.New(\"x\")", one},

		{"panic", "%timeit panic(1)", "! panic: 1"},
		{"index", "s := []int{}\n%timeit s[0]", "! runtime error: index out of range [0] with length 0"},
		{"returned error", "%timeit os.ReadFile(\"/none\")", "! error: open /none: no such file or directory (*fs.PathError)"},
		{"returned error of a cell", "%%timeit\nx := \"/none\"\nos.ReadFile(x)", "! error: open /none: no such file or directory (*fs.PathError)"},
		{"returned error with return", "%%timeit\nif false { return }\nos.ReadFile(\"/none\")", "! error: open /none: no such file or directory (*fs.PathError)"},
		{"error of a function", "func f() error { return errors.New(\"no\") }\n%timeit f()", "! error: no"},
		{"unread error", "%timeit _, err := strconv.Atoi(\"x\")", "! error: strconv.Atoi: parsing \"x\": invalid syntax (*strconv.NumError)\nerr is not read in this cell: read it, or write `_ = err`"},
		{"nothing runs after a failure", "%timeit panic(1)\nfmt.Println(1)", "! panic: 1"},
		{"column", "%timeit  -n1 f(undefinedName)", "! compile error: cell[1]:1:14: undefined: f\n    %timeit  -n1 f(undefinedName)\n                 ^\ncell[1]:1:16: undefined: undefinedName\n    %timeit  -n1 f(undefinedName)\n                   ^"},
		{"line", "%%timeit -n1\n\nx := undefinedName", "! compile error: cell[1]:3:6: undefined: undefinedName\n    x := undefinedName\n         ^"},
		{"break of the loop", "%timeit break", "! compile error: cell[1]:1:9: break not in for, switch, or select statement\n    %timeit break\n            ^"},
		{"no statement", "%timeit -n 3", "! compile error: cell[1]:1:1: %timeit needs a statement: %timeit f(), or %%timeit for the whole cell\n    %timeit -n 3\n    ^"},
		{"nothing below", "%%timeit", "! compile error: cell[1]:1:1: there is no statement to time: a declaration of a function or type, or an import, is none\n    %%timeit\n    ^"},
		{"a declaration", "%timeit func f() {}\n1", "! compile error: cell[1]:1:1: there is no statement to time: a declaration of a function or type, or an import, is none\n    %timeit func f() {}\n    ^"},
		{"no number", "%timeit -n x", "! compile error: cell[1]:1:1: %timeit needs a number from 1 to 1000000000 behind -n; a statement that begins with a minus needs parentheses\n    %timeit -n x\n    ^"},
		{"zero", "%timeit -r 0 f()", "! compile error: cell[1]:1:1: %timeit needs a number from 1 to 1000000000 behind -r; a statement that begins with a minus needs parentheses\n    %timeit -r 0 f()\n    ^"},
		{"unknown option", "%timeit -o f()", "! compile error: cell[1]:1:1: %timeit has no option -o: its options are -n and -r; a statement that begins with a minus needs parentheses\n    %timeit -o f()\n    ^"},
		{"a statement behind %%timeit", "%%timeit x := 1\nx++", "! compile error: cell[1]:1:1: %%timeit times the lines below it: move x := 1 there, or to an earlier cell if it only prepares them\n    %%timeit x := 1\n    ^"},
		{"a command below", "%%timeit\n!ls", "! compile error: cell[1]:2:1: %%timeit cannot time a command\n    !ls\n    ^"},
		{"a list", "%timeit 1, 2", "! compile error: cell[1]:1:9: expected 1 expression\n    %timeit 1, 2\n            ^"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			got := measured.ReplaceAllString(n.run(row.in), "time of $1 of $2")
			if got != row.want {
				t.Errorf("got\n%s\nwant\n%s", got, row.want)
			}
			n.must(t, "1", "= 1") // the session goes on
		})
	}
}

// Without -n, a run takes at least a fifth of a second, or the greatest number of loops.
func TestTimeitLoops(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	got := n.run("calls := 0\nvar took time.Duration\n%%timeit -r 1\nstart := time.Now()\nfor i := range 1000 {\n\tcalls += i & 1\n}\ntook += time.Since(start)")
	m := measured.FindStringSubmatch(got)
	if m == nil || m[1] != "1 run" || m[2] == "1 loop" {
		t.Fatal(got)
	}
	n.must(t, "took > 200*time.Millisecond", "= true")
}
