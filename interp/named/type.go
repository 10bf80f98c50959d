package named

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// A Declaration says what must be known of a type to make it.
type Declaration struct {
	Name    string       // with that of its package: "main.P", or "main.Stack[int]"
	Path    string       // the import path of the package
	Memory  reflect.Type // has the kind and the memory layout of the type
	Methods []MethodName // all methods, also promoted ones; only pointers to an interface type have any
	Literal bool         // the type has no name, and Name is its text: a struct with methods of embedded fields
}

// A MethodName is a method of a type that is being made.
type MethodName struct {
	Name    string
	Path    string // the import path of the package of an unexported method; "" for that of the type
	Pointer bool   // only the pointer type has it
}

// Parts are the final components of a type, which replace those of Declaration.Memory. They have the same memory layout.
type Parts struct {
	Type    reflect.Type          // an unnamed type with the components, for a type that is neither a struct nor an interface; nil if they are final
	Fields  []reflect.StructField // the fields of a struct with their tags; PkgPath and Anonymous count, Offset does not; nil if they are final
	Methods []Method              // of an interface: name, path and type
}

// A Type is a named type that is being made, or has been made.
type Type struct {
	owner *Owner
	path  string // of the package
	typ   reflect.Type
	code  []ownCode   // of the methods that have some
	d     *unfinished // nil when the type is complete
}

// unfinished is a type that is being made.
type unfinished struct {
	Declaration
	list    []methodEntry // of the type
	pointer []methodEntry // of the pointer type
	parts   []unsafe.Pointer
}

// MaxMethods is the largest number of methods that a type can have.
const MaxMethods = math.MaxUint16

// A MethodLimitError reports a type with too many methods.
type MethodLimitError struct {
	Type    string
	Methods int
}

func (e *MethodLimitError) Error() string {
	return fmt.Sprintf("the type %s has %d methods, and a type can have at most %d: divide it", e.Type, e.Methods, MaxMethods)
}

// New makes a type, and the pointer type to it. They can be components of other types, but have no methods until Complete
// has been called.
func (o *Owner) New(d Declaration) (*Type, error) {
	if err := Check(); err != nil {
		return nil, err
	}
	return o.make(d)
}

// make is New without the check.
func (o *Owner) make(d Declaration) (*Type, error) {
	if len(d.Methods) > MaxMethods {
		return nil, &MethodLimitError{d.Name, len(d.Methods)}
	}
	values := 0
	for _, m := range d.Methods {
		if !m.Pointer {
			values++
		}
	}
	k, parts := d.Memory.Kind(), 0
	if k == reflect.Func {
		parts = d.Memory.NumIn() + d.Memory.NumOut()
	}
	t := &Type{owner: o, path: d.Path, d: &unfinished{Declaration: d}}
	made, u, list, methods := allocate(k, parts, values)
	copyBase(made, pointerOf(d.Memory), k)
	t.d.parts, t.d.list = list, methods
	if k == reflect.Func {
		copy(t.d.parts, signature(d.Memory))
	}
	c := (*commonType)(made)
	c.flags = c.flags&^(flagExtraStar|flagNamed) | flagUncommon
	if !d.Literal {
		c.flags |= flagNamed
	}
	c.str = nameOffset(d.Name, "", nameExported)
	c.hash ^= uint32(addReflectOff(made)) * 0x9e3779b1
	u.path = nameOffset(d.Path, "", 0)

	pointer, pu, _, methods := allocate(reflect.Pointer, 0, len(d.Methods))
	copyBase(pointer, pointerOf(reflect.TypeFor[*unsafe.Pointer]()), reflect.Pointer)
	t.d.pointer = methods
	p := (*elemType)(pointer)
	p.elem = made
	p.flags = p.flags&^(flagExtraStar|flagNamed) | flagUncommon
	p.str = nameOffset("*"+d.Name, "", nameExported)
	p.hash = c.hash*16777619 ^ '*'
	p.pointerToThis = 0
	pu.path = u.path
	c.pointerToThis = addReflectOff(pointer)
	t.typ = typeAt(made)
	return t, nil
}

// Type returns the reflect.Type.
func (t *Type) Type() reflect.Type { return t.typ }

// Complete gives t its components and its methods, which are those of Declaration.Methods or some of them.
func (t *Type) Complete(parts Parts, methods []Method) error {
	if err := t.setParts(parts); err != nil {
		return fmt.Errorf("the type %s: %w", t.d.Name, err)
	}
	return t.setMethods(methods)
}

// setParts gives the components their final types.
func (t *Type) setParts(parts Parts) error {
	p, k := pointerOf(t.typ), t.typ.Kind()
	switch {
	case k == reflect.Struct:
		return t.setFields(parts.Fields)
	case k == reflect.Interface:
		t.setInterface(parts.Methods)
		return nil
	case parts.Type == nil:
		parts.Type = t.d.Memory
	}
	final := parts.Type
	if final.Name() != "" && final != t.d.Memory {
		return fmt.Errorf("%s has a name", final)
	}
	if !sameMemory(t.d.Memory, final) {
		return fmt.Errorf("%s has another memory layout than %s", final, t.d.Memory)
	}
	switch k {
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		(*elemType)(p).elem = pointerOf(final.Elem())
	case reflect.Array:
		a := (*arrayType)(p)
		a.elem, a.slice = pointerOf(final.Elem()), pointerOf(reflect.SliceOf(final.Elem()))
		a.equal = t.equal()
	case reflect.Map:
		m := (*mapType)(p)
		c := m.commonType
		*m = *(*mapType)(pointerOf(final))
		m.commonType = c
	case reflect.Func:
		if final.NumIn() != t.d.Memory.NumIn() || final.NumOut() != t.d.Memory.NumOut() || final.IsVariadic() != t.d.Memory.IsVariadic() {
			return fmt.Errorf("%s has another number of parameters or results than %s", final, t.d.Memory)
		}
		for i := range final.NumIn() {
			t.d.parts[i] = pointerOf(final.In(i))
		}
		for i := range final.NumOut() {
			t.d.parts[final.NumIn()+i] = pointerOf(final.Out(i))
		}
	}
	return nil
}

// setFields is setParts for a struct.
func (t *Type) setFields(fields []reflect.StructField) error {
	memory := t.d.Memory
	if fields == nil {
		for f := range memory.Fields() {
			fields = append(fields, f)
		}
	}
	if len(fields) != memory.NumField() {
		return fmt.Errorf("%d fields in place of %d", len(fields), memory.NumField())
	}
	s := (*structType)(pointerOf(t.typ))
	s.fields = make([]structField, len(fields))
	path := ""
	for i, f := range fields {
		want := memory.Field(i)
		if !sameMemory(want.Type, f.Type) {
			return fmt.Errorf("the field %s of type %s has another memory layout than %s", f.Name, f.Type, want.Type)
		}
		var flags byte
		if f.PkgPath == "" {
			flags = nameExported
		} else if path != "" && path != f.PkgPath {
			return fmt.Errorf("unexported fields of the packages %s and %s", path, f.PkgPath)
		} else {
			path = f.PkgPath
		}
		if f.Anonymous {
			flags |= nameEmbedded
		}
		s.fields[i] = structField{encodeName(f.Name, string(f.Tag), "", flags), pointerOf(f.Type), want.Offset}
	}
	s.path = nil
	if path != "" {
		s.path = encodeName(path, "", "", 0)
	}
	s.equal = t.equal()
	return nil
}

// setInterface is setParts for an interface.
func (t *Type) setInterface(methods []Method) {
	i := (*interfaceType)(pointerOf(t.typ))
	i.methods = make([]interfaceMethod, len(methods))
	for k, m := range sorted(methods) {
		i.methods[k] = interfaceMethod{t.methodName(m), addReflectOff(pointerOf(m.Type))}
	}
	i.path = encodeName(t.path, "", "", 0)
	i.equal = (*commonType)(pointerOf(reflect.TypeFor[any]())).equal
	if len(methods) > 0 { // the first word of a value is another one
		i.equal = (*commonType)(pointerOf(reflect.TypeFor[error]())).equal
	}
}

// equal returns the function that compares two values of a struct or array type, or nil if they cannot be compared. Blank
// fields do not count. Functions of package reflect may compare components of other types than the final ones.
func (t *Type) equal() func(p, q unsafe.Pointer) bool {
	c := (*commonType)(pointerOf(t.typ))
	if c.equal == nil || c.flags&flagRegular != 0 {
		return c.equal
	}
	if t.typ.Kind() == reflect.Array {
		a := (*arrayType)(unsafe.Pointer(c))
		return func(p, q unsafe.Pointer) bool {
			elem := (*commonType)(a.elem)
			for i := range a.length {
				if !elem.equal(unsafe.Add(p, i*elem.size), unsafe.Add(q, i*elem.size)) {
					return false
				}
			}
			return true
		}
	}
	s := (*structType)(unsafe.Pointer(c))
	return func(p, q unsafe.Pointer) bool {
		for _, f := range s.fields {
			if !f.isBlank() && !(*commonType)(f.typ).equal(unsafe.Add(p, f.offset), unsafe.Add(q, f.offset)) {
				return false
			}
		}
		return true
	}
}

// isBlank reports whether the name of the field is "_".
func (f structField) isBlank() bool {
	name := (*[3]byte)(unsafe.Pointer(f.name)) // flags, length and text, see encodeName
	return name[1] == 1 && name[2] == '_'
}

// sameMemory reports whether values of a can be values of b: they have the same kinds in the same places, and the same
// pointers.
func sameMemory(a, b reflect.Type) bool {
	if a == b {
		return true
	}
	c, d := (*commonType)(pointerOf(a)), (*commonType)(pointerOf(b))
	if a.Kind() != b.Kind() || c.size != d.size || c.ptrBytes != d.ptrBytes || c.align != d.align || c.equal == nil != (d.equal == nil) {
		return false
	}
	switch a.Kind() {
	case reflect.Struct:
		if a.NumField() != b.NumField() {
			return false
		}
		for i := range a.NumField() {
			f, g := a.Field(i), b.Field(i)
			if f.Offset != g.Offset || !sameMemory(f.Type, g.Type) {
				return false
			}
		}
	case reflect.Array:
		return a.Len() == b.Len() && sameMemory(a.Elem(), b.Elem())
	case reflect.Chan:
		return a.ChanDir() == b.ChanDir()
	}
	return true
}
