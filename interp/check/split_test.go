package check

import (
	"go/token"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"mixed", "import \"fmt\"\nx := 1; y := 2\ntype T int\nfunc f() {}\nfunc (T) M() {}\nvar z int", "i import \"fmt\"|s x := 1|s y := 2|d type T int|d func f() {}|d func (T) M() {}|v var z int"},
		{"literal called", "func() { f() }()\nfunc(a int) T { return a }(1)", "s func() { f() }()|s func(a int) T { return a }(1)"},
		{"comments", "// a\nx := 1 // b\n/* c */ y := 2", "s x := 1 // b|s y := 2"},
		{"label", "loop:\nfor {\n}", "s loop:\nfor {\n}"},
		{"header", "for i := 0; i < 3; i++ { f(); g() }; x", "s for i := 0; i < 3; i++ { f(); g() }|s x"},
		{"raw string", "s := `a;\nb`\nt", "s s := `a;\nb`|s t"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			chunks, _ := split(row.in)
			var got []string
			for _, c := range chunks {
				got = append(got, "idvs"[c.kind:c.kind+1]+" "+row.in[c.start:c.end])
			}
			if text := strings.ReplaceAll(strings.Join(got, "|"), " |", "|"); text != row.want {
				t.Errorf("%q\n got %q\nwant %q", row.in, text, row.want)
			}
		})
	}
}

// FuzzCheck checks that the checker returns a cell or errors for any text, and that every error
// has a position in the text.
func FuzzCheck(f *testing.F) {
	for _, row := range accepted {
		f.Add(row.in)
	}
	for _, row := range rejected {
		f.Add(row.in)
	}
	f.Fuzz(func(t *testing.T, src string) {
		c := newTestChecker()
		lines := strings.Count(src, "\n") + 1
		cell, err := c.Check(t.Context(), 1, src)
		if err != nil {
			list, ok := err.(ErrorList)
			if !ok || len(list) == 0 {
				t.Fatalf("%q: %v is not an ErrorList", src, err)
			}
			for _, e := range list {
				if e.Pos.Filename != Filename(1) || e.Pos.Line < 1 || e.Pos.Line > lines || strings.Contains(e.Msg, "goroutine") {
					t.Fatalf("%q: %v", src, e)
				}
			}
		} else {
			c.Commit(cell)
		}
		if _, err := c.Check(t.Context(), 2, "1 + 1"); err != nil && err.Error() != "" && !strings.Contains(src, "package") {
			t.Fatalf("%q breaks the next cell: %v", src, err)
		}
		IsComplete(src)
		c.Sketch(src, func(*Sketch) {})
	})
}

func TestDocStart(t *testing.T) {
	t.Parallel()
	src := "x := 1 // not this\n// Doc one\n// two.\nfunc f() {}\n\n// apart\n\nfunc g() {}"
	chunks, _ := split(src)
	if got := src[chunks[1].doc:chunks[1].start]; got != "// Doc one\n// two.\n" {
		t.Errorf("doc of f is %q", got)
	}
	if got := src[chunks[2].doc:chunks[2].start]; got != "" {
		t.Errorf("doc of g is %q", got)
	}
	if chunks[0].first != token.IDENT {
		t.Errorf("first token of %q is %s", src, chunks[0].first)
	}
}
