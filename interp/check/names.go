package check

import (
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
