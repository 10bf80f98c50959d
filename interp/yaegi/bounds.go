package yaegi

import (
	"go/constant"
	"reflect"
	"runtime"
	"unsafe"

	upstream "github.com/traefik/yaegi/interp"

	"github.com/quernlab/quern/interp/rt"
)

// Yaegi indexes and slices through package reflect, whose panics have neither index nor
// length. So the code that it runs for such an expression is preceded by a check that
// panics as compiled Go does: it finds the operands where yaegi has put them.

// step and generator are yaegi's types bltn, the code of a node, which returns the code
// that runs next, and bltnGenerator, which generates the code of a node.
type (
	step      func(frame unsafe.Pointer) step
	generator func(node unsafe.Pointer)
)

// Offsets of fields of yaegi's nodes and frames.
var (
	nodeKind      = offset(nodeType, "kind")
	nodeChildren  = offset(nodeType, "child")
	nodeStart     = offset(nodeType, "start")
	nodeStep      = offset(nodeType, "exec")
	nodeGenerator = offset(nodeType, "gen")
	nodeNext      = offset(nodeType, "tnext")
	nodeElse      = offset(nodeType, "fnext")
	frameData     = offset(frameType, "data")
	frameOuter    = offset(frameType, "anc")
	frameRoot     = offset(frameType, "root")

	indexExpr = kindNumber(field(nodeType, "kind"), "indexExpr")
	sliceExpr = kindNumber(field(nodeType, "kind"), "sliceExpr")
)

func offset(t reflect.Type, name string) uintptr {
	f, _ := t.FieldByName(name)
	return f.Offset
}

func stepOf(node unsafe.Pointer) *step { return (*step)(unsafe.Add(node, nodeStep)) }

func generatorOf(node unsafe.Pointer) *generator {
	return (*generator)(unsafe.Add(node, nodeGenerator))
}

func kindOf(node unsafe.Pointer) uint64 { return uint64(*(*uint)(unsafe.Add(node, nodeKind))) }

func childrenOf(node unsafe.Pointer) []unsafe.Pointer {
	return *(*[]unsafe.Pointer)(unsafe.Add(node, nodeChildren))
}

// CheckBounds adds checks to the index and slice expressions of a program that has been
// compiled and not yet executed.
//
// Yaegi generates the code of declared functions when it executes the program, but that
// of function literals when it compiles it; their code is generated again.
func CheckBounds(p *upstream.Program) {
	checkNodes(accessible(reflect.ValueOf(p).Elem(), "root").UnsafePointer())
}

// checkNodes adds checks to n and the nodes below it. It reports whether it has added one
// outside of function literals.
func checkNodes(n unsafe.Pointer) (found bool) {
	if n == nil {
		return false
	}
	found = checkNode(n)
	children := childrenOf(n)
	for _, c := range children {
		found = checkNodes(c) || found
	}
	if !found || kindOf(n) != funcLit {
		return found
	}
	body := children[len(children)-1]
	removeCode(body)
	generateCode(*(*unsafe.Pointer)(unsafe.Add(body, nodeStart)))
	return false
}

// removeCode removes the code of n and the nodes below it, except that of the bodies of
// function literals.
func removeCode(n unsafe.Pointer) {
	*stepOf(n) = nil
	if kindOf(n) != funcLit {
		for _, c := range childrenOf(n) {
			removeCode(c)
		}
	}
}

// generateCode does what yaegi's function setExec does: it generates the code of n and of
// the nodes that can follow it.
func generateCode(n unsafe.Pointer) {
	visited := map[unsafe.Pointer]bool{}
	var visit func(n unsafe.Pointer)
	visit = func(n unsafe.Pointer) {
		if n == nil || *stepOf(n) != nil {
			return
		}
		visited[n] = true
		for _, field := range []uintptr{nodeNext, nodeElse} {
			next := *(*unsafe.Pointer)(unsafe.Add(n, field))
			switch {
			case next == nil || *stepOf(next) != nil:
			case visited[next]: // a loop
				*stepOf(next) = func(frame unsafe.Pointer) step { return (*stepOf(next))(frame) }
			default:
				visit(next)
			}
		}
		(*generatorOf(n))(n)
	}
	visit(n)
}

// checkNode replaces the generator of a node that has operands to check, and reports
// whether it has. Yaegi knows where the operands are when it calls the generator.
func checkNode(n unsafe.Pointer) bool {
	kind, generate := kindOf(n), *generatorOf(n)
	if kind != indexExpr && kind != sliceExpr || generate == nil {
		return false
	}
	var check func(children []unsafe.Pointer) func(frame unsafe.Pointer)
	switch runtime.FuncForPC(reflect.ValueOf(generate).Pointer()).Name() {
	case Functions + "getIndexArray":
		check = indexCheck
	case Functions + "slice":
		check = func(children []unsafe.Pointer) func(unsafe.Pointer) { return sliceCheck(children, true) }
	case Functions + "slice0":
		check = func(children []unsafe.Pointer) func(unsafe.Pointer) { return sliceCheck(children, false) }
	default:
		return false
	}
	*generatorOf(n) = func(node unsafe.Pointer) {
		generate(node)
		run := *stepOf(node)
		checked := check(childrenOf(node))
		*stepOf(node) = func(frame unsafe.Pointer) step {
			checked(frame)
			return run(frame)
		}
	}
	return true
}

// indexCheck returns the check of an expression whose node has the children x and i.
func indexCheck(children []unsafe.Pointer) func(unsafe.Pointer) {
	x, i := operandOf(children[0]), operandOf(children[1])
	return func(frame unsafe.Pointer) {
		v, index := sequence(x(frame)), i(frame)
		switch {
		case !v.IsValid():
		case index.CanInt():
			rt.Index(int(index.Int()), v.Len())
		case index.CanUint():
			rt.IndexUnsigned(index.Uint(), v.Len())
		}
	}
}

// sliceCheck returns the check of an expression whose node has the operand and its bounds
// as children. The first bound is the lower one if hasLow.
func sliceCheck(children []unsafe.Pointer, hasLow bool) func(unsafe.Pointer) {
	x := operandOf(children[0])
	var bounds []operand
	for _, c := range children[1:] {
		bounds = append(bounds, operandOf(c))
	}
	first := 1
	if hasLow {
		first = 0
	}
	return func(frame unsafe.Pointer) {
		v := sequence(x(frame))
		if !v.IsValid() {
			return
		}
		var values [3]rt.Bound
		for i, b := range bounds {
			switch b := b(frame); {
			case b.CanInt():
				values[first+i] = rt.At(int(b.Int()))
			case b.CanUint():
				values[first+i] = rt.AtUnsigned(b.Uint())
			default:
				return
			}
		}
		limit, isSlice := v.Len(), v.Kind() == reflect.Slice
		if isSlice {
			limit = v.Cap()
		}
		rt.CheckSlice(values[0], values[1], values[2], v.Len(), limit, isSlice)
	}
}

// sequence returns what an operand indexes: the array that v points to, or v itself. The
// result is not valid for a nil pointer.
func sequence(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		return v.Elem()
	case reflect.Array, reflect.Slice, reflect.String:
		return v
	}
	return reflect.Value{}
}

// An operand returns a value of a frame. The result is not valid if yaegi has the value
// elsewhere.
type operand func(frame unsafe.Pointer) reflect.Value

// operandOf does what yaegi's function genValue does. The result does not refer to the
// node, because a session would keep the syntax tree.
func operandOf(n unsafe.Pointer) operand {
	node := reflect.NewAt(nodeType, n).Elem()
	if v := accessible(node, "rval").Interface().(reflect.Value); v.IsValid() {
		if i := constantInt(v); i.IsValid() {
			v = i
		}
		return func(unsafe.Pointer) reflect.Value { return v }
	}
	index, level := int(accessible(node, "findex").Int()), int(accessible(node, "level").Int())
	if symbol := accessible(node, "sym"); !symbol.IsNil() {
		s := symbol.Elem()
		index = int(accessible(s, "index").Int())
		if of := accessible(s, "node"); index < 0 && !of.IsNil() && of.UnsafePointer() != n {
			return operandOf(of.UnsafePointer())
		}
		if accessible(s, "global").Bool() {
			level = -1
		}
	}
	return func(frame unsafe.Pointer) reflect.Value {
		if level < 0 {
			frame = *(*unsafe.Pointer)(unsafe.Add(frame, frameRoot))
		}
		for range level {
			frame = *(*unsafe.Pointer)(unsafe.Add(frame, frameOuter))
		}
		data := *(*[]reflect.Value)(unsafe.Add(frame, frameData))
		if index < 0 || index >= len(data) {
			return reflect.Value{}
		}
		return data[index]
	}
}

// constantInt returns the integer that v holds as a constant of package go/constant. The
// result is not valid if v holds none.
func constantInt(v reflect.Value) reflect.Value {
	if !v.CanInterface() {
		return reflect.Value{}
	}
	c, ok := v.Interface().(constant.Value)
	if !ok {
		return reflect.Value{}
	}
	if i, ok := constant.Int64Val(constant.ToInt(c)); ok {
		return reflect.ValueOf(i)
	}
	return reflect.Value{}
}
