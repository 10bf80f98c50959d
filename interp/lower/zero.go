package lower

// Functions with a parameter that may be a negative zero. When yaegi calls a
// function by its name it leaves out an argument that package reflect holds to be
// zero, and of negative zeros reflect says so. Unit.Values has their names, and the
// session has calls of them go through a function value, which is twice as slow.

import "go/types"

// passed notes that the function of lowered code with that name has a parameter of
// type t.
func (e *emitter) passed(name string, t types.Type) {
	if last := len(e.values) - 1; holdsFloat(t) && (last < 0 || e.values[last] != name) {
		e.values = append(e.values, name)
	}
}

// holdsFloat reports whether values of type t are floating-point or complex
// numbers or have some among their fields and elements.
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
