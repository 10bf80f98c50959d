package vm

// Sweep removes functions whose key satisfies gone: no later unit can call them. Compiled callers keep them alive. It also removes the
// methods of the types in dead, of which few values are left.
func (vm *VM) Sweep(gone func(key any) bool, dead map[int]bool) {
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
}

// Forget removes the function with this key.
func (vm *VM) Forget(key any) { delete(vm.functions, key) }
