package rt

// Declared returns x as a compiled package that uses reflection must see it: with the
// declared type, its name and its fields.
func (r *Registry) Declared(x any) (declared any) {
	b, ok := r.unbox(x)
	if !ok {
		return x
	}
	defer func() {
		v := recover()
		if e, ok := v.(*EncodingError); ok && e.withoutType == nil { // the declared fields have another memory layout
			declared = b.V
		} else if v != nil {
			panic(v)
		}
	}()
	return r.encodable("the called package", x).value
}
