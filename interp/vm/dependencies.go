package vm

import (
	"maps"
	"slices"
)

// dependencies say which functions of a unit must be compiled again when one turns out
// not to be possible: those that were compiled as its callers. And they say which names
// of yaegi the code of a function has, since those of a function that is not
// compiled must not be linked.
type dependencies struct {
	current   []Declaration               // that are being compiled, the innermost last
	callers   map[any]map[any]Declaration // of a function, by key
	names     map[any]map[string]struct{} // of yaegi, in the code of a function
	order     map[any]int                 // in which functions were compiled first
	discarded []any                       // functions that are not compiled after all
}

func newDependencies() dependencies {
	return dependencies{callers: map[any]map[any]Declaration{}, names: map[any]map[string]struct{}{}, order: map[any]int{}}
}

// begin and end enclose the compilation of a declaration.
func (d *dependencies) begin(x Declaration) {
	d.current = append(d.current, x)
	if _, known := d.order[x.Key]; !known {
		d.order[x.Key] = len(d.order)
	}
	delete(d.names, x.Key)
}

func (d *dependencies) end() { d.current = d.current[:len(d.current)-1] }

// use notes that the code of the current declaration calls a function of the unit.
func (d *dependencies) use(key any) {
	if len(d.current) == 0 {
		return
	}
	user := d.current[len(d.current)-1]
	if d.callers[key] == nil {
		d.callers[key] = map[any]Declaration{}
	}
	d.callers[key][user.Key] = user
}

// useName notes a name of yaegi.
func (d *dependencies) useName(name string) {
	if len(d.current) == 0 {
		return
	}
	user := d.current[len(d.current)-1].Key
	if d.names[user] == nil {
		d.names[user] = map[string]struct{}{}
	}
	d.names[user][name] = struct{}{}
}

// takeAffected returns the declarations that use what was lost since the last call, in the
// order in which they were compiled first.
func (d *dependencies) takeAffected() (list []Declaration) {
	affected := map[any]bool{}
	for _, key := range d.discarded {
		for user, declaration := range d.callers[key] {
			if !affected[user] {
				affected[user] = true
				list = append(list, declaration)
			}
		}
		delete(d.callers, key)
	}
	d.discarded = nil
	slices.SortFunc(list, func(x, y Declaration) int { return d.order[x.Key] - d.order[y.Key] })
	return list
}

// dropUnused forgets the names of yaegi that no compiled function has.
func (u *Unit) dropUnused() {
	used := map[string]struct{}{}
	for key := range u.declared {
		maps.Copy(used, u.names[key])
	}
	for _, named := range []map[string]*global{u.globals, u.interpreted} {
		maps.DeleteFunc(named, func(name string, _ *global) bool {
			_, ok := used[name]
			return !ok
		})
	}
}
