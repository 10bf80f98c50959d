package check

import "go/types"

// holdsLock reports whether a value of type t must not be copied or zeroed while it is in use,
// because it contains a lock or a wait group of package sync. The rule is that of the copylocks
// analyzer of go vet: a pointer to the value or to a part of it has the methods Lock and Unlock,
// and the value does not. It does not apply to types of sync/atomic, for which zero is an
// ordinary value.
func holdsLock(t types.Type) bool { return holds(t, map[types.Type]bool{}) }

func holds(t types.Type, seen map[types.Type]bool) bool {
	t = types.Unalias(t)
	if seen[t] {
		return false
	}
	seen[t] = true
	if n, ok := t.(*types.Named); ok {
		if p := n.Obj().Pkg(); p != nil && p.Path() == "sync/atomic" {
			return false
		}
		if !types.IsInterface(n) && locks(types.NewPointer(n)) && !locks(n) {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return holds(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if holds(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}

// locks reports whether a type has the methods of a sync.Locker.
func locks(t types.Type) bool {
	set := types.NewMethodSet(t)
	return set.Lookup(nil, "Lock") != nil && set.Lookup(nil, "Unlock") != nil
}
