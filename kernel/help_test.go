package kernel

import "testing"

func TestAsksForHelp(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		code, name string
		detail     int
	}{
		{"fmt?", "fmt", 0},
		{"fmt.Println?", "fmt.Println", 0},
		{" a.b.c?? \n", "a.b.c", 1},
		{"größe?", "größe", 0},
		{"_x1?", "_x1", 0},
		{"?fmt.Println", "fmt.Println", 0},
		{"??x", "x", 1},
		{"%time?", "%time", 0},
		{"?%%bash", "%%bash", 0},
		{"?x?", "", 0},
		{"???x", "", 0},
		{"%?", "", 0},
		{"%%%x?", "", 0},
		{"fmt", "", 0},
		{"?", "", 0},
		{"x???", "", 0},
		{"x ?", "", 0},
		{"1x?", "", 0},
		{"f(x)?", "", 0},
		{"x := 1\nx?", "", 0},
		{`s := "really?"`, "", 0},
		{"// why?", "", 0},
	} {
		name, detail, ok := asksForHelp(row.code)
		if name != row.name || detail != row.detail || ok != (row.name != "") {
			t.Errorf("%q: got %q, %d, %t, want %q, %d", row.code, name, detail, ok, row.name, row.detail)
		}
	}
}
