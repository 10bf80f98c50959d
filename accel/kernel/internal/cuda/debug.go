package cuda

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// linkageName is DW_AT_MIPS_linkage_name, the mangled name of a function.
const linkageName = dwarf.Attr(0x2007)

// Types returns the types of the parameters of the functions of a module, by their names in the PTX. They are in its debugging
// information: the compiler has made it with -G.
func Types(ptx string) (map[string][]dwarf.Type, error) {
	info, err := section(ptx, ".debug_info")
	if err != nil {
		return nil, err
	}
	abbrev, err := section(ptx, ".debug_abbrev")
	if err != nil {
		return nil, err
	}
	data, err := dwarf.New(abbrev, nil, nil, info, nil, nil, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("the debugging information of the compiler is not understood: %w", err)
	}
	all := map[string][]dwarf.Type{}
	if err := readTypes(all, data); err != nil {
		return nil, fmt.Errorf("the debugging information of the compiler is not understood: %w", err)
	}
	return all, nil
}

func readTypes(all map[string][]dwarf.Type, data *dwarf.Data) error {
	r := data.Reader()
	var within []*dwarf.Entry // those whose children follow
	for {
		e, err := r.Next()
		if e == nil {
			return err
		}
		if e.Tag == 0 {
			within = within[:max(len(within)-1, 0)]
			continue
		}
		var parent dwarf.Entry
		if len(within) > 0 {
			parent = *within[len(within)-1]
		}
		switch {
		case e.Tag == dwarf.TagSubprogram:
			all[functionName(e)] = nil
		case e.Tag == dwarf.TagFormalParameter && parent.Tag == dwarf.TagSubprogram:
			at, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
			if !ok {
				return fmt.Errorf("a parameter of %s has no type", functionName(&parent))
			}
			t, err := data.Type(at)
			if err != nil {
				return err
			}
			all[functionName(&parent)] = append(all[functionName(&parent)], t)
		}
		if e.Children {
			within = append(within, e)
		}
	}
}

// functionName returns the name of a function in the PTX.
func functionName(e *dwarf.Entry) string {
	if name, ok := e.Val(linkageName).(string); ok {
		return name
	}
	name, _ := e.Val(dwarf.AttrName).(string)
	return name
}

// Describe sets the type of a parameter.
func (p *Param) Describe(t dwarf.Type) {
	p.C = typeName(bare(t))
	switch t := bare(t).(type) {
	case *dwarf.PtrType:
		p.Pointer, p.Element, p.Const = true, "", false
		to := t.Type
		for to != nil {
			switch inner := to.(type) {
			case *dwarf.QualType:
				p.Const, to = p.Const || inner.Qual == "const", inner.Type
			case *dwarf.TypedefType:
				to = inner.Type
			case *dwarf.ArrayType:
				to = inner.Type
			case *dwarf.VoidType:
				to = nil
			default:
				p.Element, to = typeName(inner), nil
			}
		}
	case *dwarf.StructType, *dwarf.ArrayType:
		p.Layout = t
	case *dwarf.EnumType:
		p.C = p.Type // that of PTX: any integer of the size
	}
}

// bare returns a type without qualifiers and other names.
func bare(t dwarf.Type) dwarf.Type {
	for {
		switch inner := t.(type) {
		case *dwarf.QualType:
			t = inner.Type
		case *dwarf.TypedefType:
			t = inner.Type
		default:
			return t
		}
	}
}

// typeName returns the name of a type in C++.
func typeName(t dwarf.Type) string {
	switch t := t.(type) {
	case *dwarf.QualType:
		return t.Qual + " " + typeName(t.Type)
	case *dwarf.PtrType:
		to, lengths := t.Type, ""
		for a, ok := to.(*dwarf.ArrayType); ok; a, ok = to.(*dwarf.ArrayType) {
			to, lengths = a.Type, fmt.Sprintf("%s[%d]", lengths, a.Count)
		}
		if lengths != "" {
			return typeName(to) + " (*)" + lengths
		}
		if t.Type == nil {
			return "void *"
		}
		return strings.Replace(typeName(t.Type)+" *", "* *", "**", 1)
	case *dwarf.StructType:
		if t.StructName == "" {
			return t.Kind
		}
		return t.StructName
	case *dwarf.TypedefType:
		return typeName(t.Type)
	}
	return t.String()
}

// section returns the bytes of a section with debugging information. Addresses of code in it are 0.
func section(ptx, name string) (b []byte, err error) {
	_, text, ok := strings.Cut(ptx, ".section\t"+name+"\n")
	if !ok {
		return nil, fmt.Errorf("the compiler has written no section %s", name)
	}
	text, _, _ = strings.Cut(text, "}")
	for line := range strings.Lines(text) {
		directive, list, _ := strings.Cut(strings.TrimSpace(line), " ")
		size := slices.Index([]string{".b8", ".b16", "", ".b32", "", "", "", ".b64"}, directive) + 1
		if size == 0 || directive == "" {
			continue
		}
		for _, word := range strings.Split(list, ",") {
			v, _ := strconv.ParseInt(strings.TrimSpace(word), 0, 64) // a label is an address
			b = append(b, binary.LittleEndian.AppendUint64(nil, uint64(v))[:size]...)
		}
	}
	return b, nil
}
