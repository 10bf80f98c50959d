package vm

// Sweep removes functions whose key satisfies gone: no later unit can call them. Compiled callers keep them alive.
func (vm *VM) Sweep(gone func(key any) bool) {
	for key := range vm.functions {
		if gone(key) {
			delete(vm.functions, key)
		}
	}
}

// Forget removes the function with this key.
func (vm *VM) Forget(key any) { delete(vm.functions, key) }
