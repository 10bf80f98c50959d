package rt

import "encoding/gob"

// gobMethods are what package encoding/gob asks values for.
var gobMethods = []string{"GobEncode", "GobDecode", "MarshalBinary", "UnmarshalBinary"}

// EncodeGob is e.Encode(x).
func (r *Registry) EncodeGob(e *gob.Encoder, x any) error {
	v := r.encodable("encoding/gob", x, gobMethods)
	return v.named(e.Encode(v.value))
}

// DecodeGob is d.Decode(x).
func (r *Registry) DecodeGob(d *gob.Decoder, x any) error {
	v := r.encodable("encoding/gob", x, gobMethods)
	return v.named(d.Decode(v.value))
}
