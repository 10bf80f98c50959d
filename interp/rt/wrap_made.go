package rt

import (
	"image"
	"image/color"
	"net/http"
	"reflect"
	"sync"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
)

// A value of a cell that becomes a value of a compiled interface gets a type that has all its methods that compiled
// packages can call, because they look for more methods than those of the interface: image/png for Opaque, package context
// for AfterFunc. The type is made at run time. In memory it is a Box, so the code of a method needs no more than its
// receiver, and all types share the code of methods with the same name and signature.

// madeBox is the memory of these types.
type madeBox struct{ Box }

// madeBoxes are the types of a session.
type madeBoxes struct {
	types   sync.Map // holderKey to rawType, with nil if there is none
	covered sync.Map // coverKey to bool
}

// boxCodes is the code of the methods of all sessions, which is never given back: it is the same for all types, and a
// goroutine of a closed session may go on with a value.
var boxCodes struct {
	owner named.Owner
	mu    sync.Mutex // guards known
	known map[boxCode]*named.Code
}

// boxCode identifies the code of methods.
type boxCode struct {
	compiledSignature
	own bool // a method of the cell, not of Box
}

// coverKey identifies what covers has found out.
type coverKey struct {
	holderKey
	wrapper reflect.Type
}

// covers reports whether the wrapper has all methods of t that compiled packages can call.
func (r *Registry) covers(wrapper reflect.Type, t *Type) bool {
	key := coverKey{holderKey{t, t.declaredMethods()}, wrapper}
	if known, ok := r.boxes.covered.Load(key); ok {
		return known.(bool)
	}
	all := true
	for _, m := range r.callable(t) {
		if _, ok := wrapper.MethodByName(m.name); !ok {
			all = false
		}
	}
	r.boxes.covered.Store(key, all)
	return all
}

// callable is compiledMethods for a caller that does not hold r.declared.mu.
func (r *Registry) callable(t *Type) []compiledSignature {
	r.declared.mu.Lock()
	defer r.declared.mu.Unlock()
	return r.compiledMethods(t)
}

// wrapMade returns b as a value of a made type that implements the compiled interface t, or nil if there is none.
func (r *Registry) wrapMade(b Box, t reflect.Type) any {
	key := holderKey{b.T, b.T.declaredMethods()}
	known, ok := r.boxes.types.Load(key)
	if !ok {
		known, _ = r.boxes.types.LoadOrStore(key, r.makeBoxType(b))
	}
	made := known.(rawType).Type
	if made == nil || !made.Implements(t) {
		return nil
	}
	return reflect.NewAt(made, unsafe.Pointer(&madeBox{b})).Elem().Interface()
}

// ofBox are the methods of Box that a method of a cell with the same name replaces. The others call it.
var ofBox = map[string]bool{"Raw": true, "TypeName": true, "GoType": true, "Part": true}

// makeBoxType makes the type for values of b.T.
func (r *Registry) makeBoxType(b Box) rawType {
	plain, own := reflect.TypeOf(b.T.box(b.V)), map[string]bool{}
	var all []boxCode
	for _, m := range r.callable(b.T) {
		if _, ok := plain.MethodByName(m.name); !ok || ofBox[m.name] {
			own[m.name] = true
			all = append(all, boxCode{m, true})
		}
	}
	for m := range plain.Methods() {
		if !own[m.Name] {
			all = append(all, boxCode{compiledSignature{m.Name, methodType(m.Type, 1, nil, m.Type.IsVariadic())}, false})
		}
	}
	all = append(all, boxCode{compiledSignature{"box", reflect.TypeFor[func() Box]()}, false})
	d := named.Declaration{Name: b.T.name, Path: "main", Memory: reflect.TypeFor[madeBox]()}
	var methods []named.Method
	for _, m := range all {
		code, err := sharedCode(m, plain)
		if err != nil {
			return rawType{} // yaegi's wrappers have fewer methods
		}
		method := named.Method{Name: m.name, Type: m.typ, Code: code}
		if m.name == "box" {
			method.Path = reflect.TypeFor[Box]().PkgPath()
		}
		methods = append(methods, method)
		d.Methods = append(d.Methods, named.MethodName{Name: method.Name, Path: method.Path})
	}
	made, err := boxCodes.owner.New(d)
	if err != nil || made.Complete(named.Parts{}, methods) != nil {
		return rawType{}
	}
	return rawType{made.Type()}
}

// sharedCode returns the code of a method. plain is a type of boxes that has the method, if it is none of the cell.
func sharedCode(key boxCode, plain reflect.Type) (*named.Code, error) {
	boxCodes.mu.Lock()
	defer boxCodes.mu.Unlock()
	if code := boxCodes.known[key]; code != nil {
		return code, nil
	}
	run := func(b Box, in []reflect.Value) []reflect.Value { return callCompiled(b, key.compiledSignature, in) }
	if !key.own && key.name != "box" {
		method, _ := plain.MethodByName(key.name)
		run = func(b Box, in []reflect.Value) []reflect.Value {
			in = append([]reflect.Value{reflect.NewAt(plain, unsafe.Pointer(&b)).Elem()}, in...)
			return method.Func.Call(in)
		}
	}
	word := boxWord(key)
	if word == nil {
		word = reflect.MakeFunc(methodType(key.typ, 0, reflect.TypeFor[unsafe.Pointer](), key.typ.IsVariadic()), func(in []reflect.Value) []reflect.Value {
			return run(*(*Box)(in[0].UnsafePointer()), in[1:])
		}).Interface()
	}
	value := reflect.MakeFunc(methodType(key.typ, 0, reflect.TypeFor[madeBox](), key.typ.IsVariadic()), func(in []reflect.Value) []reflect.Value {
		if key.name == "box" {
			return []reflect.Value{in[0].Field(0)}
		}
		return run(in[0].Interface().(madeBox).Box, in[1:])
	})
	code, err := boxCodes.owner.NewCode(reflect.ValueOf(word), value)
	if err != nil {
		return nil, err
	}
	if boxCodes.known == nil {
		boxCodes.known = map[boxCode]*named.Code{}
	}
	boxCodes.known[key] = code
	return code, nil
}

// boxWord returns the code of a method that compiled packages call often, without reflection, or nil. Its first
// parameter is the address of the box.
func boxWord(key boxCode) any {
	name := key.name
	if name == "box" {
		return func(p unsafe.Pointer) Box { return *(*Box)(p) }
	} else if !key.own {
		return nil
	}
	switch key.typ {
	case reflect.TypeFor[func() int]():
		return func(p unsafe.Pointer) int { return call0[int](*(*Box)(p), name) }
	case reflect.TypeFor[func() error]():
		return func(p unsafe.Pointer) error { return call0[error](*(*Box)(p), name) }
	case reflect.TypeFor[func(int, int) bool]():
		return func(p unsafe.Pointer, i, j int) bool { return call2[bool](*(*Box)(p), name, i, j) }
	case reflect.TypeFor[func(int, int)]():
		return func(p unsafe.Pointer, i, j int) { callVoid2(*(*Box)(p), name, i, j) }
	case reflect.TypeFor[func([]byte) (int, error)]():
		return func(p unsafe.Pointer, b []byte) (int, error) { return call1x2[int, error](*(*Box)(p), name, b) }
	case reflect.TypeFor[func(string) (int, error)]():
		return func(p unsafe.Pointer, s string) (int, error) { return call1x2[int, error](*(*Box)(p), name, s) }
	case reflect.TypeFor[func() (byte, error)]():
		return func(p unsafe.Pointer) (byte, error) { return call0x2[byte, error](*(*Box)(p), name) }
	case reflect.TypeFor[func() image.Rectangle]():
		return func(p unsafe.Pointer) image.Rectangle { return call0[image.Rectangle](*(*Box)(p), name) }
	case reflect.TypeFor[func(int, int) color.Color]():
		return func(p unsafe.Pointer, x, y int) color.Color { return call2[color.Color](*(*Box)(p), name, x, y) }
	case reflect.TypeFor[func(http.ResponseWriter, *http.Request)]():
		return func(p unsafe.Pointer, w http.ResponseWriter, r *http.Request) { callVoid2(*(*Box)(p), name, w, r) }
	}
	return nil
}
