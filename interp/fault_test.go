package interp_test

import (
	"go/types"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// TestFault gives a session a VM whose compiler panics on the type broken. The cell fails with a message that says where the bug is,
// defines nothing, and the session goes on.
func TestFault(t *testing.T) {
	t.Parallel()
	n := newNotebook(t, interp.Broken(func(n *types.Named) bool { return n.Obj().Name() == "broken" }))
	n.must(t, "kept := 1\nfunc f(n int) int { return n }\ntype number int\nfunc (n number) value() int { return int(n) }", "")
	for _, row := range []struct{ name, src, at string }{
		{"function", "type broken interface{ value() int }\nfunc f(n int) int {\n\tvar x broken = number(n)\n\treturn x.value() + 1\n}", "]:4:"},
		{"statement", "type broken interface{ value() int }\nkept = 2\n{\n\tvar x broken = number(1)\n\tfmt.Println(x.value())\n}", "]:5:"},
		{"result", "type broken interface{ value() int }\nkept = 3\nbroken(number(1)).value()", "]:3:"},
		{"method", "type broken interface{ value() int }\ntype M int\nfunc (m M) sum() int {\n\tvar x broken = number(m)\n\treturn x.value()\n}\nM(4).sum()", "]:5:"},
	} {
		got := n.run(row.src)
		if !strings.Contains(got, "a bug in Quern") || !strings.Contains(got, row.at) || !strings.Contains(got, "broken") {
			t.Errorf("%s: %s", row.name, got)
		}
		n.must(t, "fmt.Print(kept, f(7), number(3).value())", "1 7 3")
	}
}
