package rt

// Variable returns the address of a variable of the compiled package with the given key in
// Config.Packages.
func (r *Registry) Variable(key, name string) any {
	return r.config.Packages[key][name].Addr().Interface()
}
