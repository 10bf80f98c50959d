package rt

// declaredMethods are the methods that a package may look for in an argument of type
// any that it inspects by reflection.
var declaredMethods = []string{"Value", "Scan", "String", "MarshalText", "UnmarshalText", "GobEncode", "GobDecode", "MarshalBinary", "UnmarshalBinary"}

// Declared returns x as a compiled package that uses reflection must see it: with the
// declared type, its name and its fields.
func (r *Registry) Declared(x any) (declared any) {
	b, ok := r.unbox(x)
	if !ok {
		return x
	}
	defer func() {
		v := recover()
		if e, ok := v.(*EncodingError); ok && !e.exhausted { // the declared fields have another memory layout
			declared = b.V
		} else if v != nil {
			panic(v)
		}
	}()
	return r.encodable("the called package", x, declaredMethods).value
}
