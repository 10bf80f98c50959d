package check

import "go/types"

// holdsLock reports whether a value of type t may not be copied or zeroed while it is
// in use, since it has a lock or a wait group of package sync in it. The rule is that
// of go vet's copylocks: a pointer to it, or to a part of it, has methods Lock and
// Unlock that the value does not have. The numbers of sync/atomic are left out: zero is
// a value as any other for them.
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
