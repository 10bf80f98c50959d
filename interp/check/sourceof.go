package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SourceOf returns a Go file with the declaration of a function of the session and of everything at package level that it uses, except
// variables. Line directives give the declarations the positions that they have in their cells. ok is false if there is no such function.
func (c *Checker) SourceOf(function string) (text string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.declarations[function]; d == nil || d.body < 0 {
		return "", false
	}
	var order []*declaration
	seen := map[*declaration]bool{}
	imports := map[string]string{}
	var add func(key string)
	add = func(key string) {
		d := c.declarations[key]
		if d == nil || seen[d] {
			return
		}
		seen[d] = true
		order = append(order, d)
		maps.Copy(imports, d.qualifiers)
		for _, used := range slices.Sorted(maps.Keys(d.uses)) {
			add(used)
		}
	}
	add(function)
	var b strings.Builder
	b.WriteString("package main\n")
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&b, "import %s %q\n", name, imports[name])
	}
	for _, d := range order {
		fmt.Fprintf(&b, "/*line %s:%d:%d*/%s\n", Filename(d.cell), d.line, max(d.column, 1), d.text)
	}
	return b.String(), true
}
