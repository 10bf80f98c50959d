package interp_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// TestLargeLiterals runs literals of many elements.
func TestLargeLiterals(t *testing.T) {
	t.Parallel()
	const types = "type P struct { A int; B string; C *P; d any }\nfunc (p P) Sum() int { return p.A + len(p.B) }\ntype S interface{ Sum() int }\ntype E int\n" +
		"calls := 0\nnext := func() int { calls++; return calls }\n"
	for _, row := range []struct{ begin, element, show, want string }{
		{"x := []P{\n", "{%[1]d, \"s%[1]d\", nil, %[1]d},\n", "fmt.Sprint(len(x), x[%[1]d].Sum(), x[%[1]d].d)", "150 80 77"},
		{"x := []*P{\n", "{A: %[1]d, C: &P{B: \"in\"}},\n", "fmt.Sprint(len(x), x[%[1]d].A, x[%[1]d].C.B, x[0] != x[1])", "150 77intrue"},
		{"var x = []P{\n", "{A: %[1]d},\n", "fmt.Sprint(len(x), x[%[1]d].A)", "150 77"},
		{"var x []S = []S{\n", "P{A: %[1]d},\n", "fmt.Sprint(len(x), x[%[1]d].Sum())", "150 77"},
		{"var x any = []E{\n", "%[1]d,\n", "fmt.Sprintf(\"%%T %%v\", x, x.([]E)[%[1]d])", "[]main.E 77"},
		{"x := map[string]P{\n", "\"k%[1]d\": {A: %[1]d},\n", "fmt.Sprint(len(x), x[\"k%[1]d\"].A)", "150 77"},
		{"x := map[P]int{\n", "{A: %[1]d}: %[1]d,\n", "fmt.Sprint(len(x), x[P{A: %[1]d}])", "150 77"},
		{"x := [...]int{\n", "%[1]d: 2 * %[1]d,\n", "fmt.Sprint(len(x), x[%[1]d])", "150 154"},
		{"x := [][2]float64{\n", "{%[1]d, 0.5},\n", "fmt.Sprint(len(x), x[%[1]d])", "150 [77 0.5]"},
		{"x := []any{\n", "%[1]d, \"s\", E(%[1]d), P{A: %[1]d}, nil,\n", "fmt.Sprintf(\"%%v %%T %%T\", len(x), x[2], x[3])", "750 main.E main.P"},
		{"x := []int{\n", "next(),\n", "fmt.Sprint(calls == len(x), x[%[1]d])", "true 78"},
		{"x := []complex128{\n", "%[1]d + 1i,\n", "fmt.Sprint(len(x), x[%[1]d])", "150 (77+1i)"},
		{"x := []func() int{\n", "func() int { return %[1]d + calls },\n", "fmt.Sprint(len(x), x[%[1]d]())", "150 77"},
		{"x := []time.Duration{\n", "%[1]d * time.Second,\n", "fmt.Sprint(len(x), x[%[1]d])", "150 1m17s"},
		{"x, y := 1, []string{\n", "\"%[1]d\",\n", "fmt.Sprint(x, len(y), y[%[1]d])", "1 15077"},
	} {
		n := newNotebook(t)
		show := strings.ReplaceAll(strings.ReplaceAll(row.show, "%[1]d", "77"), "%%", "%")
		var elements strings.Builder
		for i := range 150 {
			elements.WriteString(strings.ReplaceAll(row.element, "%[1]d", strconv.Itoa(i)))
		}
		got := n.run(types+row.begin+elements.String()+"}\n") + n.run(show) + n.run("x = x\n"+show)
		if want := "= \"" + row.want + "\""; got != want+want {
			t.Errorf("%s\n got %s\nwant %s twice", row.begin, got, want)
		}
	}
	n := newNotebook(t)
	_, err := n.Execute(context.Background(), 1, "var p *struct{ a int }\nx := []int{\n"+times(150, "%[1]d,\n")+"p.a,\n}")
	if err == nil || !strings.Contains(strings.Join(err.(*interp.Error).Traceback, "\n"), "p.a") {
		t.Errorf("the panic does not say where: %v", err)
	}
	n.must(t, "y := 3", "")
}

// A literal of many structs takes little memory for each of them.
func TestMemoryOfLiterals(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates by itself")
	}
	for _, begin := range []string{"x := []P{\n", "var x = []P{\n", "x := []*P{\n"} {
		n := newNotebook(t)
		const count = 5000
		src := "type P struct { A int; B string }\n" + begin + times(count, "{%[1]d, \"s%[1]d\"},\n") + "}\nlen(x)"
		if each := allocated(func() { n.must(t, src, "= 5000") }) / count; each > 7000 {
			t.Errorf("%s: %d bytes for each struct", begin, each)
		}
	}
}
