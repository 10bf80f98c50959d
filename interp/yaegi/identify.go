package yaegi

import (
	"reflect"
	"strconv"
	"sync"
	"unsafe"

	upstream "github.com/traefik/yaegi/interp"

	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/vm"
)

// Yaegi makes its function values with reflect.MakeFunc. The closure that package reflect calls has captured the syntax tree
// of the function.

// Identify returns the function of lowered code behind a function value of yaegi. The second result is false for other
// function values, and for functions that lowering made.
func Identify(v reflect.Value) (vm.FunctionID, bool) {
	handler := vm.Handler(v)
	if handler == nil {
		return vm.FunctionID{}, false
	}
	at, ok := definitions()[*(*uintptr)(handler)]
	if !ok {
		return vm.FunctionID{}, false
	}
	definition := reflect.NewAt(nodeType, *(*unsafe.Pointer)(unsafe.Add(handler, at)))
	switch kindOf(definition.UnsafePointer()) {
	case funcDecl:
		return vm.FunctionID{Name: functionName(definition)}, true
	case funcLit:
		text, ok := identity(definition)
		if method, err := strconv.Unquote(text); err == nil {
			return vm.FunctionID{Name: method, MethodValue: true}, ok
		}
		position, err := strconv.Atoi(text)
		return vm.FunctionID{Name: functionName(definition), Literal: position}, ok && err == nil
	}
	return vm.FunctionID{}, false
}

// identity returns the text of the constant lower.Identity of a function literal.
func identity(literal reflect.Value) (text string, ok bool) {
	body, ok := child(literal, 3)
	if !ok {
		return "", false
	}
	statement, ok := child(body, 0)
	for ; ok; statement, ok = child(statement, 0) {
		if accessible(statement.Elem(), "ident").String() != lower.Identity {
			continue
		}
		value, ok := child(accessible(statement.Elem(), "anc"), 1)
		if !ok {
			return "", false
		}
		return accessible(value.Elem(), "ident").String(), true
	}
	return "", false
}

// definitions has the offset of the syntax tree in the closures of function literals and of declared functions, by the
// address of their code. It is empty if they are not found; then no function is identified.
var definitions = sync.OnceValue(func() map[uintptr]uintptr {
	offsets := map[uintptr]uintptr{}
	i := upstream.New(upstream.Options{})
	if _, err := i.Eval("func f() {}\nfunc g() func() { return func() {} }"); err != nil {
		return nil
	}
	for _, src := range []string{"f", "g()"} {
		v, err := i.Eval(src)
		if err != nil || v.Kind() != reflect.Func {
			return nil
		}
		handler := vm.Handler(v)
		if handler == nil {
			continue
		}
		known := map[unsafe.Pointer]bool{}
		roots := accessible(reflect.ValueOf(i).Elem(), "roots")
		for k := range roots.Len() {
			addFunctions(known, roots.Index(k).UnsafePointer())
		}
		const words = 10 // of the larger closure
		for at := unsafe.Sizeof(uintptr(0)); at < words*unsafe.Sizeof(uintptr(0)); at += unsafe.Sizeof(uintptr(0)) {
			if known[*(*unsafe.Pointer)(unsafe.Add(handler, at))] {
				offsets[*(*uintptr)(handler)] = at
				break
			}
		}
	}
	return offsets
})

// addFunctions adds the functions in a syntax tree.
func addFunctions(known map[unsafe.Pointer]bool, node unsafe.Pointer) {
	if kind := kindOf(node); kind == funcDecl || kind == funcLit {
		known[node] = true
	}
	for _, c := range childrenOf(node) {
		addFunctions(known, c)
	}
}
