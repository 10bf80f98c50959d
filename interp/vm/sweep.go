package vm

import (
	"slices"
	"weak"
)

// Sweep forgets functions that no later unit will call: those with a key for which
// gone holds, and those that yaegi runs under one of the names. Code that
// calls them keeps them. dead are types whose values are rare from now on.
func (m *Machine) Sweep(gone func(key any) bool, names map[string]bool, dead map[int]bool) {
	m.methods.Range(func(key, _ any) bool {
		if dead[key.(methodKey).typ] {
			m.methods.Delete(key) // the registry has a slower way to the same
		}
		return true
	})
	for key := range m.functions {
		if gone(key) {
			delete(m.functions, key)
		}
	}
	for name, list := range m.engine {
		if names[name] {
			delete(m.engine, name)
			continue
		}
		m.engine[name] = slices.DeleteFunc(list, func(g weak.Pointer[global]) bool { return g.Value() == nil })
	}
}

// Forget forgets the function with a key.
func (m *Machine) Forget(key any) { delete(m.functions, key) }
