package check

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Known reports whether earlier cells define or import a name.
func (c *Checker) Known(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lookup(name) != nil || c.imports[name] != ""
}

// Variables returns the variables of earlier cells, sorted by name.
func (c *Checker) Variables() []*types.Var {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*types.Var
	for _, name := range slices.Sorted(maps.Keys(c.live)) {
		if v, ok := c.live[name].(*types.Var); ok && !strings.Contains(name, "ʹ") {
			list = append(list, v)
		}
	}
	return list
}

// Reset removes the definitions and imports of all cells, except for some names.
func (c *Checker) Reset(except ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.live {
		if !slices.Contains(except, name) {
			delete(c.live, name)
		}
	}
	clear(c.hidden)
	clear(c.imports)
	clear(c.declarations)
	clear(c.importers)
	clear(c.shares)
	clear(c.redefined)
	clear(c.fromPackage)
	clear(c.wasBroken)
	clear(c.noted)
	c.dots = nil
}

// Statements returns the start and end offsets of the chunks of a cell, which are declarations and
// statements without a package clause. The end is that of the last token.
func Statements(src string) [][2]int {
	chunks, _ := split(src)
	var list [][2]int
	for _, c := range chunks {
		if c.kind != packageChunk {
			list = append(list, [2]int{c.start, c.last})
		}
	}
	return list
}

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
