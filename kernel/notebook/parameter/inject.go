package parameter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/kernel/notebook"
)

// Set is a list of parameters in the order in which they were given. It is a flag.Value.
type Set []Parameter

// String implements flag.Value.
func (s *Set) String() string { return "" }

// Set implements flag.Value: it parses name=value and adds it.
func (s *Set) Set(text string) error {
	p, err := Parse(text)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(*s, func(q Parameter) bool { return q.Name == p.Name }) {
		return fmt.Errorf("parameter %s is given twice", p.Name)
	}
	*s = append(*s, p)
	return nil
}

// injected is the tag of the cell that Inject creates.
const injected = "injected-parameters"

// Inject inserts a cell that sets the parameters. If there is a cell tagged "parameters",
// the new cell follows it and assigns, so that the types remain; otherwise it is the
// first cell and defines the variables. If a value does not have the type of its
// variable, Inject returns a [*TypeError]; if no cell uses a parameter, an
// [*UnusedError]. The notebook is then unchanged.
func (s Set) Inject(n *notebook.Notebook) error {
	if len(s) == 0 {
		return nil
	}
	if names := s.unused(n); names != nil {
		return &UnusedError{names}
	}
	at, operator := 0, " := "
	for i, c := range n.Cells {
		if c.Type == "code" && c.HasTag("parameters") {
			at, operator = i+1, " = "
			break
		}
	}
	var lines []string
	var errs []error
	for _, p := range s {
		lines = append(lines, p.Name+operator+p.Literal)
		if at > 0 {
			errs = append(errs, p.check(n.Cells[at-1].Source))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	cell := notebook.NewCode("// Parameters\n"+strings.Join(lines, "\n"), injected)
	rest := n.Cells[at:]
	if len(rest) > 0 && rest[0].HasTag(injected) { // from an earlier run
		rest = rest[1:]
	}
	n.Cells = slices.Concat(n.Cells[:at], []*notebook.Cell{cell}, rest)
	return nil
}
