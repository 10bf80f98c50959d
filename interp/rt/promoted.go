package rt

import (
	"go/types"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
)

// A Method is what a call of a method of the values of one type runs: code with its receiver, or the method of a part of the value
// that is an interface or has a compiled type.
type Method struct {
	// Code is nil if Value is not.
	Code MethodCode
	// Receiver returns the receiver from the data word of an interface value. It is nil if that is the receiver.
	Receiver func(word unsafe.Pointer) unsafe.Pointer
	// Value returns the part, which is not nil.
	Value func(word unsafe.Pointer) any
}

// Method returns the method name of the type of x, or nil if that is a compiled type. It panics if a method cannot be compiled.
func (r *Registry) Method(x any, name string) *Method {
	m := r.madeAs(interfaceWords(&x)[0])
	if m == nil {
		return nil
	}
	return m.t.find(name, reflect.TypeOf(x))
}

// find returns the method name of values of the type t. memory has the memory layout of the type.
func (t *Type) find(name string, memory reflect.Type) *Method {
	if code := t.callable(name); code != nil {
		return &Method{Code: code}
	}
	if selection := t.methodSet().find(name); selection != nil {
		return t.promoted(name, selection, memory)
	}
	if _, isPointer := t.typ.(*types.Pointer); !isPointer {
		if code := t.pointer().callable(name); code != nil { // a later cell has declared it with a pointer receiver
			return &Method{Code: code, Receiver: func(word unsafe.Pointer) unsafe.Pointer {
				if named.IsDirect(memory) {
					return unsafe.Pointer(&word)
				}
				return copyOf(memory, word)
			}}
		}
	}
	panic(missingMethodError{t.name, name})
}

// copyOf returns the address of a copy of the value at p, which has the memory layout of memory.
func copyOf(memory reflect.Type, p unsafe.Pointer) unsafe.Pointer {
	copied := reflect.New(memory)
	copied.Elem().Set(reflect.NewAt(memory, p).Elem())
	return copied.UnsafePointer()
}

// hop is a step on the way to an embedded field.
type hop struct {
	indirect bool // through a pointer
	offset   uintptr
}

// promoted returns the method that t has because it embeds a field, or because it is a pointer to a type with the method.
func (t *Type) promoted(name string, selection *types.Selection, memory reflect.Type) *Method {
	r, typ := t.registry, t.typ
	pointer, ofPointer := typ.Underlying().(*types.Pointer)
	direct := !ofPointer && named.IsDirect(memory)
	constant := !ofPointer // no variable is on the way
	if ofPointer {
		typ, memory = pointer.Elem(), memory.Elem()
	}
	var hops []hop
	for _, i := range selection.Index()[:len(selection.Index())-1] {
		p, indirect := typ.Underlying().(*types.Pointer)
		if indirect {
			typ, memory, constant = p.Elem(), memory.Elem(), false
		}
		f := memory.Field(i)
		hops = append(hops, hop{indirect, f.Offset})
		typ, memory = typ.Underlying().(*types.Struct).Field(i).Type(), f.Type
		if !r.Mentions(typ) {
			break // package reflect finds the rest of the way
		}
	}
	address := func(p unsafe.Pointer) unsafe.Pointer {
		if direct {
			word := p
			p = unsafe.Pointer(&word)
		}
		for _, h := range hops {
			if h.indirect {
				p = *(*unsafe.Pointer)(p)
			}
			if p == nil {
				panic(nilDereference)
			}
			p = unsafe.Add(p, h.offset)
		}
		return p
	}
	if !r.Mentions(typ) || types.IsInterface(typ) {
		return &Method{Value: partOf(memory, name, address)}
	}
	owner := typ
	base, embedsPointer := typ.Underlying().(*types.Pointer)
	if embedsPointer {
		owner, memory = base.Elem(), memory.Elem()
	}
	var code MethodCode
	byPointer := false
	if embedsPointer || !constant { // a cell may have declared the method again, with another receiver
		code = r.Describe(types.NewPointer(owner)).callable(name)
		byPointer = code != nil
	}
	if !byPointer {
		code = r.Describe(owner).callable(name)
	}
	if code == nil {
		panic(missingMethodError{t.name, name})
	}
	m := &Method{Code: code}
	switch {
	case byPointer && embedsPointer:
		m.Receiver = func(word unsafe.Pointer) unsafe.Pointer { return *(*unsafe.Pointer)(address(word)) }
	case byPointer, constant && !embedsPointer && !named.IsDirect(memory):
		m.Receiver = address
	case embedsPointer:
		m.Receiver = func(word unsafe.Pointer) unsafe.Pointer {
			p := *(*unsafe.Pointer)(address(word))
			if p == nil {
				panic(nilDereference)
			}
			return code.Receiver(p)
		}
	case len(hops) == 0:
		m.Receiver = func(word unsafe.Pointer) unsafe.Pointer {
			if word == nil {
				panic(NilReceiver(typeString(owner) + "." + name))
			}
			return code.Receiver(word)
		}
	default:
		m.Receiver = func(word unsafe.Pointer) unsafe.Pointer { return code.Receiver(address(word)) }
	}
	return m
}

// partOf returns Method.Value for a part of type t, an interface or a type whose method package reflect knows. address returns the
// address of the part.
func partOf(t reflect.Type, name string, address func(word unsafe.Pointer) unsafe.Pointer) func(word unsafe.Pointer) any {
	if t.Kind() != reflect.Interface && t.Kind() != reflect.Pointer {
		if _, byValue := t.MethodByName(name); !byValue {
			pointer := typeWord(reflect.PointerTo(t))
			return func(word unsafe.Pointer) (x any) {
				*interfaceWords(&x) = [2]unsafe.Pointer{pointer, address(word)}
				return x
			}
		}
	}
	return func(word unsafe.Pointer) any {
		v := reflect.NewAt(t, address(word)).Elem()
		if v.Kind() == reflect.Interface && v.IsNil() {
			panic(nilDereference)
		}
		return v.Interface()
	}
}
