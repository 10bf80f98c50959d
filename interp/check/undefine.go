package check

import (
	"context"
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Variables that a cell declares behind the statement at which it fails.
//
//	a := 10
//	b := a / (a - 10)   fails
//	c := 5              not reached: c is undefined, or means what it meant before the cell
//
// Commit gives names their new meaning before the cell runs. Undefine takes that back for the variables whose definition was not
// reached. Functions and types that use them are checked again, as if a cell had redefined the names: a function that no longer
// compiles panics when it is called.

// A meaning is what a name meant before a cell defined a variable of that name.
type meaning struct {
	object       types.Object // nil if the name was undefined
	hidden       *types.TypeName
	declarations map[string]*declaration // of the object, and of its methods
	fromPackage  bool
	endedBefore  int // see Checker.endedBefore
}

// meaning returns what a name means.
func (c *Checker) meaning(name string) meaning {
	m := meaning{c.live[name], c.hidden[name], map[string]*declaration{}, c.fromPackage[name], c.endedBefore[name]}
	if d := c.declarations[name]; d != nil {
		m.declarations[name] = d
	}
	if _, isType := m.object.(*types.TypeName); !isType {
		return m
	}
	for key, d := range c.declarations {
		if strings.HasPrefix(key, name+".") { // a method
			m.declarations[key] = d
		}
	}
	return m
}

// restore gives a name, which means the variable v, an earlier meaning.
func (c *Checker) restore(name string, v types.Object, m meaning) {
	if hides(v, m.object) {
		for _, d := range c.declarations {
			if d.uses[name+hiddenSuffix] {
				delete(d.uses, name+hiddenSuffix)
				d.uses[name] = true
				c.noteUses(d)
			}
		}
	}
	maps.Copy(c.declarations, m.declarations)
	put(c.live, name, m.object, m.object != nil)
	put(c.hidden, name, m.hidden, m.hidden != nil)
	put(c.fromPackage, name, true, m.fromPackage)
}

// IsNew reports whether the variable with an index in Vars is not the one that its name meant before the cell, which is
// committed.
func (cell *Cell) IsNew(i int) bool {
	_, changed := cell.before[cell.Vars[i]]
	return changed
}

// put sets an entry of a map, or removes it.
func put[V any](m map[string]V, key string, value V, has bool) {
	if has {
		m[key] = value
	} else {
		delete(m, key)
	}
}

// Undefine takes back the definitions of the variables of a committed cell that has ended, for which isDefined, called with the
// index in Vars, returns false. A name that was undefined before the cell is undefined again. The result is a cell that consists
// of the declarations that use the names, with the same number, or nil if there are none. As for Check, it must be committed or
// discarded.
func (c *Checker) Undefine(ctx context.Context, cell *Cell, isDefined func(i int) bool) (*Cell, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	users := map[*declaration]bool{}
	for i, v := range cell.Vars {
		before, changed := cell.before[v]
		if !changed || isDefined(i) || c.live[v.Name()] != v {
			continue
		}
		name := v.Name()
		c.restore(name, v, before)
		if before.object == nil {
			c.endedBefore[name] = cell.Number
		}
		for d := range c.users[name] {
			if d.uses[name] && c.isLive(d) {
				users[d] = true
			}
		}
	}
	if len(users) == 0 {
		return nil, nil
	}
	return c.recheck(ctx, cell.Number, users)
}

// recheck checks declarations of earlier cells again, as a cell with the given number that consists of them.
func (c *Checker) recheck(ctx context.Context, number int, declarations map[*declaration]bool) (*Cell, error) {
	p := newPlan()
	p.carried = slices.SortedFunc(maps.Keys(declarations), (*declaration).compare)
	p.kept, p.keptKeys = map[int]bool{}, map[string]bool{}
	return c.check(ctx, number, "", p)
}

// notReached explains that a name is undefined because a cell has ended before its definition.
func (a *attempt) notReached(msg string) string {
	name, ok := strings.CutPrefix(msg, "undefined: ")
	number := a.endedBefore[name]
	if !ok || number == 0 {
		return ""
	}
	return fmt.Sprintf(": %s ended before the statement that declares it; run it again", Filename(number))
}
