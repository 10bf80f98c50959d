package lower

// Functions with a parameter that may be a negative zero. If yaegi calls a function by name, it omits arguments that
// package reflect considers zero, and that includes a negative zero. Unit.Values lists such functions. The session
// makes calls of them go through a function value, which is twice as slow.

import "go/types"

// noteParameter records that the function with that name in lowered code has a parameter of type t.
func (e *emitter) noteParameter(name string, t types.Type) {
	if last := len(e.values) - 1; holdsFloat(t) && (last < 0 || e.values[last] != name) {
		e.values = append(e.values, name)
	}
}

// holdsFloat reports whether values of type t are floating-point or complex numbers, or have some in their fields and
// elements.
func holdsFloat(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsFloat|types.IsComplex) != 0
	case *types.Struct:
		for v := range u.Fields() {
			if holdsFloat(v.Type()) {
				return true
			}
		}
	case *types.Array:
		return holdsFloat(u.Elem())
	}
	return false
}
