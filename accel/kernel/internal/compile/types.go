package compile

import (
	"go/types"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// A value is a program.Operand for a scalar, slice, array, structure or thread. That of a variable consists of variables of the program.
type value any

// slice is a slice: length elements from offset.
type slice struct {
	of                       *backing
	offset, length, capacity program.Operand
}

// backing is the array that a slice refers to: a memory, of which the offset of the slice counts the scalars, or structs. A variable has a backing of
// its own, which is empty until a slice is assigned to it.
type backing struct {
	memory  *program.Memory
	structs *structArray
}

func (b *backing) empty() bool { return b.memory == nil && b.structs == nil }

// name returns the name of the array, for faults.
func (b *backing) name() string {
	if b.memory != nil {
		return b.memory.Name
	}
	return b.structs.name
}

// array is an array of scalars, or of such arrays, in a memory.
type array struct {
	memory *program.Memory
	offset program.Operand
	of     *types.Array
}

// structArray is an array of structs, or of such arrays. For each field it has an array of the same length: an array or structArray.
type structArray struct {
	name   string
	fields []value
	of     *types.Array
}

// structure is a struct. Its fields are values, or elementPlaces if it is an element of an array.
type structure struct{ fields []value }

// thread is a kernel.Thread.
type thread struct{}

var basicTypes = map[types.BasicKind]program.Type{
	types.Bool: program.Bool, types.UntypedBool: program.Bool,
	types.Int: program.Int64, types.Int8: program.Int8, types.Int16: program.Int16, types.Int32: program.Int32, types.Int64: program.Int64,
	types.Uint: program.Uint64, types.Uint8: program.Uint8, types.Uint16: program.Uint16, types.Uint32: program.Uint32, types.Uint64: program.Uint64,
	types.Float32: program.Float32, types.Float64: program.Float64,
	types.UntypedInt: program.Int64, types.UntypedRune: program.Int32, types.UntypedFloat: program.Float64,
}

// scalarType returns the type of a number or bool, that of the bits for a 16-bit float.
func (c *compiler) scalarType(t types.Type) (program.Type, bool) {
	t = c.subst(t)
	if formatOf(t) != program.Plain {
		return program.Uint16, true
	}
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return 0, false
	}
	s, ok := basicTypes[b.Kind()]
	return s, ok
}

func isThread(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == "Thread" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == KernelPath
}

// subst replaces type parameters by the arguments of the function that is compiled.
func (c *compiler) subst(t types.Type) types.Type {
	if c.frame == nil || len(c.frame.arguments) == 0 {
		return t
	}
	return substitute(t, c.frame.arguments)
}

func substitute(t types.Type, by map[*types.TypeParam]types.Type) types.Type {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		if a := by[t]; a != nil {
			return a
		}
	case *types.Slice:
		return types.NewSlice(substitute(t.Elem(), by))
	case *types.Array:
		return types.NewArray(substitute(t.Elem(), by), t.Len())
	case *types.Pointer:
		return types.NewPointer(substitute(t.Elem(), by))
	case *types.Named:
		if t.TypeArgs().Len() == 0 {
			return t
		}
		var args []types.Type
		for a := range t.TypeArgs().Types() {
			args = append(args, substitute(a, by))
		}
		if n, err := types.Instantiate(nil, t.Origin(), args, false); err == nil {
			return n
		}
	}
	return t
}

// element returns the type of the scalars of an array, and their number; ok is false if its elements are not scalars.
func (c *compiler) element(a *types.Array) (elem program.Type, n int, ok bool) {
	n = int(a.Len())
	if inner, isArray := c.subst(a.Elem()).Underlying().(*types.Array); isArray {
		elem, k, ok := c.element(inner)
		return elem, n * k, ok
	}
	elem, ok = c.scalarType(a.Elem())
	return elem, n, ok
}

// words returns the number of scalars of a type that an array may contain.
func (c *compiler) words(t types.Type) int {
	if a, ok := c.subst(t).Underlying().(*types.Array); ok {
		_, n, _ := c.element(a)
		return n
	}
	return 1
}

// fieldArrays returns for an array of structs, or of arrays of them, the arrays of the fields: for [2]struct{ x int; y [3]bool } these are
// [2]int and [2][3]bool. It returns nil for any other array.
func (c *compiler) fieldArrays(a *types.Array) (arrays []*types.Array, names []string) {
	switch elem := c.subst(a.Elem()).Underlying().(type) {
	case *types.Array:
		arrays, names = c.fieldArrays(elem)
		for i, inner := range arrays {
			arrays[i] = types.NewArray(inner, a.Len())
		}
	case *types.Struct:
		if _, scalar := c.scalarType(a.Elem()); scalar { // a 16-bit float
			return nil, nil
		}
		for f := range elem.Fields() {
			arrays, names = append(arrays, types.NewArray(c.subst(f.Type()), a.Len())), append(names, f.Name())
		}
	}
	return arrays, names
}
