package rt

import (
	"encoding/xml"
	"errors"
	"go/types"
	"reflect"
)

// UnsupportedInXML returns the part of a value of type t that package encoding/xml would not
// handle, as a noun phrase, or "" if there is none.
func (r *Registry) UnsupportedInXML(t types.Type) string {
	return r.interfaceInXML(types.Unalias(t), map[types.Type]bool{})
}

// interfaceInXML returns an interface in t as a noun phrase: encoding/xml would see the box in it.
func (r *Registry) interfaceInXML(t types.Type, seen map[types.Type]bool) string {
	if seen[t] || !r.Mentions(t) {
		return ""
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return "the value in an interface"
	case interface{ Elem() types.Type }:
		return r.interfaceInXML(types.Unalias(u.Elem()), seen)
	case *types.Struct:
		for i := range u.NumFields() {
			f := u.Field(i)
			if !f.Exported() && !f.Embedded() || reflect.StructTag(u.Tag(i)).Get("xml") == "-" {
				continue
			}
			if types.IsInterface(f.Type()) {
				return "the value in the field " + f.Name() + " of " + r.Describe(t).name
			}
			if found := r.interfaceInXML(types.Unalias(f.Type()), seen); found != "" {
				return found
			}
		}
	}
	return ""
}

// inXML returns x as package encoding/xml must see it.
func (r *Registry) inXML(x any) encoded {
	if b, ok := r.unbox(x); ok {
		if refusal := r.UnsupportedInXML(b.T.typ); refusal != "" {
			panic(&EncodingError{Package: "encoding/xml", Unseen: refusal + "; use a type that is not an interface, or encoding/json"})
		}
	}
	return r.encodable("encoding/xml", x)
}

// EncodeXML is e.Encode(x).
func (r *Registry) EncodeXML(e *xml.Encoder, x any) error {
	v := r.inXML(x)
	return v.inNames(e.Encode(v.value))
}

// EncodeXMLElement is e.EncodeElement(x, start).
func (r *Registry) EncodeXMLElement(e *xml.Encoder, x any, start xml.StartElement) error {
	v := r.inXML(x)
	return v.inNames(e.EncodeElement(v.value, start))
}

// DecodeXML is d.Decode(x).
func (r *Registry) DecodeXML(d *xml.Decoder, x any) error {
	v := r.inXML(x)
	return v.inNames(d.Decode(v.value))
}

// DecodeXMLElement is d.DecodeElement(x, start).
func (r *Registry) DecodeXMLElement(d *xml.Decoder, x any, start *xml.StartElement) error {
	v := r.inXML(x)
	return v.inNames(d.DecodeElement(v.value, start))
}

// xmlFunctions returns the replacements for functions of encoding/xml.
func (r *Registry) xmlFunctions() map[string]reflect.Value {
	marshal := func(x any, prefix, indent string) ([]byte, error) {
		var out bytesWriter
		e := xml.NewEncoder(&out)
		e.Indent(prefix, indent)
		err := r.EncodeXML(e, x)
		if err == nil {
			err = e.Close()
		}
		if err != nil {
			return nil, err
		}
		return out, nil
	}
	return map[string]reflect.Value{
		"Marshal":       reflect.ValueOf(func(x any) ([]byte, error) { return marshal(x, "", "") }),
		"MarshalIndent": reflect.ValueOf(marshal),
		"Unmarshal": reflect.ValueOf(func(data []byte, x any) error {
			v := r.inXML(x)
			return v.inNames(xml.Unmarshal(data, v.value))
		}),
	}
}

// bytesWriter collects what is written.
type bytesWriter []byte

// Write implements io.Writer.
func (w *bytesWriter) Write(p []byte) (int, error) {
	*w = append(*w, p...)
	return len(p), nil
}

// inNames returns err with the type names of cells in its text.
func (e encoded) inNames(err error) error {
	var unsupported *xml.UnsupportedTypeError
	if !errors.As(err, &unsupported) {
		return e.named(err)
	}
	e.parts(func(w view, t reflect.Type) {
		if t == unsupported.Type {
			unsupported = &xml.UnsupportedTypeError{Type: e.r.reflectType(w)}
		}
	})
	return unsupported
}
