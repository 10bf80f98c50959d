package export

import (
	"fmt"
	"strings"
)

// helpers are the names of the functions that the exporter adds to the program; "" for a function that is
// not needed.
type helpers struct {
	mustName, panicName, noErrorName, panicNoErrorName, valuesName, attemptName string
}

// must returns the name of the function that ends the cell if an error is not nil.
func (p *program) must(c *cell) string {
	if c.MayFail {
		return p.needs.name(p, &p.needs.panicName, "mustInCell")
	}
	return p.needs.name(p, &p.needs.mustName, "must")
}

func (h *helpers) name(p *program, name *string, wanted string) string {
	if *name == "" {
		*name = p.fresh(wanted)
	}
	return *name
}

func (h *helpers) noError(p *program, must string) string {
	if must == h.panicName {
		return h.name(p, &h.panicNoErrorName, "noErrorInCell")
	}
	return h.name(p, &h.noErrorName, "noError")
}

func (h *helpers) values(p *program) string { return h.name(p, &h.valuesName, "values") }

func (h *helpers) attempt(p *program) string { return h.name(p, &h.attemptName, "attempt") }

// text returns the source of the helpers that are needed.
func (h *helpers) text(p *program) string {
	var b strings.Builder
	fmtName, osName := "", ""
	if h.mustName != "" || h.attemptName != "" {
		fmtName, osName = p.imports.safe("fmt", "fmt"), p.imports.safe("os", "os")
	}
	if h.mustName != "" {
		fmt.Fprintf(&b, `
// %[1]s ends the program if err is not nil.
func %[1]s(err error) {
	if err != nil {
		%[2]s.Fprintln(%[3]s.Stderr, err)
		%[3]s.Exit(1)
	}
}
`, h.mustName, fmtName, osName)
	}
	if h.panicName != "" {
		fmt.Fprintf(&b, `
// %[1]s ends the cell if err is not nil.
func %[1]s(err error) {
	if err != nil {
		panic(err)
	}
}
`, h.panicName)
	}
	for _, n := range [][2]string{{h.noErrorName, h.mustName}, {h.panicNoErrorName, h.panicName}} {
		if n[0] == "" {
			continue
		}
		fmt.Fprintf(&b, `
// %[1]s returns the results of a call if its last result, an error, is nil.
func %[1]s(results ...any) []any {
	if err, ok := results[len(results)-1].(error); ok {
		%[2]s(err)
	}
	return results
}
`, n[0], n[1])
	}
	if h.valuesName != "" {
		fmt.Fprintf(&b, `
// %[1]s returns the results of a call as a slice.
func %[1]s(results ...any) []any { return results }
`, h.valuesName)
	}
	if h.attemptName != "" {
		fmt.Fprintf(&b, `
// %[1]s runs a cell and prints its error.
func %[1]s(name string, cell func()) {
	defer func() {
		if failure := recover(); failure != nil {
			%[2]s.Fprintf(%[3]s.Stderr, "%%s failed: %%v\n", name, failure)
		}
	}()
	cell()
}
`, h.attemptName, fmtName, osName)
	}
	return b.String()
}
