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
