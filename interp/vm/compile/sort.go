package compile

import (
	"container/heap"
	"go/ast"
	"go/types"
	"sort"

	"github.com/quernlab/quern/interp/vm"
)

// sortFunctions are the functions with a callback of two indexes.
var sortFunctions = map[string]func(list any, less func(i, j int) bool){
	"sort.Slice": sort.Slice, "sort.SliceStable": sort.SliceStable,
}

// compareFunctions are the functions with a callback of two elements; they report whether they have sorted.
var compareFunctions = map[string]func(list any, less func(i, j int) bool){
	genericPackage + ".SortFunc": sort.Slice, genericPackage + ".SortStableFunc": sort.SliceStable,
}

// collectionFunctions are the functions whose argument implements heap.Interface or sort.Interface. i is
// the second argument if it is an index, x if it is an element.
var collectionFunctions = map[string]func(c heap.Interface, i int, x any) any{
	"sort.Sort":             func(c heap.Interface, _ int, _ any) any { sort.Sort(c); return nil },
	"sort.Stable":           func(c heap.Interface, _ int, _ any) any { sort.Stable(c); return nil },
	"sort.IsSorted":         func(c heap.Interface, _ int, _ any) any { return sort.IsSorted(c) },
	"container/heap.Init":   func(c heap.Interface, _ int, _ any) any { heap.Init(c); return nil },
	"container/heap.Push":   func(c heap.Interface, _ int, x any) any { heap.Push(c, x); return nil },
	"container/heap.Pop":    func(c heap.Interface, _ int, _ any) any { return heap.Pop(c) },
	"container/heap.Remove": func(c heap.Interface, i int, _ any) any { return heap.Remove(c, i) },
	"container/heap.Fix":    func(c heap.Interface, i int, _ any) any { heap.Fix(c, i); return nil },
}

// sortsSlice reports whether e calls one of sortFunctions with a slice.
func (c *compiler) sortsSlice(e *ast.CallExpr, o *types.Func) bool {
	if sortFunctions[o.FullName()] == nil {
		return false
	}
	_, ok := c.typeOf(e.Args[0]).Underlying().(*types.Slice)
	return ok
}

// sortSlice compiles a call of one of sortFunctions.
func (c *compiler) sortSlice(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	list := c.snapshot(c.expr(e.Args[0], nil))
	less := c.exprTo(e.Args[1], sig.Params().At(1).Type(), nil)
	c.native(o.FullName(), c.vm.SortSlice(sortFunctions[o.FullName()], list.Type, list.reg, less.reg))
	return nil
}

// sortFunc compiles a call of one of compareFunctions.
func (c *compiler) sortFunc(e *ast.CallExpr, o *types.Func) []operand {
	done := c.temporary(boolShape)
	m := c.mark()
	list := c.snapshot(c.expr(e.Args[0], nil))
	compare := c.exprTo(e.Args[1], c.typeOf(e.Args[1]), nil)
	element := c.shape(e, c.typeOf(e.Args[0]).Underlying().(*types.Slice).Elem())
	c.native(o.FullName(), c.vm.SortFunc(compareFunctions[o.FullName()], list.Type, element, list.reg, compare.reg, done.reg))
	c.release(m)
	return []operand{done}
}

// callCollection compiles a call of one of collectionFunctions.
func (c *compiler) callCollection(e *ast.CallExpr, o *types.Func, sig *types.Signature, methods *vm.CollectionMethods) []operand {
	argument, reversed := c.collection(e)
	list := c.snapshot(c.expr(argument, nil))
	list.reg, list.offset = c.addressIfMemory(list), 0
	call := vm.CollectionCall{Function: collectionFunctions[o.FullName()], Methods: methods, List: list.register(), Reversed: reversed,
		Index: vm.NoRegister, Element: vm.NoRegister}
	if len(e.Args) > 1 {
		x := c.exprTo(e.Args[1], sig.Params().At(1).Type(), nil)
		if x.File == vm.Scalar {
			call.Index = x.reg
		} else {
			call.Element = x.reg
		}
	}
	var results []operand
	for v := range sig.Results().Variables() {
		results = append(results, c.temporary(c.shape(e, v.Type())))
		call.Results = append(call.Results, results[len(results)-1].register())
	}
	c.native(o.FullName(), c.vm.CallCollection(call))
	return results
}

// collection returns the collection that is the argument of one of collectionFunctions, and whether
// sort.Reverse reverses it.
func (c *compiler) collection(e *ast.CallExpr) (x ast.Expr, reversed bool) {
	x = e.Args[0]
	for isReverse(c, x) {
		x, reversed = ast.Unparen(x).(*ast.CallExpr).Args[0], !reversed
	}
	return x, reversed
}

// cellCollection returns the methods of the collection if e calls one of collectionFunctions with a value
// of a type of a cell whose methods are compiled, else nil.
func (c *compiler) cellCollection(e *ast.CallExpr, o *types.Func) *vm.CollectionMethods {
	if collectionFunctions[o.FullName()] == nil {
		return nil
	}
	x, _ := c.collection(e)
	t := types.Unalias(c.typeOf(x))
	base := t
	if p, ok := t.(*types.Pointer); ok {
		base = types.Unalias(p.Elem())
	}
	named, ok := base.(*types.Named)
	if !ok || !c.unit.config.Interpreted(named) || !isCaptured(c.shape(e, t)) {
		return nil
	}
	return c.collectionMethods(e, t, o.Pkg().Path() == "container/heap")
}

// isCaptured reports whether a collection can hold the address of a value of shape s.
func isCaptured(s vm.Shape) bool { return s.File != vm.Scalar && s.Width != "If" && !vm.IsComplex(s) }

// isReverse reports whether e is a call of sort.Reverse.
func isReverse(c *compiler, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	o := c.calledFunction(call)
	return o != nil && o.FullName() == "sort.Reverse"
}

// collectionMethods returns the methods of t that the function calls: those of heap.Interface if all is
// set, else those of sort.Interface. It returns nil if the VM does not run all of them itself.
func (c *compiler) collectionMethods(n ast.Node, t types.Type, all bool) *vm.CollectionMethods {
	var list vm.CollectionMethods
	for i, name := range vm.MethodNames {
		if i == vm.SortMethods && !all {
			break
		}
		o, path, _ := types.LookupFieldOrMethod(t, false, nil, name)
		m, ok := o.(*types.Func)
		if !ok || len(path) != 1 {
			return nil
		}
		recv := m.Signature().Recv().Type()
		f := c.unit.callee(m.Origin())
		if f == nil {
			f = c.methodInstance(m, nil)
		}
		s := c.shape(n, recv)
		if f == nil || types.IsInterface(recv) || !isCaptured(s) {
			return nil
		}
		_, isPointer := types.Unalias(t).(*types.Pointer)
		_, byPointer := types.Unalias(recv).(*types.Pointer)
		list[i] = vm.CollectionMethod{Function: f, Shape: s, Deref: isPointer && !byPointer, Name: types.TypeString(recv, nil) + "." + name, Type: c.vm.MemoryType(s.Type)}
	}
	return &list
}
