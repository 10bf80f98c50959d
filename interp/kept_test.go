package interp_test

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// Loops of cells change variables of the session. Whether they are in registers meanwhile must not be seen: not by functions, pointers and
// goroutines, not after a panic, and not in the next cell.
func TestVariablesOfLoops(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		cells []string
		want  string // what the last cell does
	}{
		{"numbers of all kinds", []string{
			"var a int8 = 120\nvar b uint16 = 65530\nvar c float32 = 0.5\nvar d complex64\nvar e bool\nvar f uint64\nvar g rune = 'a'\nvar h uintptr\nvar c128 complex128\nfor i := range 10 { a += 2; b += 3; c *= 2; d += complex(0, 1); e = !e; f -= 1; g++; h += 2; c128 += complex(float64(i), 0) }",
			"fmt.Sprint(a, b, c, d, e, f, g, h, c128)"}, `= "-116 24 512 (0+10i) false 18446744073709551606 107 20 (45+0i)"`},
		{"references", []string{
			"var s []int\nm := map[string]int{}\ntext := \"\"\nvar x any\nvar p *int\nvar err error\nvar f func() int\nvar ch chan int\nfor i := range 4 { s = append(s, i); m[text]++; text += \"a\"; x = i; p = &s[0]; err = io.EOF; f = func() int { return 7 }; ch = make(chan int, i) }",
			"fmt.Sprint(s, m, text == \"aaaa\", x, *p, err, f(), cap(ch))"}, `= "[0 1 2 3] map[:1 a:1 aa:1 aaa:1] true 3 0 EOF 7 3"`},
		{"a panic", []string{"n, s := 0, []int{1, 2, 3}\ntext := \"\"", "for i := range 10 { n += s[i]; text += \"x\" }", "n, text"}, `= 6, "xxx"`},
		{"a panic of a nil pointer", []string{"type node struct{ v int; next *node }\nlist := &node{1, &node{2, nil}}\nsum := 0\nfor { sum += list.v; list = list.next }", "sum, list == nil"}, "= 3, true"},
		{"a panic in a function", []string{"n := 0\nfunc f(i int) int { return 10 / (3 - i) }\nfor i := 0; ; i++ { n += f(i) }", "n"}, "= 18"},
		{"a panic that a deferred call recovers", []string{"n := 0\ndefer func() { recover() }()\nfor i := range 5 { n += 1 / (2 - i); n += 10 }", "n"}, "= 21"},
		{"runtime.Goexit", []string{"n := 0\nfor i := range 5 { n++; if i == 2 { runtime.Goexit() } }", "n"}, "= 3"},
		{"return", []string{"n := 0\nfor { n++; if n == 5 { return } }", "n"}, "= 5"},
		{"break and continue", []string{"n, k := 0, 0\nouter: for i := range 10 { for j := range 10 { if j == 3 { k++; continue outer }; if i == 4 { break outer }; n++ } }", "n, k"}, "= 12, 4"},
		{"break of a switch around the loop", []string{"n := 0\nchoice: switch { default: for { n++; if n == 3 { break choice } } }\nn += 10", "n"}, "= 13"},
		{"goto", []string{"n := 0\nagain: for i := range 3 { n += i }\nif n < 9 { goto again }", "n"}, "= 9"},
		{"a function reads and writes", []string{"total := 0\nfunc add(n int) { total += n }\nfor i := range 4 { add(i); total *= 2 }", "total"}, "= 22"},
		{"a function of a later cell", []string{"total := 1", "func double() { total *= 2 }", "for range 3 { double(); total++ }", "total"}, "= 15"},
		{"a function of an earlier cell, variable declared again", []string{"total := 1\nfunc double() { total *= 2 }", "total := 2\nfor range 3 { double(); total++ }", "total"}, "= 23"},
		{"a method", []string{"calls := 0\ntype T int\nfunc (t T) M() int { calls += int(t); return calls }\nfor i := range 4 { calls += T(i).M() }", "calls"}, "= 11"},
		{"a generic function", []string{"calls := 0\nfunc each[E any](list []E, f func(E)) { for _, x := range list { calls++; f(x) } }", "for i := range 3 { each([]int{1, 2}, func(int) {}); calls += 10 * i }", "calls"}, "= 36"},
		{"a generic function of the same cell", []string{"calls := 0\nfunc count[E any](E) { calls++ }\nfor i := range 3 { count(i); count(\"\"); calls *= 2 }", "calls"}, "= 28"},
		{"a closure", []string{"n := 0\nf := func() int { n++; return n }\nfor range 3 { n += f() }", "n"}, "= 14"},
		{"a closure of an earlier cell", []string{"n := 0\nf := func() { n *= 2 }", "for range 3 { n++; f() }", "n"}, "= 14"},
		{"a closure in the loop", []string{"n := 0\nfor range 3 { func() { n++ }(); n *= 2 }", "n"}, "= 14"},
		{"a pointer", []string{"n := 0\np := &n\nfor range 3 { *p += 1; n *= 2 }", "n"}, "= 14"},
		{"a pointer of an earlier cell", []string{"n := 0\np := &n", "for range 3 { *p += 1; n *= 2 }", "n"}, "= 14"},
		{"a method with a pointer receiver", []string{"type C int\nfunc (c *C) up() { *c++ }\nvar c C\nfor range 3 { c.up(); c *= 2 }", "c"}, "= 14"},
		{"an iterator", []string{"n := 0\nfunc seq(yield func(int) bool) { for i := range 3 { n *= 2; if !yield(i) { return } } }\nfor range 2 { for i := range seq { n += i + 1 } }", "n"}, "= 99"},
		{"goroutines", []string{"n := 0\nvar mu sync.Mutex\nvar wg sync.WaitGroup\nfor range 5 { wg.Add(1); go func() { defer wg.Done(); mu.Lock(); n++; mu.Unlock() }() }\nfor wg.Wait(); n < 10; n++ { }", "n"}, "= 10"},
		{"the variable of the loop", []string{"i := 5\nvar v string\nfor i = 0; i < 3; i++ { }\nfor _, v = range []string{\"a\", \"b\"} { }", "i, v"}, `= 3, "b"`},
		{"the variable of a range", []string{"var i int\nfor i = range 10 { if i == 4 { break } }", "i"}, "= 4"},
		{"several results", []string{"var n int\nvar err error\nfor _, s := range []string{\"1\", \"x\", \"3\"} { if n, err = strconv.Atoi(s); err != nil { break } }", "n, err"}, "= 0, strconv.Atoi: parsing \"x\": invalid syntax"},
		{"two variables exchanged", []string{"a, b := 0, 1\nfor range 10 { a, b = b, a+b }", "a, b"}, "= 55, 89"},
		{"the same cell twice", []string{"s := 0\nfor i := range 5 { s += i }", "s := 0\nfor i := range 5 { s += i }", "s"}, "= 10"},
		{"hidden in the loop", []string{"n := 1\nfor i := range 3 { n := i; n++; _ = n }\nfor range 2 { n++ }", "n"}, "= 3"},
		{"structs and arrays", []string{"type P struct{ x, y int }\np, a := P{1, 2}, [3]int{}\nfor i := range 3 { p.x += i; a[i] = p.x; p = P{p.y, p.x} }", "p, a"}, "= {x:3 y:3}, [1 3 3]"},
		{"condition with a call", []string{"n := 0\nfunc less() bool { return n < 5 }\nfor less() { n++ }", "n"}, "= 5"},
		{"select and channels", []string{"n, ch := 0, make(chan int, 3)\nfor n < 3 { select { case ch <- n: n++ } }\nfor range 3 { n += <-ch }", "n"}, "= 6"},
		{"type switch", []string{"ints, others := 0, 0\nfor _, x := range []any{1, \"a\", 2} { switch x := x.(type) { case int: ints += x; default: others++ } }", "ints, others"}, "= 3, 1"},
		{"a loop of a function", []string{"s := []int{1, 2, 3}\nfunc grow() { s = append(s, len(s)) }\nfunc f() int { t := 0; for i := 0; i < len(s) && i < 6; i++ { grow(); t += s[i] }; return t }", "f(), len(s)"}, "= 18, 9"},
		{"a loop of a function, variable declared again", []string{"n := 1\nfunc f() int { t := 0; for range 3 { t += n }; return t }", "n := 5", "n + f()"}, "= 20"},
		{"a loop of a function with many variables", []string{"v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17 := 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17\nfunc f() int { t := 0; for range 2 { t += v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9 + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17; func() { v17++ }() }; return t }", "f(), v17"}, "= 307, 19"},
		{"a redeclared function in use", []string{"n := 0\nfunc f() { }", "func f() { n++ }", "for range 3 { f(); n *= 2 }", "n"}, "= 14"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			last := len(row.cells) - 1
			for _, src := range row.cells[:last] {
				if out := n.run(src); strings.Contains(out, "! ") && !strings.Contains(out, "panic") && !strings.Contains(out, "runtime error") && !strings.Contains(out, "Goexit") {
					t.Fatalf("%q: %s", src, out)
				}
			}
			n.must(t, row.cells[last], row.want)
		})
	}
}

// What a loop of an interrupted cell has computed is there, whether the cell has ended or is left behind in compiled code.
func TestVariablesOfInterruptedLoops(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, src string
		stuck     bool
	}{
		{"loop", "for { k++; if k == 5 { fmt.Println(\"go\"); for { } } }", false},
		{"sleep", "for { k++; if k == 5 { fmt.Println(\"go\"); time.Sleep(time.Hour) } }", false},
		{"compiled code", "for { k++; if k == 5 { fmt.Println(\"go\"); r.Read(buffer) } }", true},
		{"compiled code in an expression", "for { k++; if k == 5 { fmt.Println(\"go\"); k += len(fmt.Sprint(io.ReadAll(r))) } }", true},
		{"compiled code in a function", "for { k++; if k == 5 { fmt.Println(\"go\"); wait(k) } }", true},
		{"compiled code in a closure", "f := func() { r.Read(buffer) }\nfor { k++; if k == 5 { fmt.Println(\"go\"); f() } }", true},
		{"compiled code in a condition", "for k < 5 || read() { k++; if k == 5 { fmt.Println(\"go\") } }", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if raceEnabled && row.stuck {
				t.Skip("the next cell reads what a goroutine that was left behind has written")
			}
			n := newNotebook(t)
			interp.BePrompt(n.Session)
			n.must(t, "r, w := io.Pipe()\nbuffer := make([]byte, 1)\nfunc wait(n int) { r.Read(buffer) }\nfunc read() bool { r.Read(buffer); return true }\nk := 0", "")
			if e := interruptAt(t, n, row.src); e.Name != "interrupted" || e.Stuck != row.stuck {
				t.Errorf("ended with %v", e)
			}
			n.must(t, "k", "= 5")
			n.must(t, "w.Close()", "")
		})
	}
}
