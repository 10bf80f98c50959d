package yaegi

import (
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	upstream "github.com/traefik/yaegi/interp"

	"github.com/quernlab/quern/interp/lower"
)

// Yaegi has no API that returns the active functions of lowered code and their call
// positions. But the stack traces of the runtime have the arguments of runCfg, the function
// that runs an activation: the syntax tree of the function and its variables. The stack keeps
// both alive. The runtime marks values that may be stale by a question mark; those are not
// read.

// Functions begins the names of all functions of yaegi in a stack trace.
const Functions = "github.com/traefik/yaegi/interp."

// Activation is the name of the function of yaegi that runs an activation of a
// function of lowered code.
const Activation = Functions + "runCfg"

// activationLine begins the line of Activation in a stack trace.
const activationLine = Activation + "("

// Types of yaegi that are not exported, and values of those types.
var (
	frameType = field(reflect.TypeFor[upstream.Interpreter](), "frame").Elem()
	nodeType  = field(reflect.TypeFor[upstream.Interpreter](), "roots").Elem().Elem()
	funcDecl  = kindNumber(field(nodeType, "kind"), "funcDecl")
	funcLit   = kindNumber(field(nodeType, "kind"), "funcLit")
	varSym    = kindNumber(field(field(field(reflect.TypeFor[upstream.Interpreter](), "universe").Elem(), "sym").Elem().Elem(), "kind"), "varSym")
)

func field(t reflect.Type, name string) reflect.Type {
	f, _ := t.FieldByName(name)
	return f.Type
}

// kindNumber returns the number of the kind of nodes or symbols that has a name.
func kindNumber(t reflect.Type, name string) uint64 {
	v := reflect.New(t).Elem()
	for i := range uint64(256) {
		v.SetUint(i)
		if s, ok := v.Interface().(interface{ String() string }); ok && s.String() == name {
			return i
		}
	}
	return ^uint64(0)
}

// activationFrame reads an activation from arguments, the arguments of runCfg in the
// form "0x1, 0x2, ...)". ok is false for functions that lowering made.
func activationFrame(arguments string) (f Frame, ok bool) {
	first, rest, _ := strings.Cut(arguments, ", ")
	second, _, _ := strings.Cut(rest, ", ")
	node, ok1 := pointer(first)
	variables, ok2 := pointer(second)
	if !ok1 || !ok2 {
		return Frame{}, true
	}
	definition := reflect.NewAt(nodeType, node)
	for kind := uint64(0); ; {
		if kind = accessible(definition.Elem(), "kind").Uint(); kind == funcDecl || kind == funcLit {
			break
		}
		if definition = accessible(definition.Elem(), "anc"); definition.IsNil() {
			return Frame{}, false
		}
	}
	index, ok := positionVariable(definition)
	if !ok {
		return Frame{}, false
	}
	data := accessible(reflect.NewAt(frameType, variables).Elem(), "data").Interface().([]reflect.Value)
	if index < 0 || index >= len(data) || data[index].Kind() != reflect.Int {
		return Frame{}, false
	}
	return Frame{Function: functionName(definition), At: int(data[index].Int())}, true
}

// pointer parses an argument that the runtime does not mark as stale.
func pointer(text string) (unsafe.Pointer, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil || n == 0 {
		return nil, false
	}
	address := uintptr(n)
	return *(*unsafe.Pointer)(unsafe.Pointer(&address)), true
}

// positionVariable returns the index of the variable lower.Position of a function.
func positionVariable(n reflect.Value) (int, bool) {
	if accessible(n.Elem(), "ident").String() == lower.Position {
		return int(accessible(n.Elem(), "findex").Int()), true
	}
	children := accessible(n.Elem(), "child")
	for i := range children.Len() {
		if accessible(children.Index(i).Elem(), "kind").Uint() == funcLit {
			continue
		}
		if index, ok := positionVariable(children.Index(i)); ok {
			return index, ok
		}
	}
	return 0, false
}

func child(n reflect.Value, i int) (reflect.Value, bool) {
	list := accessible(n.Elem(), "child")
	if i >= list.Len() {
		return reflect.Value{}, false
	}
	return list.Index(i), true
}

// functionName returns the name of a function; for a function literal the name of
// the function that it is in, followed by ".func".
func functionName(definition reflect.Value) string {
	suffix := ""
	for ; !definition.IsNil(); definition = accessible(definition.Elem(), "anc") {
		switch accessible(definition.Elem(), "kind").Uint() {
		case funcLit:
			suffix = ".func"
		case funcDecl:
			name, ok := child(definition, 1)
			if !ok {
				return suffix
			}
			return accessible(name.Elem(), "ident").String() + suffix
		}
	}
	return suffix
}

// accessible returns a field of v, which may be unexported, as one that can be read
// and set.
func accessible(v reflect.Value, name string) reflect.Value {
	f := v.FieldByName(name)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}
