package vm

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/desugar"
)

// genericPackage contains the compiled loops over slices of ordered types that our versions of packages
// slices and sort call.
const genericPackage = "github.com/quernlab/quern/interp/generic/compiled"

// callOrdered compiles a call of a function of genericPackage. Its arguments must have the form
// reflect.ValueOf(s) for a slice s.
func (c *compiler) callOrdered(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	symbol, ok := c.vm.config.Packages[genericPackage+"/"+o.Pkg().Name()][o.Name()]
	if !ok || symbol.Kind() != reflect.Func {
		c.fail(e, "a call of %s", o.FullName())
	}
	before := c.mark()
	var lists []operand
	for _, argument := range e.Args {
		lists = append(lists, c.snapshot(c.reflected(argument)))
	}
	c.release(before)
	var results []uint16
	var operands []operand
	for v := range sig.Results().Variables() {
		operands = append(operands, c.temporary(c.shape(e, v.Type())))
		results = append(results, operands[len(operands)-1].reg)
	}
	run := ordered(symbol.Interface(), lists, results)
	if run == nil {
		c.fail(e, "a call of %s", o.FullName())
	}
	c.native(o.FullName(), &native{run: run})
	return operands
}

// ordered returns the native function that calls f with the slices in lists.
func ordered(f any, lists []operand, results []uint16) func(*thread, unsafe.Pointer, unsafe.Pointer) {
	list := func(i int, nb, sb unsafe.Pointer) reflect.Value { return lists[i].get(nb, sb, lists[i].reg) }
	switch f := f.(type) {
	case func(reflect.Value):
		return func(_ *thread, nb, sb unsafe.Pointer) { f(list(0, nb, sb)) }
	case func(reflect.Value) bool:
		ok := results[0]
		return func(_ *thread, nb, sb unsafe.Pointer) { *intAt(nb, ok) = boolToInt(f(list(0, nb, sb))) }
	case func(reflect.Value) (bool, bool):
		r, ok := results[0], results[1]
		return func(_ *thread, nb, sb unsafe.Pointer) {
			is, known := f(list(0, nb, sb))
			*intAt(nb, r), *intAt(nb, ok) = boolToInt(is), boolToInt(known)
		}
	case func(reflect.Value) (int, bool):
		r, ok := results[0], results[1]
		return func(_ *thread, nb, sb unsafe.Pointer) {
			n, known := f(list(0, nb, sb))
			*intAt(nb, r), *intAt(nb, ok) = int64(n), boolToInt(known)
		}
	case func(_, _ reflect.Value) (bool, bool):
		r, ok := results[0], results[1]
		return func(_ *thread, nb, sb unsafe.Pointer) {
			is, known := f(list(0, nb, sb), list(1, nb, sb))
			*intAt(nb, r), *intAt(nb, ok) = boolToInt(is), boolToInt(known)
		}
	case func(_, _ reflect.Value) (int, bool):
		r, ok := results[0], results[1]
		return func(_ *thread, nb, sb unsafe.Pointer) {
			n, known := f(list(0, nb, sb), list(1, nb, sb))
			*intAt(nb, r), *intAt(nb, ok) = int64(n), boolToInt(known)
		}
	}
	return nil
}

// takesSlices reports whether all parameters are of type reflect.Value.
func takesSlices(sig *types.Signature) bool {
	for v := range sig.Params().Variables() {
		if types.TypeString(v.Type(), nil) != "reflect.Value" {
			return false
		}
	}
	return true
}

// reflected compiles the slice s of an argument reflect.ValueOf(s).
func (c *compiler) reflected(e ast.Expr) operand {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if ok && len(call.Args) == 1 {
		if f, ok := c.source.Info.Uses[desugar.CalledIdent(call.Fun)].(*types.Func); ok && f.FullName() == "reflect.ValueOf" {
			if _, ok := c.typeOf(call.Args[0]).Underlying().(*types.Slice); ok {
				return c.expr(call.Args[0], nil)
			}
		}
	}
	c.fail(e, "a reflect.Value")
	return operand{}
}
