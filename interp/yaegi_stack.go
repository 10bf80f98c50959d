package interp

import (
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	yaegi "github.com/traefik/yaegi/interp"

	"github.com/quernlab/quern/interp/lower"
)

// Which functions of lowered code are active, and where each was called, no
// interface of yaegi tells. The stack traces of the runtime do: they give the
// arguments of runCfg, the function that runs an activation, which are the tree
// of the function and its variables. Both are kept by the stack itself. What the
// runtime holds to be stale it marks by a ?, and that is not looked at.

// activation is the function of yaegi that runs an activation of a function.
const activation = engineFunctions + "runCfg"

// engineActivation begins its line in a stack.
const engineActivation = activation + "("

// Types and values of yaegi that have no exported name.
var (
	yaegiFrame = field(reflect.TypeFor[yaegi.Interpreter](), "frame").Elem()
	yaegiNode  = field(reflect.TypeFor[yaegi.Interpreter](), "roots").Elem().Elem()
	funcDecl   = kindNumber(field(yaegiNode, "kind"), "funcDecl")
	funcLit    = kindNumber(field(yaegiNode, "kind"), "funcLit")
	varSym     = kindNumber(field(field(field(reflect.TypeFor[yaegi.Interpreter](), "universe").Elem(), "sym").Elem().Elem(), "kind"), "varSym")
)

func field(t reflect.Type, name string) reflect.Type {
	f, _ := t.FieldByName(name)
	return f.Type
}

// kindNumber is the number of a kind of nodes or symbols.
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

// Trace implements engine.
func (e *yaegiEngine) Trace() []frame { return e.trace.take() }

// Frames implements engine.
func (e *yaegiEngine) Frames(stack string) []frame { return framesOf(stack) }

// activationFrame describes an activation from the arguments "0x1, 0x2, ...) of
// runCfg. It has none for functions that lowering made.
func activationFrame(arguments string) (f frame, ok bool) {
	first, rest, _ := strings.Cut(arguments, ", ")
	second, _, _ := strings.Cut(rest, ", ")
	node, ok1 := pointer(first)
	variables, ok2 := pointer(second)
	if !ok1 || !ok2 {
		return frame{}, true
	}
	definition := reflect.NewAt(yaegiNode, node)
	for kind := uint64(0); ; {
		if kind = accessible(definition.Elem(), "kind").Uint(); kind == funcDecl || kind == funcLit {
			break
		}
		if definition = accessible(definition.Elem(), "anc"); definition.IsNil() {
			return frame{}, false
		}
	}
	index, ok := positionVariable(definition)
	if !ok {
		return frame{}, false
	}
	data := accessible(reflect.NewAt(yaegiFrame, variables).Elem(), "data").Interface().([]reflect.Value)
	if index < 0 || index >= len(data) || data[index].Kind() != reflect.Int {
		return frame{}, false
	}
	return frame{function: functionName(definition), at: int(data[index].Int())}, true
}

// pointer reads an argument that the runtime holds to be live.
func pointer(text string) (unsafe.Pointer, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil || n == 0 {
		return nil, false
	}
	address := uintptr(n)
	return *(*unsafe.Pointer)(unsafe.Pointer(&address)), true
}

// positionVariable is the index of the variable lower.Position of a function.
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

// functionName is the name of a function, or of the one that a literal stands in
// with ".func" behind it.
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
