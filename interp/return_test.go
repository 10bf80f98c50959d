package interp_test

import (
	"fmt"
	"testing"
)

// A return at the top level ends its cell.
func TestReturn(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"last", "fmt.Println(1)\nreturn", "1\n"},
		{"first", "return\nfmt.Println(1)", ""},
		{"the result is not shown", "x := 3\nreturn\nx", ""},
		{"if", "x := 3\nif x > 2 {\n\tfmt.Println(\"enough\")\n\treturn\n}\nfmt.Println(\"more\")", "enough\n"},
		{"if that is not taken", "x := 1\nif x > 2 {\n\treturn\n}\nx", "= 1"},
		{"else", "if x := 1; x > 2 {\n} else if x > 0 {\n\tfmt.Println(x)\n\treturn\n}\nfmt.Println(\"more\")", "1\n"},
		{"for", "n := 0\nfor i := range 5 {\n\tif i == 3 {\n\t\tfmt.Println(n)\n\t\treturn\n\t}\n\tn += i\n}", "3\n"},
		{"for with a long body", "s := []int{1, 2, 3}\nfor _, x := range s {\n\tfor {\n\t\tif x > 0 {\n\t\t\treturn\n\t\t}\n\t}\n}\nfmt.Println(1)", ""},
		{"switch", "switch x := 2; {\ncase x > 1:\n\tfmt.Println(x)\n\treturn\ndefault:\n}\nfmt.Println(\"more\")", "2\n"},
		{"type switch", "switch any(1).(type) {\ncase int:\n\treturn\n}\nfmt.Println(\"more\")", ""},
		{"select", "c := make(chan int, 1)\nselect {\ncase c <- 1:\n\tfmt.Println(len(c))\n\treturn\n}\nfmt.Println(\"more\")", "1\n"},
		{"block and label", "{\n\tL:\n\treturn\n\tgoto L\n}\nfmt.Println(\"more\")", ""},
		{"deferred calls run", "defer fmt.Println(\"deferred\")\nfmt.Println(1)\nreturn", "1\ndeferred\n"},
		{"recover does not return it", "defer func() { fmt.Println(recover()) }()\nreturn", "<nil>\n"},
		{"variables stay", "y := 4\nreturn\nz := 5", ""},
		{"in a literal", "f := func() int { return 1 }\nf()", "= 1"},
		{"in a goroutine", "c := make(chan int)\ngo func() { defer close(c); return }()\n<-c\nfmt.Println(1)", "1\n"},
		{"an error before it is read", "_, err := strconv.Atoi(\"x\")\nif err != nil {\n\tfmt.Println(\"no\")\n\treturn\n}", "no\n"},
		{"after an error that is not read", "_, err := strconv.Atoi(\"x\")\nreturn", "! error: strconv.Atoi: parsing \"x\": invalid syntax (*strconv.NumError)\nerr is not read in this cell: read it, or write `_ = err`"},
		{"after a command", "%time fmt.Println(1)\nreturn\nfmt.Println(2)", ""},
		{"with a value", "return 1", "! compile error: cell[1]:1:1: a return at the top level ends the cell and has no value: display.Show(x) shows one, and so does x as the last line of the cell\n    return 1\n    ^"},
		{"in a loop over a function", "for x := range slices.Values([]int{1}) {\n\tif x == 1 {\n\t\treturn\n\t}\n}", "! compile error: cell[1]:3:3: a return at the top level cannot leave a loop over a function: use break, or put the loop into a function\n      return\n      ^"},
		{"in a loop in a function literal over a function", "f := func() int {\n\tfor x := range slices.Values([]int{7}) {\n\t\treturn x\n\t}\n\treturn 0\n}\nf()", "= 7"},
		{"in many statements", many(120) + "return\nfmt.Println(1)", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			got := n.run(row.in)
			if row.name == "after a command" {
				if got == "" || got[:8] != "1\ntime: " {
					t.Error(got)
				}
			} else if got != row.want {
				t.Errorf("got\n%s\nwant\n%s", got, row.want)
			}
			n.must(t, "1", "= 1") // the session goes on
		})
	}
}

// many returns a number of statements.
func many(n int) (src string) {
	for i := range n {
		src += fmt.Sprintf("a%d := %d\n", i, i)
	}
	return src
}

// The results of a compiled function are converted to those of the function that returns them, also where no adapter exists for its
// signature, so that package reflect calls it.
func TestReturnConvertsResults(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	for _, row := range []struct{ results, call, want string }{
		{"(any, any, error)", `net.ParseCIDR("10.1.2.3/8")`, "10.1.2.3 10.0.0.0/8 <nil>"},
		{"(fmt.Stringer, fmt.Stringer, any)", `net.ParseCIDR("10.1.2.3/8")`, "10.1.2.3 10.0.0.0/8 <nil>"},
		{"(any, any, any)", `mime.ParseMediaType("text/html; charset=x")`, "text/html map[charset:x] <nil>"},
		{"(any, any, any)", `image.Decode(strings.NewReader("x"))`, "<nil>  image: unknown format"},
		{"(fmt.Stringer, any)", `time.ParseInLocation("2006", "2020", time.UTC)`, "2020-01-01 00:00:00 +0000 UTC <nil>"},
		{"(any, any)", `netip.ParseAddr("10.0.0.1")`, "10.0.0.1 <nil>"},
		{"(any, error)", `url.Parse("http://x/y")`, "http://x/y <nil>"},
		{"(fmt.Stringer, any)", `big.NewInt(7).DivMod(big.NewInt(7), big.NewInt(2), new(big.Int))`, "3 1"},
		{"(any, any)", `new(big.Int).SetString("12", 10)`, "12 true"},
		{"(any, any, any)", `strings.Cut("a=b", "=")`, "a b true"},
		{"(any, any)", `math.Frexp(8)`, "0.5 4"},
		{"(any, any, any)", `time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC).Date()`, "2020 January 2"},
		{"(any, any, any, any)", `color.RGBA{1, 2, 3, 4}.RGBA()`, "257 514 771 1028"},
		{"(any, any)", `func() (a net.IP, b *net.IPNet) { a, b, _ = net.ParseCIDR("10.1.2.3/8"); return }()`, "10.1.2.3 10.0.0.0/8"},
	} {
		for _, form := range []string{"func() %[1]s { return %[2]s }", "func() %[1]s { defer func() {}(); return %[2]s }"} {
			f := fmt.Sprintf(form, row.results, row.call)
			n.must(t, "f := "+f+"\nfmt.Println(f())\nfmt.Println(f())", row.want+"\n"+row.want+"\n")
			n.must(t, "for range slices.Values([]int{1}) {\n\tfmt.Println("+f+"())\n}", row.want+"\n")
			loop := "func() " + row.results + " {\n\tfor range slices.Values([]int{1}) {\n\t\treturn " + row.call + "\n\t}\n\tpanic(1)\n}"
			n.must(t, "fmt.Println("+loop+"())", row.want+"\n")
		}
	}
}
