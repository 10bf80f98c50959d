package rt

import (
	"encoding/asn1"
	"encoding/binary"
	"io"
	"reflect"
)

// encodings returns the replacements for functions of encoding/gob, encoding/binary
// and encoding/asn1.
func (r *Registry) encodings() map[string]map[string]reflect.Value {
	inBinary := func(x any) encoded { return r.encodable("encoding/binary", x) }
	inASN1 := func(x any) encoded { return r.encodable("encoding/asn1", x) }
	tables := map[string]map[string]any{
		"encoding/gob/gob": {
			"Register": func(x any) { r.registerGob("", x) },
			"RegisterName": func(name string, x any) {
				if name == "" {
					panic("attempt to register empty name")
				}
				r.registerGob(name, x)
			},
		},
		"encoding/binary/binary": {
			"Size": func(x any) int { return binary.Size(inBinary(x).value) },
			"Read": func(in io.Reader, order binary.ByteOrder, x any) error {
				v := inBinary(x)
				return v.named(binary.Read(in, order, v.value))
			},
			"Write": func(out io.Writer, order binary.ByteOrder, x any) error {
				v := inBinary(x)
				return v.named(binary.Write(out, order, v.value))
			},
			"Append": func(data []byte, order binary.ByteOrder, x any) ([]byte, error) {
				v := inBinary(x)
				data, err := binary.Append(data, order, v.value)
				return data, v.named(err)
			},
			"Encode": func(data []byte, order binary.ByteOrder, x any) (int, error) {
				v := inBinary(x)
				n, err := binary.Encode(data, order, v.value)
				return n, v.named(err)
			},
			"Decode": func(data []byte, order binary.ByteOrder, x any) (int, error) {
				v := inBinary(x)
				n, err := binary.Decode(data, order, v.value)
				return n, v.named(err)
			},
		},
		"encoding/asn1/asn1": {
			"Marshal": func(x any) ([]byte, error) {
				v := inASN1(x)
				data, err := asn1.Marshal(v.value)
				return data, v.named(err)
			},
			"MarshalWithParams": func(x any, params string) ([]byte, error) {
				v := inASN1(x)
				data, err := asn1.MarshalWithParams(v.value, params)
				return data, v.named(err)
			},
			"Unmarshal": func(data []byte, x any) ([]byte, error) {
				v := inASN1(x)
				rest, err := asn1.Unmarshal(data, v.value)
				return rest, v.named(err)
			},
			"UnmarshalWithParams": func(data []byte, x any, params string) ([]byte, error) {
				v := inASN1(x)
				rest, err := asn1.UnmarshalWithParams(data, v.value, params)
				return rest, v.named(err)
			},
		},
	}
	made := map[string]map[string]reflect.Value{}
	for key, table := range tables {
		made[key] = map[string]reflect.Value{}
		for name, f := range table {
			made[key][name] = reflect.ValueOf(f)
		}
	}
	return made
}
