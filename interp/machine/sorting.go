package machine

import (
	"go/ast"
	"go/types"
	"reflect"
	"sort"
	"unsafe"
)

// sorts are the compiled functions that call a function of two indices so often
// that the way through package reflect would be most of their time.
var sorts = map[string]func(list any, less func(i, j int) bool){
	"sort.Slice": sort.Slice, "sort.SliceStable": sort.SliceStable,
}

// sortSlice compiles a call of one of sorts.
func (c *compiler) sortSlice(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	if c.several(e, sig) {
		c.fail(e, "several values as the arguments of %s", o.FullName())
	}
	if _, ok := c.typeOf(e.Args[0]).Underlying().(*types.Slice); !ok {
		c.fail(e, "a call of %s for no slice", o.FullName())
	}
	list := c.fresh(c.expr(e.Args[0], nil))
	less := c.exprTo(e.Args[1], sig.Params().At(1).Type(), nil)
	at, from, typ, m, run := list.at, less.at, list.typ, c.machine, sorts[o.FullName()]
	c.native(o.FullName(), &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		less, done := m.less(*pointer(sb, from))
		run(reflect.NewAt(typ, unsafe.Add(sb, at)).Elem().Interface(), less)
		done()
	}})
	return nil
}

// less is the function value at p. One of the machine's runs on a thread of its
// own, which done gives back.
func (m *Machine) less(p unsafe.Pointer) (less func(i, j int) bool, done func()) {
	if p == nil || closureOf(p) == nil {
		return *(*func(i, j int) bool)(unsafe.Pointer(&p)), func() {}
	}
	f, t := closureOf(p), m.threads.Get().(*thread)
	fn := f.function
	if fn.scalars > t.endN-uintptr(t.nb) || fn.pointers > t.endS-uintptr(t.sb) {
		t.grow(t.nb, t.sb, fn.scalars, fn.pointers)
	}
	return func(i, j int) bool {
		if m.stop.Load() {
			m.config.Stop()
		}
		t.reset() // the files may have moved
		*integer(t.nb, 0), *integer(t.nb, 8) = int64(i), int64(j)
		fn.capture(t.sb, f.captured)
		t.fn, t.ip = fn, nil
		t.execute(fn)
		return *integer(unsafe.Pointer(&t.scalars[0]), 0) != 0
	}, t.leave
}
