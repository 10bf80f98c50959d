package check

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Declarations that depend on a redefined name.
//
// If a cell redefines a name, the declarations of earlier cells that use the name join the cell, and
// so do those that use these. They are all checked and compiled against the new definition. A
// function that no longer type-checks keeps its signature and panics when it is called. A type or
// constant that no longer type-checks stays as it was.

// plan says how earlier declarations take part in a cell. From one attempt to the next, entries are
// only added.
type plan struct {
	carried  []*declaration
	broken   map[*declaration]*Error // the body is replaced by a panic
	dropped  map[*declaration]*Error // left as they were
	keptKeys map[string]bool         // the keys of the declarations in kept
	kept     map[int]bool            // indices of chunks that repeat a live type or method word for word
}

func newPlan() *plan {
	return &plan{broken: map[*declaration]*Error{}, dropped: map[*declaration]*Error{}}
}

// active returns the carried declarations that are part of the file.
func (p *plan) active() []*declaration {
	var list []*declaration
	for _, d := range p.carried {
		if p.dropped[d] == nil {
			list = append(list, d)
		}
	}
	return list
}

// source returns the text of a carried declaration.
func (p *plan) source(d *declaration) string {
	e := p.broken[d]
	if e == nil {
		return d.text
	}
	return d.text[:d.body] + fmt.Sprintf("{ panic(%q) }", fmt.Sprintf("%s no longer compiles: %s", d.keys[0], e.firstLine()))
}

// firstLine returns the first line of the error.
func (e *Error) firstLine() string {
	line, _, _ := strings.Cut(e.Error(), "\n")
	return line
}

// blame finds the carried declarations that contain errors, and marks them as broken or dropped for
// the next attempt. It reports whether there are any.
func (a *attempt) blame(errs ErrorList) bool {
	again := false
	seen := map[*declaration]bool{}
	carried := slices.DeleteFunc(slices.Clone(a.pieces), func(p piece) bool { return !p.carried })
	for _, e := range errs {
		for _, p := range carried {
			if !(p.node.Pos() <= e.pos && e.pos < p.node.End()) {
				continue
			}
			d := p.declaration
			if seen[d] {
				continue // a declaration changes at most once per attempt
			}
			seen[d], again = true, true
			if a.plan.broken[d] == nil && d.body >= 0 {
				a.plan.broken[d] = e
			} else {
				a.plan.dropped[d] = e
			}
		}
	}
	return again
}

// dependants returns the live declarations that must join the cell, because it redefines something
// that they use, directly or through other declarations that join.
func (a *attempt) dependants() []*declaration {
	replaced := map[string]bool{}
	hidden := map[string]bool{} // types on which only declarations that did not compile with them depend
	own := map[string]bool{}
	for _, n := range a.definitions() {
		own[n.name] = true
		if v, ok := n.object.(*types.Var); ok && v.Type() == types.Typ[types.Invalid] {
			continue // the cell has an error; nothing else is known about the variable
		}
		switch old := a.live[n.name]; {
		case a.endedBefore[n.name] != 0:
			replaced[n.name] = true // declarations that use it do not compile without it
		case old == nil || old == n.object:
		case hides(n.object, old):
			hidden[n.name] = true
		default:
			replaced[n.name] = true
			if _, isType := n.object.(*types.TypeName); isType && a.hidden[n.name] != nil {
				replaced[n.name+hiddenSuffix] = true
			}
		}
	}
	for _, p := range a.pieces {
		if p.declaration != nil {
			for _, key := range p.declaration.keys {
				own[key] = true
			}
		}
	}
	for _, m := range a.methods {
		if m.old != nil {
			replaced[methodKey(m.method)] = true
		} else if hidden := m.hides(); hidden != nil {
			replaced[methodKey(hidden)] = true // for those that call it through this type
		}
	}
	if len(replaced)+len(hidden) == 0 {
		return nil
	}
	taken := map[*declaration]bool{}
	for _, d := range a.plan.carried {
		taken[d] = true
	}
	var list []*declaration
	queue := slices.AppendSeq(slices.Collect(maps.Keys(replaced)), maps.Keys(hidden))
	for len(queue) > 0 {
		name := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for d := range a.users[name] {
			if taken[d] || !d.uses[name] || !a.isLive(d) || slices.ContainsFunc(d.keys, func(k string) bool { return own[k] }) {
				continue
			}
			if !replaced[name] && !a.wasBroken[d] {
				continue // it still means the hidden type
			}
			if t := d.receiver(); t != "" && own[t] {
				if a.program {
					continue // the program's types only have the methods that it declares
				}
				if _, ok := a.pkg.Scope().Lookup(t).(*types.TypeName); !ok {
					continue // the name is no longer a type
				}
			}
			taken[d] = true
			list = append(list, d)
			for _, key := range d.keys {
				if !replaced[key] {
					replaced[key] = true
					queue = append(queue, key)
				}
			}
		}
	}
	slices.SortStableFunc(list, (*declaration).compare)
	return list
}

// compare orders declarations as the user wrote them.
func (d *declaration) compare(other *declaration) int {
	return cmp.Or(d.cell-other.cell, d.line-other.line, strings.Compare(d.keys[0], other.keys[0]))
}

// keep finds the types and methods of the cell that repeat the live ones word for word with the same
// meaning. They keep their identity, so that existing values still have the type after the cell has
// run again.
func (c *Checker) keep(u *unit) map[int]bool {
	u.plan.keptKeys = map[string]bool{}
	candidates := map[int]*declaration{} // by chunk
	changed := map[string]bool{}         // names to which the cell gives a new meaning
	repeated := map[string]bool{}        // keys that the cell declares
	for _, p := range u.pieces {
		if p.declaration == nil {
			for _, n := range definedNames(p.node) {
				changed[n] = true
			}
			continue
		}
		repeated[p.declaration.keys[0]] = true
		live := c.declarations[p.declaration.keys[0]]
		method := p.declaration.receiver() != ""
		if live != nil && live.text == p.declaration.text && (live.isType || method) && !c.wasBroken[live] {
			candidates[p.chunk] = live
			continue
		}
		for _, key := range p.declaration.keys {
			changed[key] = true
		}
	}
	for _, s := range u.body.Body.List {
		if l, ok := s.(*ast.LabeledStmt); ok {
			s = l.Stmt
		}
		names, _ := definitions(s)
		for _, n := range names {
			changed[n.Name] = true
		}
	}
	if u.program {
		// A type with other methods is a different type.
		for key := range c.declarations {
			t, _, isMethod := strings.Cut(key, ".")
			if !isMethod || repeated[key] {
				continue
			}
			changed[t] = true
			maps.DeleteFunc(candidates, func(_ int, d *declaration) bool { return d.isType && slices.Contains(d.keys, t) })
		}
	}
	users := map[string][]int{} // chunks of candidates, by the keys that they use
	for chunk, d := range candidates {
		if receiver := d.receiver(); receiver != "" {
			users[receiver] = append(users[receiver], chunk)
		}
		for use := range d.uses {
			if !slices.Contains(d.keys, use) {
				use = strings.TrimSuffix(use, hiddenSuffix)
				users[use] = append(users[use], chunk)
			}
		}
	}
	for queue := slices.Collect(maps.Keys(changed)); len(queue) > 0; queue = queue[1:] {
		for _, chunk := range users[queue[0]] {
			if d := candidates[chunk]; d != nil {
				delete(candidates, chunk)
				queue = append(queue, d.keys...)
			}
		}
	}
	kept := map[int]bool{}
	for chunk, d := range candidates {
		kept[chunk] = true
		for _, key := range d.keys {
			u.plan.keptKeys[key] = true
		}
	}
	return kept
}

// definedNames returns the variables of a var declaration.
func definedNames(decl ast.Decl) []string {
	var names []string
	if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
		for _, s := range d.Specs {
			for _, n := range s.(*ast.ValueSpec).Names {
				names = append(names, n.Name)
			}
		}
	}
	return names
}
