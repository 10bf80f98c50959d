package rt

import (
	"go/types"
	"reflect"
)

// access says whether fmt may call the methods of a value. As in reflect, it may not
// below an unexported field. An embedded field of an unexported type hides the methods
// of that type, but not those of its exported fields.
type access uint8

const (
	visible access = iota
	embeddedHidden
	hidden
)

// field returns the access of field f in a struct whose access is a.
func (a access) field(f field) access {
	switch {
	case a == hidden:
		return hidden
	case f.exported:
		return visible
	case f.embedded:
		return embeddedHidden
	}
	return hidden
}

// inside returns the access of the elements of a value that is not a struct.
func (a access) inside() access {
	if a == visible {
		return visible
	}
	return hidden
}

// printNested formats an element, a field or a pointer target of an operand.
func (p *printer) printNested(d *Type, v reflect.Value, verb rune, depth int, a access) {
	if v.Kind() == reflect.Interface && !v.IsNil() {
		v, a = v.Elem(), a.inside()
		if b, raw, ok := p.registry.unboxValue(v); ok {
			d, v = b, raw
		} else if d != nil && types.IsInterface(d.typ) {
			d = nil
		}
	}
	switch {
	case d == nil && a == visible && v.IsValid() && v.Kind() != reflect.Interface:
		p.printCompiled(v, verb, depth)
	case d != nil && a == visible && !types.IsInterface(d.typ) && p.callMethods(d, v, verb):
	default:
		p.printValue(d, v, verb, depth, a)
	}
}

// printValue formats v by its structure. d is its interpreted type, or nil if the type
// is compiled.
func (p *printer) printValue(d *Type, v reflect.Value, verb rune, depth int, a access) {
	switch v.Kind() {
	case reflect.Invalid:
		if verb == 'v' {
			p.writeString("<nil>")
		} else {
			p.badVerb(d, v, verb, a)
		}
	case reflect.Bool:
		if verb != 't' && verb != 'v' {
			p.badVerb(d, v, verb, a)
			return
		}
		p.printBasic(v.Bool(), verb, 't')
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		p.printInteger(d, v, verb, a)
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		p.printFloat(d, v, verb, a)
	case reflect.String:
		switch verb {
		case 'v', 's', 'x', 'X', 'q':
			p.printBasic(v.String(), verb, 's')
		default:
			p.badVerb(d, v, verb, a)
		}
	case reflect.Interface:
		p.printInterface(d, v, verb, depth, a)
	case reflect.Map:
		p.printMap(d, v, verb, depth, a)
	case reflect.Struct:
		p.printStruct(d, v, verb, depth, a)
	case reflect.Array, reflect.Slice:
		p.printList(d, v, verb, depth, a)
	case reflect.Pointer:
		if depth == 0 && !v.IsNil() {
			switch v.Elem().Kind() {
			case reflect.Array, reflect.Slice, reflect.Struct, reflect.Map:
				p.writeByte('&')
				p.printNested(elemOf(d), v.Elem(), verb, depth+1, a.inside())
				return
			}
		}
		p.printPointer(d, v, verb, a)
	default:
		p.printPointer(d, v, verb, a)
	}
}

// elemOf returns the descriptor of the element type, or nil if that is compiled.
func elemOf(d *Type) *Type {
	if d == nil {
		return nil
	}
	return d.shape().elem
}

func (p *printer) printInteger(d *Type, v reflect.Value, verb rune, a access) {
	switch verb {
	case 'v', 'd', 'b', 'o', 'O', 'x', 'X', 'c', 'q', 'U':
	default:
		p.badVerb(d, v, verb, a)
		return
	}
	if v.CanInt() {
		p.printBasic(v.Int(), verb, 'd')
	} else {
		p.printBasic(v.Uint(), verb, 'd')
	}
}

func (p *printer) printFloat(d *Type, v reflect.Value, verb rune, a access) {
	switch verb {
	case 'v', 'b', 'g', 'G', 'x', 'X', 'f', 'F', 'e', 'E':
	default:
		p.badVerb(d, v, verb, a)
		return
	}
	switch v.Kind() {
	case reflect.Float32:
		p.printBasic(float32(v.Float()), verb, 'g')
	case reflect.Float64:
		p.printBasic(v.Float(), verb, 'g')
	case reflect.Complex64:
		p.printBasic(complex64(v.Complex()), verb, 'g')
	default:
		p.printBasic(v.Complex(), verb, 'g')
	}
}

// printInterface formats the value in an interface, or nil.
func (p *printer) printInterface(d *Type, v reflect.Value, verb rune, depth int, a access) {
	switch {
	case !v.IsNil():
		p.printNested(d, v, verb, depth+1, a)
	case d != nil && !types.IsInterface(d.typ): // yaegi stores this pointer in an interface
		p.padded("<nil>")
	case p.sharpV:
		p.writeString(nameOf(d, v) + "(nil)")
	default:
		p.writeString("<nil>")
	}
}

// open writes the start of a composite value, separate a separator, end the end.
func (p *printer) open(d *Type, v reflect.Value, plain string) {
	if p.sharpV {
		p.writeString(nameOf(d, v) + "{")
	} else {
		p.writeString(plain)
	}
}

func (p *printer) separate(i int) {
	switch {
	case i == 0:
	case p.sharpV:
		p.writeString(", ")
	default:
		p.writeByte(' ')
	}
}

func (p *printer) end(plain byte) {
	if p.sharpV {
		plain = '}'
	}
	p.writeByte(plain)
}

func (p *printer) printStruct(d *Type, v reflect.Value, verb rune, depth int, a access) {
	p.open(d, v, "{")
	for i := range v.NumField() {
		p.separate(i)
		f := fieldOf(d, v.Type(), i)
		if (p.plusV || p.sharpV) && f.name != "" {
			p.writeString(f.name + ":")
		}
		p.printNested(f.typ, v.Field(i), verb, depth+1, a.field(f))
	}
	p.end('}')
}

// fieldOf returns field i of the struct type d, or of t if d is nil.
func fieldOf(d *Type, t reflect.Type, i int) field {
	if d != nil {
		return d.shape().fields[i]
	}
	f := t.Field(i)
	return field{name: f.Name, tag: f.Tag, exported: f.IsExported(), embedded: f.Anonymous}
}

func (p *printer) printList(d *Type, v reflect.Value, verb rune, depth int, a access) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		switch verb {
		case 's', 'q', 'x', 'X':
			p.print(bytesOf(v), verb)
			return
		}
	}
	if p.sharpV && v.Kind() == reflect.Slice && v.IsNil() {
		p.writeString(nameOf(d, v) + "(nil)")
		return
	}
	p.open(d, v, "[")
	elem := elemOf(d)
	for i := range v.Len() {
		p.separate(i)
		p.printNested(elem, v.Index(i), verb, depth+1, a.inside())
	}
	p.end(']')
}

// bytesOf returns the bytes of a slice or an array. An array need not be addressable.
func bytesOf(v reflect.Value) []byte {
	if v.Kind() == reflect.Slice || v.CanAddr() {
		return v.Bytes()
	}
	b := make([]byte, v.Len())
	for i := range b {
		b[i] = byte(v.Index(i).Uint())
	}
	return b
}

func (p *printer) printMap(d *Type, v reflect.Value, verb rune, depth int, a access) {
	if p.sharpV && v.IsNil() {
		p.writeString(nameOf(d, v) + "(nil)")
		return
	}
	p.open(d, v, "map[")
	var key *Type
	if d != nil {
		key = d.shape().key
	}
	for i, e := range p.registry.sortedEntries(v) {
		p.separate(i)
		p.printNested(key, e.key, verb, depth+1, a.inside())
		p.writeByte(':')
		p.printNested(elemOf(d), e.value, verb, depth+1, a.inside())
	}
	p.end(']')
}

// printPointer formats an address.
func (p *printer) printPointer(d *Type, v reflect.Value, verb rune, a access) {
	switch v.Kind() {
	case reflect.Chan, reflect.Func, reflect.Map, reflect.Pointer, reflect.Slice, reflect.UnsafePointer:
	default:
		p.badVerb(d, v, verb, a)
		return
	}
	switch address := v.UnsafePointer(); {
	case verb == 'v' && p.sharpV:
		p.writeString("(" + nameOf(d, v) + ")(")
		if address == nil {
			p.writeString("nil")
		} else {
			p.print(uintptr(address), 'v')
		}
		p.writeByte(')')
	case verb == 'v', verb == 'p', verb == 'b', verb == 'o', verb == 'd', verb == 'x', verb == 'X':
		if address == nil && verb == 'v' {
			p.padded("<nil>")
			return
		}
		p.printBasic(address, verb, 'p')
	default:
		p.badVerb(d, v, verb, a)
	}
}
