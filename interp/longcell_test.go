package interp_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// The statements of a long cell are distributed over functions. A variable that holds a part of a statement, because of
// the order of evaluation, must be in the function of all statements that use it, wherever these are.
func TestLongCells(t *testing.T) {
	var out bytes.Buffer
	s, err := interp.New(interp.Stdout(&out))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var cell strings.Builder
	cell.WriteString("import \"fmt\"\nvar g int\nfunc next() int { g++; return g }\n")
	for i := range 150 {
		fmt.Fprintf(&cell, "m%d := map[int]int{g: next(), next(): g, g + 10: 1, g + 20: next()}\n", i)
	}
	cell.WriteString("for _, m := range []map[int]int{m0, m1, m149} { fmt.Println(m) }")
	if _, err := s.Execute(t.Context(), 1, cell.String()); err != nil {
		t.Fatal(err)
	}
	want := "map[1:1 2:2 12:1 23:3]\nmap[4:4 5:5 15:1 26:6]\nmap[448:448 449:449 459:1 470:450]\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
