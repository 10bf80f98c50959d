package layout

import (
	"go/types"
	"strconv"

	"github.com/quernlab/quern/interp/origin"
)

// Hidden returns the compiled type with the underlying struct type t, if t has unexported fields of another package: only
// that type can have them.
func Hidden(t *types.Struct, interpreted func(*types.Named) bool) *types.TypeName {
	for f := range t.Fields() {
		if f.Exported() || f.Pkg() == nil || origin.Interpreted(f.Pkg()) {
			continue
		}
		scope := f.Pkg().Scope()
		for _, name := range scope.Names() {
			o, ok := scope.Lookup(name).(*types.TypeName)
			if !ok || !o.Exported() || o.IsAlias() || o.Type().Underlying() != t {
				continue
			}
			if n, ok := o.Type().(*types.Named); ok && !interpreted(n) {
				return o
			}
		}
		return nil
	}
	return nil
}

// FieldName returns the name of field i of s in lowered code. All names are exported, as package reflect demands, and blank
// fields get a name.
func FieldName(s *types.Struct, i int) string {
	v := s.Field(i)
	switch {
	case v.Name() == "_":
		return "Xblankʹ" + strconv.Itoa(i)
	case v.Exported():
		return v.Name()
	}
	name := "X" + v.Name()
	for hasField(s, name) {
		name = "X" + name
	}
	return name
}

func hasField(s *types.Struct, name string) bool {
	for v := range s.Fields() {
		if v.Name() == name {
			return true
		}
	}
	return false
}

// Tag returns the tag of field i of s in lowered code. It hides unexported fields from encoders.
func Tag(s *types.Struct, i int) string {
	v := s.Field(i)
	if tag := s.Tag(i); tag != "" || v.Exported() || v.Embedded() {
		return tag
	}
	return `json:"-" xml:"-"`
}
