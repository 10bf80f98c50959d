package vm

import (
	"maps"
	"slices"
)

// dependencies record which functions of a unit call which, because the callers of a function that turns
// out to be unsupported must be compiled again. They also record the names of yaegi that each function
// uses: the names that only discarded functions use must not be linked.
type dependencies struct {
	current   []Declaration               // declarations that are being compiled, innermost last
	callers   map[any]map[any]Declaration // by key of the callee and of the caller
	names     map[any]map[string]struct{} // names of yaegi, by key of the function that uses them
	order     map[any]int                 // order of the first compilation
	discarded []any                       // functions discarded since the last takeAffected
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

// use records that the current declaration calls the function with this key.
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

// useName records that the current declaration uses a name of yaegi.
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

// takeAffected returns the callers of the functions discarded since the last call, in the order of their
// first compilation.
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

// dropUnused removes the names of yaegi that no compiled function uses.
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
