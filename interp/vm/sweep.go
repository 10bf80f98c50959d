package vm

import (
	"slices"
	"weak"
)

// Sweep forgets functions that no later unit will call: those with a key for which
// gone holds, and those that yaegi runs under one of the names. Code that
// calls them keeps them. dead are types whose values are rare from now on.
func (vm *VM) Sweep(gone func(key any) bool, names map[string]bool, dead map[int]bool) {
	vm.methods.Range(func(key, _ any) bool {
		if dead[key.(methodKey).typ] {
			vm.methods.Delete(key) // the registry has a slower way to the same
		}
		return true
	})
	for key := range vm.functions {
		if gone(key) {
			delete(vm.functions, key)
		}
	}
	for name, list := range vm.interpreted {
		if names[name] {
			delete(vm.interpreted, name)
			continue
		}
		vm.interpreted[name] = slices.DeleteFunc(list, func(g weak.Pointer[global]) bool { return g.Value() == nil })
	}
}

// Forget forgets the function with a key.
func (vm *VM) Forget(key any) { delete(vm.functions, key) }
