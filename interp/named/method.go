package named

import (
	"cmp"
	"fmt"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"unsafe"
)

// A Method is a method with its code.
type Method struct {
	Name string
	Path string       // the import path of the package of an unexported method; "" for that of the type
	Type reflect.Type // the signature without the receiver

	// Call runs the method. The receiver is a copy that has the type with the method, or a pointer to it if only pointers
	// have the method. The last of the arguments of a variadic method is a slice.
	Call func(receiver reflect.Value, arguments []reflect.Value) []reflect.Value

	// Word, if Call is nil, is a function that runs the method. Its first parameter is an unsafe.Pointer: the address of the
	// receiver, or the receiver itself if it consists of a pointer, see IsDirect. It is nil if a nil pointer calls a method with a
	// value receiver, and then Word panics with a NilReceiverError.
	//
	// A method that is not exported needs neither: compiled packages can ask whether a type has it, but not call it.
	Word reflect.Value

	// Earlier is a type with a method that does the same, or nil. If that method has the same name, type and kind of receiver, and the
	// type the same memory layout and owner, then the method gets its code, which takes no more stubs.
	Earlier *Type
}

// hasCode reports whether the method has code of its own.
func (m Method) hasCode() bool { return m.Call != nil || m.Word.IsValid() }

// methodKey identifies a method of a type.
type methodKey struct{ name, path string }

// methodStubs are the stubs of a method.
type methodStubs struct {
	byValue bool // the method has a value receiver
	word    stub // for a data word of an interface that holds the type of the receiver
	value   stub // for the receiver; equal to word if that is the receiver
	pointer stub // for a data word of an interface that holds a pointer; equal to word if that is the same
}

// ownCode is the code of a method of a type.
type ownCode struct {
	methodKey
	typ reflect.Type // Method.Type
	methodStubs
}

// earlierCode returns the code of the method m of m.Earlier, if it can be that of t.
func (t *Type) earlierCode(m Method, byValue bool) (s methodStubs, ok bool) {
	if m.Earlier == nil || m.Earlier.owner != t.owner || !sameMemory(m.Earlier.typ, t.typ) {
		return s, false
	}
	k := t.key(m.Name, m.Path)
	for _, c := range m.Earlier.code {
		if c.methodKey == k && c.typ == m.Type && c.byValue == byValue {
			return c.methodStubs, true
		}
	}
	return s, false
}

// NilReceiverError is the panic of a method with a value receiver that a nil pointer calls.
type NilReceiverError struct{ Path, Type, Method string }

func (e *NilReceiverError) Error() string {
	return fmt.Sprintf("value method %s.%s.%s called using nil *%[2]s pointer", e.Path, e.Type, e.Method)
}

// RuntimeError makes it a runtime.Error.
func (*NilReceiverError) RuntimeError() {}

// sorted returns methods in the order of the compiler.
func sorted(methods []Method) []Method {
	return slices.SortedFunc(slices.Values(methods), func(a, b Method) int {
		if x, y := token.IsExported(a.Name), token.IsExported(b.Name); x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path))
	})
}

// key returns the key of a method of t.
func (t *Type) key(name, path string) methodKey {
	if token.IsExported(name) {
		return methodKey{name: name}
	}
	return methodKey{name, cmp.Or(path, t.path)}
}

// methodName returns the name of a method in descriptors.
func (t *Type) methodName(m Method) offset {
	k := t.key(m.Name, m.Path)
	if k.path == "" {
		return nameOffset(k.name, "", nameExported)
	} else if k.path == t.path {
		k.path = ""
	}
	return nameOffset(k.name, k.path, 0)
}

// setMethods gives t its methods.
func (t *Type) setMethods(methods []Method) error {
	pointer := map[methodKey]bool{}
	direct, n := IsDirect(t.typ), 0
	for _, m := range t.d.Methods {
		pointer[t.key(m.Name, m.Path)] = m.Pointer
	}
	seen := map[methodKey]bool{}
	for _, m := range methods {
		k := t.key(m.Name, m.Path)
		byPointer, declared := pointer[k]
		if !declared || seen[k] || !byPointer && t.typ.Kind() == reflect.Interface || m.Type == nil || !m.hasCode() && token.IsExported(m.Name) {
			return fmt.Errorf("the type %s: the method %s has not been declared, or has no type or no code", t.d.Name, m.Name)
		}
		seen[k] = true
		if !m.hasCode() {
			continue
		}
		if _, ok := t.earlierCode(m, !byPointer); ok {
			continue
		}
		if n++; !byPointer {
			n++
		}
	}
	stubs, err := t.owner.take(n, t.d.Name)
	if err != nil {
		return err
	}
	own, all := methodList{entries: t.d.list}, methodList{entries: t.d.pointer}
	for _, m := range sorted(methods) {
		k := t.key(m.Name, m.Path)
		byValue := !pointer[k]
		word, value, byPointer := uncallable().offset, uncallable().offset, uncallable().offset
		if m.hasCode() {
			s, ok := t.earlierCode(m, byValue)
			if !ok {
				s, stubs = newStubs(stubs, byValue, direct)
				t.setCode(s, m)
			}
			t.code = append(t.code, ownCode{k, m.Type, s})
			word, value, byPointer = s.word.offset(), s.value.offset(), s.pointer.offset()
		}
		if byValue {
			own.add(t, m, word, value)
		}
		all.add(t, m, byPointer, byPointer)
	}
	own.finish(t.typ)
	all.finish(reflect.PointerTo(t.typ))
	t.d = nil
	return nil
}

// newStubs returns the stubs of a method, and the remaining ones. direct says whether the receiver is its data word.
func newStubs(stubs []stub, byValue, direct bool) (s methodStubs, remaining []stub) {
	s = methodStubs{byValue: byValue, word: stubs[0], value: stubs[0], pointer: stubs[0]}
	switch {
	case !byValue:
		return s, stubs[1:]
	case direct:
		s.pointer = stubs[1]
	default:
		s.value = stubs[1]
	}
	return s, stubs[2:]
}

// methodList is the list of methods of a type, while it is being filled.
type methodList struct {
	entries        []methodEntry
	count, exports uint16
}

func (l *methodList) add(t *Type, m Method, word, value offset) {
	l.entries[l.count] = methodEntry{t.methodName(m), addReflectOff(pointerOf(m.Type)), word, value}
	l.count++
	if token.IsExported(m.Name) {
		l.exports++
	}
}

// finish makes the methods known to the runtime.
func (l *methodList) finish(t reflect.Type) {
	u := (*uncommonType)(unsafe.Add(pointerOf(t), baseOf(t.Kind()).Size()))
	u.count, u.exports = l.count, l.exports
}

// setCode puts the code of m behind its stubs.
func (t *Type) setCode(s methodStubs, m Method) {
	direct, call, word := IsDirect(t.typ), m.Call, m.Word
	if call == nil {
		call = t.callWord(s, word)
	}
	if !word.IsValid() {
		word = t.function(m, reflect.TypeFor[unsafe.Pointer](), func(in []reflect.Value) []reflect.Value {
			p := in[0].UnsafePointer()
			switch {
			case !s.byValue:
				return call(reflect.NewAt(t.typ, p), in[1:])
			case direct:
				return call(t.copied(unsafe.Pointer(&p)), in[1:])
			}
			return call(t.receiver(p, m.Name), in[1:])
		})
	}
	s.word.set(word)
	switch {
	case s.pointer != s.word:
		s.pointer.set(t.function(m, reflect.TypeFor[unsafe.Pointer](), func(in []reflect.Value) []reflect.Value {
			return call(t.receiver(in[0].UnsafePointer(), m.Name), in[1:])
		}))
	case s.value != s.word: // the receiver is passed as one of passed is: package reflect keeps each function type for ever
		passed := passedAs(t.d.Memory)
		s.value.set(t.function(m, passed, func(in []reflect.Value) []reflect.Value {
			receiver := reflect.New(t.typ)
			reflect.NewAt(passed, receiver.UnsafePointer()).Elem().Set(in[0])
			return call(receiver.Elem(), in[1:])
		}))
	}
}

// passedAs returns a type whose values functions take in the same registers as those of t, and with the same memory. It is the same one
// for structs that differ in the names of their fields, for example.
func passedAs(t reflect.Type) reflect.Type {
	passed := t
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func:
		return reflect.TypeFor[unsafe.Pointer]()
	case reflect.Slice:
		return reflect.TypeFor[[]byte]()
	case reflect.Interface:
		return reflect.TypeFor[any]()
	case reflect.Array:
		passed = reflect.ArrayOf(t.Len(), passedAs(t.Elem()))
	case reflect.Struct:
		fields := make([]reflect.StructField, t.NumField())
		for i := range fields {
			fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: passedAs(t.Field(i).Type)}
		}
		passed = reflect.StructOf(fields)
	}
	if c, d := (*commonType)(pointerOf(t)), (*commonType)(pointerOf(passed)); c.size != d.size || c.ptrBytes != d.ptrBytes || c.align != d.align {
		return t
	}
	return passed
}

// function returns a function with the signature of m and a first parameter for the receiver.
func (t *Type) function(m Method, receiver reflect.Type, run func(in []reflect.Value) []reflect.Value) reflect.Value {
	in := []reflect.Type{receiver}
	for p := range m.Type.Ins() {
		in = append(in, p)
	}
	var out []reflect.Type
	for r := range m.Type.Outs() {
		out = append(out, r)
	}
	return reflect.MakeFunc(reflect.FuncOf(in, out, m.Type.IsVariadic()), run)
}

// callWord returns what Method.Call is for a method that only has Method.Word.
func (t *Type) callWord(s methodStubs, word reflect.Value) func(receiver reflect.Value, arguments []reflect.Value) []reflect.Value {
	return func(receiver reflect.Value, arguments []reflect.Value) []reflect.Value {
		p := unsafe.Pointer(nil)
		switch {
		case !s.byValue:
			p = receiver.UnsafePointer()
		case IsDirect(t.typ):
			p = *(*unsafe.Pointer)(receiver.Addr().UnsafePointer())
		default:
			p = receiver.Addr().UnsafePointer()
		}
		in := append([]reflect.Value{reflect.ValueOf(p)}, arguments...)
		if word.Type().IsVariadic() {
			return word.CallSlice(in)
		}
		return word.Call(in)
	}
}

// receiver returns a copy of the receiver at p.
func (t *Type) receiver(p unsafe.Pointer, method string) reflect.Value {
	if p == nil {
		panic(&NilReceiverError{t.path, t.typ.Name(), method})
	}
	return t.copied(p)
}

func (t *Type) copied(p unsafe.Pointer) reflect.Value {
	v := reflect.New(t.typ).Elem()
	v.Set(reflect.NewAt(t.typ, p).Elem())
	return v
}
