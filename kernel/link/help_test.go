package link

import "testing"

func TestHelp(t *testing.T) {
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
		{"x ?", "x", 0},
		{"accel.Fit ??", "accel.Fit", 1},
		{"? x", "x", 0},
		{"??", "", 0},
		{"x y?", "", 0},
		{"x\n?", "", 0},
		{"1x?", "", 0},
		{"f(x)?", "", 0},
		{"x := 1\nx?", "", 0},
		{`s := "really?"`, "", 0},
		{"// why?", "", 0},
	} {
		want := Inspect{Code: row.name, Offset: len(row.name), Detail: row.detail}
		if asked, ok := Help(row.code); asked != want || ok != (row.name != "") {
			t.Errorf("%q: got %+v, %t, want %+v", row.code, asked, ok, want)
		}
	}
}
