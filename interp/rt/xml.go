package rt

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
)

// xmlMethods are what package encoding/xml looks for on a value.
var xmlMethods = []string{"MarshalXML", "UnmarshalXML", "MarshalXMLAttr", "UnmarshalXMLAttr", "MarshalText", "UnmarshalText"}

// XMLRefusal tells what package encoding/xml, which gets raw values, would not
// see of a value of type t, as a noun phrase; "" if there is nothing. For one that
// is encoded without a name for the element, element is set.
func (r *Registry) XMLRefusal(t types.Type, element bool) string {
	return r.xmlRefusal(types.Unalias(t), element, map[types.Type]bool{})
}

func (r *Registry) xmlRefusal(t types.Type, element bool, seen map[types.Type]bool) string {
	if seen[t] || !r.Mentions(t) {
		return ""
	}
	seen[t] = true
	if named, ok := t.(*types.Named); ok {
		methods := types.NewMethodSet(types.NewPointer(named))
		for i := range methods.Len() {
			if name := methods.At(i).Obj().Name(); slices.Contains(xmlMethods, name) {
				return "the method " + name + " of " + r.Describe(named).name
			}
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return r.xmlRefusal(types.Unalias(u.Elem()), element, seen)
	case *types.Slice:
		return r.xmlRefusal(types.Unalias(u.Elem()), element, seen)
	case *types.Array:
		return r.xmlRefusal(types.Unalias(u.Elem()), element, seen)
	case *types.Interface:
		return "what an interface holds"
	case *types.Struct:
		name := r.Describe(t).name
		hasName := false
		for i := range u.NumFields() {
			field := u.Field(i)
			if field.Embedded() {
				return "the embedded field " + field.Name() + " of " + name
			}
			hasName = hasName || field.Name() == "XMLName"
			if !field.Exported() || reflect.StructTag(u.Tag(i)).Get("xml") == "-" {
				continue
			}
			if types.IsInterface(field.Type()) {
				return "what the field " + field.Name() + " of " + name + " holds"
			}
			if refusal := r.xmlRefusal(types.Unalias(field.Type()), false, seen); refusal != "" {
				return refusal
			}
		}
		if element && !hasName {
			return "the name of " + name + ", which has no field XMLName"
		}
	}
	return ""
}

// XMLValue is the raw value of an argument of package encoding/xml that is an
// interface. It panics with a *XMLError where that package would not treat the
// value as Go does.
func (r *Registry) XMLValue(x any, element bool) any {
	if b, ok := r.unbox(x); ok {
		if refusal := r.XMLRefusal(b.T.typ, element); refusal != "" {
			panic(&XMLError{refusal})
		}
	}
	return r.Value(x)
}

// An XMLError reports a value that package encoding/xml would not treat as Go
// does.
type XMLError struct{ Unseen string }

func (e *XMLError) Error() string {
	return fmt.Sprintf("encoding/xml does not see %s", e.Unseen)
}
