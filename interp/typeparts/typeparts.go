// Package typeparts finds the types that a type consists of.
package typeparts

import "go/types"

// Any reports whether f returns true for one of the types that t consists of directly: elements and keys, fields, parameters and results.
// It does not look into named types, nor at the methods of interfaces.
func Any(t types.Type, f func(types.Type) bool) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Map:
		return f(t.Key()) || f(t.Elem())
	case interface{ Elem() types.Type }: // a pointer, slice, array or channel
		return f(t.Elem())
	case *types.Struct:
		for v := range t.Fields() {
			if f(v.Type()) {
				return true
			}
		}
	case *types.Tuple:
		for v := range t.Variables() {
			if f(v.Type()) {
				return true
			}
		}
	case *types.Signature:
		return Any(t.Params(), f) || Any(t.Results(), f)
	}
	return false
}

// All calls f for these types.
func All(t types.Type, f func(types.Type)) {
	Any(t, func(t types.Type) bool {
		f(t)
		return false
	})
}
