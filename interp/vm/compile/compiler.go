package compile

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"reflect"
	"slices"

	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/vm"
)

// compiler compiles one function or function literal.
type compiler struct {
	code
	source     *Source
	substitute func(types.Type) types.Type
	signature  *types.Signature
	variables  map[types.Object]*variable
	facts      *facts.Function
	hoisted    map[types.Object]uint16
	globals    map[types.Object]uint16      // in a loop: slots with the addresses of variables of the session
	scratch    map[*ast.CompositeLit]uint16 // slots with the address of the memory that a literal reuses; see hoistKey
	targets    []*target
	labels     map[string]*label // targets of goto statements
	results    []*variable       // result variables, if the function needs them
	loops      int               // number of loops around the current statement
	addresses  []uint16          // slots for the pointers of facts.Addresses
	cellBody   bool              // the function has the statements of a cell
	defers     bool              // the function has defer statements
	iteration  *iteration        // set in the body of a range over a function
	deferred   *deferral         // the deferred call that is being compiled, if any
	owesCheck  bool              // see afterWait
	keeping    *keeping          // in an outermost loop of a cell: the variables of the session that are in registers
	recorded   bool              // behind the current statement is a record of the variables that it has defined
}

// code is the code of a function to which a compiler adds instructions. Its methods know registers and shapes, but not the
// statements, variables and facts of the function.
type code struct {
	vm                       *vm.VM
	unit                     *Unit
	fn                       *vm.Function
	position                 int // index of the source position of the current statement
	scalarsInUse, slotsInUse int // sizes of the register stacks
}

// of returns empty code of a function of the same unit.
func (c *code) of(fn *vm.Function) code { return code{vm: c.vm, unit: c.unit, fn: fn} }

// variable is a local variable. If it is boxed (a scalar or reference on the heap) or its value is in
// memory, its pointer register holds the address. If it does not change, its value is in a register, and also on the heap if a function
// literal captures it, which loads it when it is called.
type variable struct {
	vm.Shape
	reg   uint16
	box   uint16 // register of the address of a value that is also in reg; 0: none
	boxed bool
	owned bool // nothing else holds the address of its value
}

// operand is a computed value. A value in memory is at offset bytes after the address in the register.
type operand struct {
	vm.Shape
	reg    uint16
	offset int32
	owned  bool // in memory that nothing else refers to
}

// register returns the register of a value. Of one in memory, it must hold the address itself.
func (x operand) register() vm.Register { return vm.Register{Shape: x.Shape, Reg: x.reg} }

// label is the target of jumps.
type label struct {
	instruction int   // index of the target instruction; -1 until it is bound
	jumps       []int // indexes of the instructions that jump to it
}

func (c *code) fail(n ast.Node, format string, a ...any) {
	panic(&UnsupportedError{Node: n, Construct: fmt.Sprintf(format, a...)})
}

func (c *code) emit(o vm.Op, a, b, cc uint16, k, j int32) int {
	// Grow by one more instruction: the instruction pointer can point past the last one and must stay inside the
	// allocation.
	c.fn.Code = slices.Grow(append(c.fn.Code, vm.Instruction{Op: o, A: a, B: b, C: cc, K: k, J: j}), 1)
	c.fn.Positions = append(c.fn.Positions, c.position)
	return len(c.fn.Code) - 1
}

func (c *code) do(o vm.Op, a, b, cc uint16) { c.emit(o, a, b, cc, 0, 0) }

func newLabel() *label { return &label{instruction: -1} }

func (c *code) bind(l *label) { l.instruction = len(c.fn.Code) }

// jump emits an instruction that jumps to l.
func (c *code) jump(l *label, o vm.Op, a, b uint16, k int32) {
	if len(l.jumps) == 0 {
		c.unit.labels = append(c.unit.labels, unresolvedLabel{c.fn, l})
	}
	l.jumps = append(l.jumps, c.emit(o, a, b, 0, k, 0))
}

// unresolvedLabel is a label whose jumps do not have their distance yet.
type unresolvedLabel struct {
	fn    *vm.Function
	label *label
}

func (p unresolvedLabel) resolve() {
	for _, from := range p.label.jumps {
		if p.label.instruction < 0 {
			panic(&UnsupportedError{Construct: "a label without a statement"})
		}
		p.fn.Code[from].J = int32((p.label.instruction - from) * int(vm.InstructionSize))
	}
}

// shorten makes jumps to a jump go where that one goes. Only OpLoop jumps back, and it checks for an interrupt.
func (p unresolvedLabel) shorten() {
	for _, from := range p.label.jumps {
		in := &p.fn.Code[from]
		for to := from; ; {
			to += int(p.fn.Code[to].J) / int(vm.InstructionSize)
			in.J = int32((to - from) * int(vm.InstructionSize))
			if p.fn.Code[to].Op != vm.OpJmp {
				break
			}
		}
	}
}

// mark is a state of the register stacks.
type mark struct{ scalars, slots int }

func (c *code) mark() mark { return mark{c.scalarsInUse, c.slotsInUse} }

func (c *code) release(m mark) { c.scalarsInUse, c.slotsInUse = m.scalars, m.slots }

// scalarRegister reserves a scalar register, referenceRegister a slot.
func (c *code) scalarRegister() uint16 {
	at := c.scalarsInUse * 8
	c.scalarsInUse++
	c.fn.Scalars = max(c.fn.Scalars, uintptr(c.scalarsInUse*8))
	if at >= math.MaxUint16-16 {
		c.fail(nil, "too many variables")
	}
	return uint16(at)
}

func (c *code) referenceRegister() uint16 {
	at := c.slotsInUse*int(vm.SlotSize) + int(vm.SlotOffset)
	c.slotsInUse++
	c.fn.Pointers = max(c.fn.Pointers, uintptr(c.slotsInUse)*vm.SlotSize)
	if at >= math.MaxUint16-int(vm.SlotSize) {
		c.fail(nil, "too many variables")
	}
	return uint16(at)
}

func (c *code) register(s vm.Shape) uint16 {
	if s.File == vm.Scalar {
		return c.scalarRegister()
	}
	return c.referenceRegister()
}

func (c *code) temporary(s vm.Shape) operand { return operand{Shape: s, reg: c.register(s)} }

// destination returns the register for a value of shape s: want, or a new register.
func (c *code) destination(s vm.Shape, want *operand) operand {
	if want != nil {
		return operand{Shape: s, reg: want.reg}
	}
	return c.temporary(s)
}

func (c *compiler) typeOf(e ast.Expr) types.Type {
	if tv, ok := c.source.Info.Types[e]; ok && tv.Type != nil {
		// Where Go 1.27 infers type arguments of a function that is not called, the recorded type is the generic one.
		if s, ok := tv.Type.(*types.Signature); ok && s.TypeParams().Len() > 0 {
			if in, ok := c.source.Info.Instances[desugar.CalledIdent(e)]; ok {
				return c.subst(in.Type)
			}
		}
		return c.subst(tv.Type)
	}
	if id, ok := e.(*ast.Ident); ok {
		if o := c.source.Info.ObjectOf(id); o != nil {
			return c.subst(o.Type())
		}
	}
	c.fail(e, "an expression without a type")
	return nil
}

func (c *compiler) subst(t types.Type) types.Type {
	if c.substitute != nil {
		return c.substitute(t)
	}
	return t
}

func (c *code) shape(n ast.Node, t types.Type) vm.Shape {
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		t = types.Default(t)
	}
	s, err := c.unit.config.checkedShape(t)
	if err != nil {
		c.fail(n, "%v", err)
	}
	return s
}

func (c *compiler) shapeOf(e ast.Expr) vm.Shape { return c.shape(e, c.typeOf(e)) }

func (c *code) memoryType(t reflect.Type) int32 {
	y := c.vm.MemoryType(t)
	for i, have := range c.fn.Types {
		if have == y {
			return int32(i)
		}
	}
	c.fn.Types = append(c.fn.Types, y)
	return int32(len(c.fn.Types) - 1)
}

// move copies a value between registers of its shape. Of a value in memory it copies the address; see own.
func (c *code) move(to, from operand) {
	if to.reg == from.reg && from.offset == 0 {
		return
	}
	switch {
	case from.File == vm.Scalar:
		c.do(vm.OpMov, to.reg, from.reg, 0)
	case from.File == vm.Memory && from.offset != 0:
		c.emit(vm.OpLea, to.reg, from.reg, 0, from.offset, 0)
	default:
		c.do(moves[from.Width], to.reg, from.reg, 0)
	}
}

var moves = map[string]vm.Op{"P": vm.OpMovP, "Str": vm.OpMovStr, "Sl": vm.OpMovSl, "If": vm.OpMovIf, "C": vm.OpMovC, "D": vm.OpMovD}

// opNamed returns the operation with this name.
func opNamed(name string) vm.Op {
	o, ok := opsByName[name]
	if !ok {
		panic("vm: no such operation: " + name)
	}
	return o
}

var opsByName = func() map[string]vm.Op {
	m := map[string]vm.Op{}
	for i, name := range vm.OpNames {
		m[name] = vm.Op(i)
	}
	return m
}()

// load loads the variable of shape s that is offset bytes after the address in register at. A value in
// memory is not copied.
func (c *code) load(s vm.Shape, at uint16, offset int32, want *operand) operand {
	if s.File == vm.Memory {
		return operand{Shape: s, reg: at, offset: offset}
	}
	dst := c.destination(s, want)
	c.emit(opNamed("Ld"+s.Width), dst.reg, at, 0, offset, 0)
	return dst
}

// store stores a value to the variable that is offset bytes after the address in register at.
func (c *code) store(at uint16, offset int32, x operand) {
	if x.File == vm.Memory {
		to := c.address(operand{Shape: x.Shape, reg: at, offset: offset})
		c.emit(vm.OpCopyM, to, c.address(x), 0, c.memoryType(x.Type), 0)
		return
	}
	c.emit(opNamed("St"+storeWidth(x.Width)), at, x.reg, 0, offset, 0)
}

func storeWidth(width string) string {
	switch width {
	case "8S", "8U", "16S", "16U", "32S", "32U":
		return width[:len(width)-1]
	}
	return width
}

// address returns a register with the address of a value in memory.
func (c *code) address(x operand) uint16 {
	if x.offset == 0 {
		return x.reg
	}
	t := c.referenceRegister()
	c.emit(vm.OpLea, t, x.reg, 0, x.offset, 0)
	return t
}

// own returns a value in memory that nothing else refers to: x, or a copy of it.
func (c *code) own(x operand, want *operand) operand {
	if x.owned && x.offset == 0 {
		if want != nil && want.reg != x.reg {
			c.do(vm.OpMovP, want.reg, x.reg, 0)
			x.reg = want.reg
		}
		return x
	}
	dst := c.destination(x.Shape, want)
	c.emit(vm.OpCloneM, dst.reg, c.address(x), 0, c.memoryType(x.Type), 0)
	dst.owned = true
	return dst
}

// pointerShape is the shape of an address whose type does not matter.
var pointerShape = vm.Shape{File: vm.Reference, Width: "P", Type: reflect.TypeFor[*byte]()}

var (
	intShape   = vm.Shape{File: vm.Scalar, Width: "64", Type: reflect.TypeFor[int]()}
	boolShape  = vm.Shape{File: vm.Scalar, Width: "8U", Type: reflect.TypeFor[bool]()}
	sliceShape = vm.Shape{File: vm.Reference, Width: "Sl", Type: reflect.TypeFor[[]byte]()}
)

// native emits a call of a Go function.
func (c *code) native(name string, n *vm.Native) {
	n.Name = name
	c.fn.Natives = append(c.fn.Natives, n)
	c.emit(vm.OpNative, 0, 0, 0, int32(len(c.fn.Natives)-1), 0)
}

// setPosition sets the source position of the instructions that follow.
func (c *compiler) setPosition(n ast.Node) {
	if c.source.Stop != nil {
		c.source.Stop()
	}
	if n != nil && n.Pos() != token.NoPos {
		c.position = c.source.Position(n)
		c.unit.at = n.Pos()
	}
}

func (c *code) addressIfMemory(x operand) uint16 {
	if x.File == vm.Memory {
		return c.address(x)
	}
	return x.reg
}
