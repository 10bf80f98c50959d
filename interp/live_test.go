package interp_test

import (
	"testing"
	"time"
)

func TestInspectValue(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "type point struct{ X, Y int }\ntype loud int\nfunc (loud) String() string { panic(1) }\n"+
		"x := 42\ns := \"a  b\"\np := point{1, 2}\nm := map[string][]int{\"a\": {1}}\nl := loud(1)\nvar e error\nlong := make([]int, 1000)\nf := func() {}", "")
	for _, row := range []struct{ name, want string }{
		{"x", "var x int = 42"},
		{"s", "var s string = \"a  b\""},
		{"p", "var p point = {X:1 Y:2}"},
		{"m", "var m map[string][]int = map[a:[1]]"},
		{"l", "var l loud"},
		{"e", "var e error"},
		{"f", "var f func()"},
		{"point", "type point struct{ X, Y int }"},
	} {
		if data := n.Inspect(row.name, 0, 0); data["text/plain"] != row.want {
			t.Errorf("%s: got %q, want %q", row.name, data["text/plain"], row.want)
		}
	}
	if text, _ := n.Inspect("long", 0, 0)["text/plain"].(string); len(text) > 300 {
		t.Errorf("a long value takes %d bytes", len(text))
	}
	// While a cell runs there is no value, and no wait for it.
	done := make(chan string)
	go func() { done <- n.run("fmt.Println(1)\n<-ctx.Done()") }()
	for n.out.peek() == "" {
		time.Sleep(time.Millisecond) // polls for the output of the cell
	}
	if got := n.Inspect("x", 0, 0)["text/plain"]; got != "var x int" {
		t.Errorf("while a cell runs: %q", got)
	}
	n.Interrupt()
	<-done
}
