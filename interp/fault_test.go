package interp_test

import (
	"errors"
	"go/types"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// TestFault gives a session a VM whose compiler panics on the type broken. The code that uses it runs in the interpreter, with
// the same results, and a note says where the bug is.
func TestFault(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, interp.Broken(func(n *types.Named) bool { return n.Obj().Name() == "broken" }))
	n.must(t, "type broken interface{ value() int }\ntype whole interface{ value() int }\ntype number int\nfunc (n number) value() int { return int(n) }", "")
	for _, row := range []struct{ name, src, want, line string }{
		{"function", "func f(n int) (s int) {\n\tfor i := range n {\n\t\tvar x broken = number(i)\n\t\ts += x.value()\n\t}\n\treturn s\n}\nf(1000)", "499500", "3"},
		{"loop", "s := 0\nfor i := range 1000 {\n\ts += i\n\tvar x broken = number(i)\n\ts += x.value()\n}\ns", "999000", "4"},
		{"result", "func h(n number) int {\n\treturn broken(n).value()\n}\nh(3)", "3", "2"},
		{"method", "type M int\nfunc (m M) sum() int {\n\tvar x broken = number(m)\n\treturn x.value()\n}\nM(4).sum()", "4", "3"},
		{"function without the type", "func g(n int) (s int) {\n\tfor i := range n {\n\t\tvar x whole = number(i)\n\t\ts += x.value()\n\t}\n\treturn s\n}\ng(1000)", "499500", ""},
	} {
		got := n.run(row.src)
		note, _, noted := strings.Cut(got, "\n")
		switch {
		case !strings.HasSuffix(strings.TrimSpace(got), row.want):
			t.Errorf("%s: %q, want %s", row.name, got, row.want)
		case row.line == "" && noted && strings.Contains(got, "note:"):
			t.Errorf("%s: %q", row.name, got)
		case row.line != "" && (!strings.Contains(note, "please report") || !strings.Contains(note, "]:"+row.line+":") || !strings.Contains(note, "broken")):
			t.Errorf("%s: the note is %q, want line %s", row.name, got, row.line)
		}
	}
}

// TestFaultInTests checks that a bug of the VM's compiler fails tests.
func TestFaultInTests(t *testing.T) {
	t.Parallel()
	want := errors.New("broken")
	defer func() {
		if got := recover(); got != any(want) {
			t.Errorf("panic %v, want %v", got, want)
		}
	}()
	interp.ReportFault(want)
}
