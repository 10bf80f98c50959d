package vm

import (
	"slices"
	"weak"
)

// Sweep removes functions that no later unit can call: those whose key satisfies gone, and those of yaegi
// with one of the names. Compiled callers keep them alive. It also removes the methods of the types in
// dead, of which few values are left.
func (vm *VM) Sweep(gone func(key any) bool, names map[string]bool, dead map[int]bool) {
	vm.methods.Range(func(key, _ any) bool {
		if dead[key.(methodKey).typ] {
			vm.methods.Delete(key) // the registry still finds it, more slowly
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

// Forget removes the function with this key.
func (vm *VM) Forget(key any) { delete(vm.functions, key) }
