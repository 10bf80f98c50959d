package cuda

import (
	"debug/dwarf"
	"fmt"
	"reflect"
	"strings"
)

// field is a number, bool, or pointer in a struct or array.
type field struct {
	name     string
	at, size int
	// kind is that of numbers in C++: bool, int, uint, float; integer for a char or an enum; pointer; and unknown for bytes whose use the
	// type does not say, as those of a union. In Go, padding is a field with the name _.
	kind string
	typ  string // in words
}

// Mismatch says in which field a type of C++ and one of Go with the same size differ: in its offset, size or kind. It returns "" if
// they do not.
func Mismatch(c dwarf.Type, g reflect.Type) string {
	cs, gs := fields(nil, c, 0, ""), goFields(nil, g, 0, "")
	matched := make([]bool, len(cs))
	for _, f := range gs {
		found := false
		for i, other := range cs {
			if other.at >= f.at+f.size || f.at >= other.at+other.size {
				continue
			}
			switch {
			case other.kind == "unknown" && f.kind != "padding":
			case other.at == f.at && other.size == f.size && sameKind(other.kind, f.kind):
				matched[i] = true
			case f.kind == "padding":
				return fmt.Sprintf("%s is padding and not the %s", f, other)
			default:
				return fmt.Sprintf("%s is not the %s", f, other)
			}
			found = true
		}
		if !found && f.kind != "padding" {
			return fmt.Sprintf("%s is not a field of the other type", f)
		}
	}
	for i, f := range cs {
		if !matched[i] && f.kind != "unknown" {
			return fmt.Sprintf("the %s is missing", f)
		}
	}
	return ""
}

func (f field) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s at byte %d", f.name, f.typ, f.at))
}

func sameKind(c, g string) bool {
	return c == g || c == "integer" && (g == "int" || g == "uint") || c == "pointer" && g == "uint"
}

// fields appends the fields of a type that begins at an offset.
func fields(all []field, t dwarf.Type, at int, name string) []field {
	t = bare(t)
	kind := "unknown"
	switch t := t.(type) {
	case *dwarf.ArrayType:
		size := int(t.Type.Size())
		for i := range max(int(t.Count), 0) {
			all = fields(all, t.Type, at+i*size, fmt.Sprintf("%s[%d]", name, i))
		}
		return all
	case *dwarf.StructType:
		if t.Kind == "union" {
			break
		}
		for _, f := range t.Field {
			inner := strings.TrimPrefix(name+"."+f.Name, ".")
			if f.BitSize == 0 {
				all = fields(all, f.Type, at+int(f.ByteOffset), inner)
				continue
			}
			first := 8*f.Type.Size() - f.BitOffset - f.BitSize // DWARF counts the offset from the highest bit
			low, high := f.ByteOffset+first/8, f.ByteOffset+(first+f.BitSize+7)/8
			all = append(all, field{inner, at + int(low), int(high - low), kind, "bit-field"})
		}
		return all
	case *dwarf.BoolType:
		kind = "bool"
	case *dwarf.CharType, *dwarf.EnumType:
		kind = "integer"
	case *dwarf.IntType:
		kind = "int"
	case *dwarf.UcharType, *dwarf.UintType:
		kind = "uint"
	case *dwarf.FloatType:
		kind = "float"
	case *dwarf.PtrType:
		kind = "pointer"
	}
	return append(all, field{name, at, int(t.Size()), kind, typeName(t)})
}

// goFields appends the fields of a type of Go.
func goFields(all []field, t reflect.Type, at int, name string) []field {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			inner := strings.TrimPrefix(name+"."+f.Name, ".")
			if f.Name == "_" {
				if size := int(f.Type.Size()); size > 0 {
					all = append(all, field{inner, at + int(f.Offset), size, "padding", f.Type.String()})
				}
				continue
			}
			all = goFields(all, f.Type, at+int(f.Offset), inner)
		}
		return all
	case reflect.Array:
		for i := range t.Len() {
			all = goFields(all, t.Elem(), at+i*int(t.Elem().Size()), fmt.Sprintf("%s[%d]", name, i))
		}
		return all
	}
	kind := strings.TrimRight(t.Kind().String(), "0123456789")
	return append(all, field{name, at, int(t.Size()), kind, t.String()})
}
