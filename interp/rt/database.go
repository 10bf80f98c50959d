package rt

// declaredMethods are the methods that packages which look into an argument of type
// any ask it for.
var declaredMethods = []string{"Value", "Scan", "String", "MarshalText", "UnmarshalText", "GobEncode", "GobDecode", "MarshalBinary", "UnmarshalBinary"}

// Declared returns x as a compiled package gets it that reflects on its arguments: of the
// declared type, with its name and fields.
func (r *Registry) Declared(x any) (declared any) {
	b, ok := r.unbox(x)
	if !ok {
		return x
	}
	defer func() {
		v := recover()
		if e, ok := v.(*EncodingError); ok && !e.exhausted { // its fields do not lie as they were declared
			declared = b.V
		} else if v != nil {
			panic(v)
		}
	}()
	return r.encodable("the called package", x, declaredMethods).value
}
