package lower

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/quernlab/quern/interp/vm"
)

// Explain describes the unit for people who want to know how a cell runs: the variables that yaegi declares, and the instructions of each
// function, below the lines of the cell that they belong to. position is Program.Position.
func (u *Unit) Explain(position func(number int) (token.Position, bool), text string) string {
	var b strings.Builder
	if len(u.variables) > 0 {
		fmt.Fprintf(&b, "yaegi declares the variables %s\n\n", strings.Join(u.variables, ", "))
	}
	lines := strings.Split(text, "\n")
	for _, f := range u.Machine.Listing() {
		explainFunction(&b, f, func(number int) (int, string) {
			p, ok := position(number)
			if _, isCell := cellNumber(p.Filename); !ok || !isCell || p.Line > len(lines) {
				return 0, ""
			}
			return p.Line, strings.TrimSpace(lines[p.Line-1])
		})
	}
	return b.String()
}

func explainFunction(b *strings.Builder, f vm.Listed, line func(number int) (int, string)) {
	name, _, _ := strings.Cut(f.Name, "ʹ")
	switch {
	case strings.HasPrefix(f.Name, "bodyʹ"):
		name = "the statements of the cell"
	case f.Name == "":
		name = "a call that is deferred, started or stored"
	case strings.HasSuffix(f.Name, ".func"):
		name = "a function literal in " + name
	}
	fmt.Fprintf(b, "%s: %d instructions", name, len(f.Instructions))
	if len(f.Calls) > 0 {
		fmt.Fprintf(b, ", calls %s", strings.Join(f.Calls, ", "))
	}
	b.WriteByte('\n')
	last := 0
	for _, in := range f.Instructions {
		if n, text := line(in.Position); n != 0 && n != last {
			fmt.Fprintf(b, "%4d  %s\n", n, text)
			last = n
		}
		fmt.Fprintf(b, "          %s\n", in.Text)
	}
	b.WriteByte('\n')
}
