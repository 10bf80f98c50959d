package rt

import (
	"encoding/gob"
	"errors"
)

// gobMethods are what package encoding/gob asks values for.
var gobMethods = []string{"GobEncode", "GobDecode", "MarshalBinary", "UnmarshalBinary"}

// EncodeGob is e.Encode(x).
func (r *Registry) EncodeGob(e *gob.Encoder, x any) error {
	if data, own, err := r.gobData(x, "GobEncode"); own {
		if err != nil {
			return err
		}
		return e.Encode(&gobText{data})
	}
	if data, own, err := r.gobData(x, "MarshalBinary"); own {
		if err != nil {
			return err
		}
		return e.Encode(&binaryText{data})
	}
	v := r.encodable("encoding/gob", x, gobMethods)
	return v.named(e.Encode(v.value))
}

// gobData is what the method of x makes of it. own tells whether x or a pointer to it
// has such a method.
func (r *Registry) gobData(x any, method string) (data []byte, own bool, err error) {
	b, ok := r.unbox(x)
	if !ok {
		return nil, false, nil
	}
	has := func(t *Type) bool { return t.set.Load().hasSignature(method, "func() ([]uint8, error)") }
	if !has(b.T) {
		if !has(b.T.pointer()) {
			return nil, false, nil
		}
		return nil, true, errors.New("gob: unaddressable value of type " + b.T.pointer().name)
	}
	data, err = call0x2[[]byte, error](b, method)
	return data, true, err
}

// DecodeGob is d.Decode(x).
func (r *Registry) DecodeGob(d *gob.Decoder, x any) error {
	if b, ok := r.unbox(x); ok {
		set := b.T.set.Load()
		switch {
		case set.hasSignature("GobDecode", "func([]uint8) error"):
			var text gobText
			if err := d.Decode(&text); err != nil {
				return err
			}
			return call1[error](b, "GobDecode", text.data)
		case set.hasSignature("UnmarshalBinary", "func([]uint8) error"):
			var text binaryText
			if err := d.Decode(&text); err != nil {
				return err
			}
			return call1[error](b, "UnmarshalBinary", text.data)
		}
	}
	v := r.encodable("encoding/gob", x, gobMethods)
	return v.named(d.Decode(v.value))
}

// gobText stands for a value of a cell that encodes itself for package gob.
type gobText struct{ data []byte }

// GobEncode implements gob.GobEncoder.
func (t *gobText) GobEncode() ([]byte, error) { return t.data, nil }

// GobDecode implements gob.GobDecoder.
func (t *gobText) GobDecode(data []byte) error {
	t.data = append([]byte(nil), data...)
	return nil
}

// binaryText stands for a value of a cell that encodes itself.
type binaryText struct{ data []byte }

// MarshalBinary implements encoding.BinaryMarshaler.
func (t *binaryText) MarshalBinary() ([]byte, error) { return t.data, nil }

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (t *binaryText) UnmarshalBinary(data []byte) error {
	t.data = append([]byte(nil), data...)
	return nil
}
