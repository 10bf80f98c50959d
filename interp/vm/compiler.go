package vm

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
)

// A Declaration is a function to be compiled.
type Declaration struct {
	// Key identifies the function: its *types.Func, an instance, or the statement of a loop.
	Key any
	// Name is its name in lowered code.
	Name      string
	Signature *types.Signature
	Body      *ast.BlockStmt
	// Method is the name of a method; "" for a function.
	Method string
	// Substitute replaces type parameters by type arguments; nil if there are none.
	Substitute func(types.Type) types.Type
	// Facts are the facts about Body; if nil, they are computed.
	Facts *facts.Function
	// Cell says that the function has the statements of a cell.
	Cell bool
	// Public is the type of a compiled package for the receiver of a method of a generic source; nil for other functions.
	Public *types.Named
}

// Source gives the compiler access to the checked cell.
type Source struct {
	Info *types.Info
	// Global returns the name in lowered code of a variable that outlives a function; "" for any other
	// variable.
	Global func(*types.Var) string
	// Function returns the declaration of an instance of a generic function or, without type arguments, of a function that is
	// declared beside generic ones of a compiled package; false for any other function. Method returns that of a method of an instance of a generic type, or of
	// an instance of a generic method, whose own type arguments are own.
	Function func(at *ast.Ident, o *types.Func, arguments []types.Type) (Declaration, bool)
	Method   func(t *types.Named, m *types.Func, own []types.Type) (Declaration, bool)
	// Private reports whether only statements of cells can reach a variable of the session. It may be nil.
	Private func(*types.Var) bool
	// Table returns a function that makes the value of a large literal of constants and returns its address; false for other
	// literals. It may be nil.
	Table func(*ast.CompositeLit) (func() reflect.Value, bool)
	// BecomesInterface declares what values of a type of a cell need to become interface values: the methods of instances of
	// generic types. It may be nil.
	BecomesInterface func(t types.Type)
	// Cell is the number of the cell that owns the goroutines that its functions start.
	Cell int
	// Position returns the index of the source position of a node.
	Position func(ast.Node) int
	// HooksBefore returns the hooks to run before a statement. It may be nil.
	HooksBefore func(ast.Stmt) []Hook
	// HooksAfter returns the hooks to run after a statement; for a range statement or a select clause, at
	// the beginning of its body. It may be nil.
	HooksAfter func(ast.Stmt) []Hook
	// Stop is called for each statement and panics with a *Stopped to end the compilation. It may be nil.
	Stop func()
}

// Stopped is the panic value that ends a compilation.
type Stopped struct{ Err error }

// An UnsupportedError is the panic value that ends the compilation of a unit with a construct that the VM does not support.
type UnsupportedError struct {
	Node      ast.Node // may be nil
	Construct string
	Hint      string // what to write instead; may be empty
}

func (e *UnsupportedError) Error() string { return e.Construct + " is not supported" }

// compiler compiles one function or function literal.
type compiler struct {
	code
	source     *Source
	substitute func(types.Type) types.Type
	signature  *types.Signature
	variables  map[types.Object]*variable
	facts      *facts.Function
	hoisted    map[types.Object]uint16
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
	vm                       *VM
	unit                     *Unit
	fn                       *Function
	position                 int // index of the source position of the current statement
	scalarsInUse, slotsInUse int // sizes of the register stacks
}

// of returns empty code of a function of the same unit.
func (c *code) of(fn *Function) code { return code{vm: c.vm, unit: c.unit, fn: fn} }

// variable is a local variable. If it is boxed (a scalar or reference on the heap) or its value is in
// memory, its pointer register holds the address.
type variable struct {
	shape
	reg   uint16
	boxed bool
	owned bool // nothing else holds the address of its value
}

// operand is a computed value. A value in memory is at offset bytes after the address in the register.
type operand struct {
	shape
	reg    uint16
	offset int32
	owned  bool // in memory that nothing else refers to
}

// label is the target of jumps.
type label struct {
	instruction int   // index of the target instruction; -1 until it is bound
	jumps       []int // indexes of the instructions that jump to it
}

func (c *code) fail(n ast.Node, format string, a ...any) {
	panic(&UnsupportedError{Node: n, Construct: fmt.Sprintf(format, a...)})
}

func (c *code) emit(o op, a, b, cc uint16, k, j int32) int {
	// Grow by one more instruction: the instruction pointer can point past the last one and must stay inside the
	// allocation.
	c.fn.code = slices.Grow(append(c.fn.code, instruction{o, a, b, cc, k, j}), 1)
	c.fn.positions = append(c.fn.positions, c.position)
	return len(c.fn.code) - 1
}

func (c *code) do(o op, a, b, cc uint16) { c.emit(o, a, b, cc, 0, 0) }

func newLabel() *label { return &label{instruction: -1} }

func (c *code) bind(l *label) { l.instruction = len(c.fn.code) }

// jump emits an instruction that jumps to l.
func (c *code) jump(l *label, o op, a, b uint16, k int32) {
	if len(l.jumps) == 0 {
		c.unit.labels = append(c.unit.labels, unresolvedLabel{c.fn, l})
	}
	l.jumps = append(l.jumps, c.emit(o, a, b, 0, k, 0))
}

// unresolvedLabel is a label whose jumps do not have their distance yet.
type unresolvedLabel struct {
	fn    *Function
	label *label
}

func (p unresolvedLabel) resolve() {
	for _, from := range p.label.jumps {
		if p.label.instruction < 0 {
			panic(&UnsupportedError{Construct: "a label without a statement"})
		}
		p.fn.code[from].j = int32((p.label.instruction - from) * int(instructionSize))
	}
}

// mark is a state of the register stacks.
type mark struct{ scalars, slots int }

func (c *code) mark() mark     { return mark{c.scalarsInUse, c.slotsInUse} }
func (c *code) release(m mark) { c.scalarsInUse, c.slotsInUse = m.scalars, m.slots }

// scalarRegister reserves a scalar register, referenceRegister a slot.
func (c *code) scalarRegister() uint16 {
	at := c.scalarsInUse * 8
	c.scalarsInUse++
	c.fn.scalars = max(c.fn.scalars, uintptr(c.scalarsInUse*8))
	if at >= math.MaxUint16-16 {
		c.fail(nil, "too many variables")
	}
	return uint16(at)
}

func (c *code) referenceRegister() uint16 {
	at := c.slotsInUse*int(slotSize) + int(slotOffset)
	c.slotsInUse++
	c.fn.pointers = max(c.fn.pointers, uintptr(c.slotsInUse)*slotSize)
	if at >= math.MaxUint16-int(slotSize) {
		c.fail(nil, "too many variables")
	}
	return uint16(at)
}

func (c *code) register(s shape) uint16 {
	if s.file == scalar {
		return c.scalarRegister()
	}
	return c.referenceRegister()
}

func (c *code) temporary(s shape) operand { return operand{shape: s, reg: c.register(s)} }

// destination returns the register for a value of shape s: want, or a new register.
func (c *code) destination(s shape, want *operand) operand {
	if want != nil {
		return operand{shape: s, reg: want.reg}
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

func (c *code) shape(n ast.Node, t types.Type) shape {
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		t = types.Default(t)
	}
	s, err := c.vm.shapeOf(t)
	if err != nil {
		c.fail(n, "%v", err)
	}
	return s
}

func (c *compiler) shapeOf(e ast.Expr) shape { return c.shape(e, c.typeOf(e)) }

func (c *code) memoryType(t reflect.Type) int32 {
	y := c.vm.memoryType(t)
	for i, have := range c.fn.types {
		if have == y {
			return int32(i)
		}
	}
	c.fn.types = append(c.fn.types, y)
	return int32(len(c.fn.types) - 1)
}

// move copies a value between registers of its shape. Of a value in memory it copies the address; see own.
func (c *code) move(to, from operand) {
	if to.reg == from.reg && from.offset == 0 {
		return
	}
	switch {
	case from.file == scalar:
		c.do(opMov, to.reg, from.reg, 0)
	case from.file == memory && from.offset != 0:
		c.emit(opLea, to.reg, from.reg, 0, from.offset, 0)
	default:
		c.do(moves[from.width], to.reg, from.reg, 0)
	}
}

var moves = map[string]op{"P": opMovP, "Str": opMovStr, "Sl": opMovSl, "If": opMovIf, "C": opMovC, "D": opMovD}

// opNamed returns the operation with this name.
func opNamed(name string) op {
	o, ok := opsByName[name]
	if !ok {
		panic("vm: no such operation: " + name)
	}
	return o
}

var opsByName = func() map[string]op {
	m := map[string]op{}
	for i, name := range opNames {
		m[name] = op(i)
	}
	return m
}()

// load loads the variable of shape s that is offset bytes after the address in register at. A value in
// memory is not copied.
func (c *code) load(s shape, at uint16, offset int32, want *operand) operand {
	if s.file == memory {
		return operand{shape: s, reg: at, offset: offset}
	}
	dst := c.destination(s, want)
	c.emit(opNamed("Ld"+s.width), dst.reg, at, 0, offset, 0)
	return dst
}

// store stores a value to the variable that is offset bytes after the address in register at.
func (c *code) store(at uint16, offset int32, x operand) {
	if x.file == memory {
		to := c.address(operand{shape: x.shape, reg: at, offset: offset})
		c.emit(opCopyM, to, c.address(x), 0, c.memoryType(x.typ), 0)
		return
	}
	c.emit(opNamed("St"+storeWidth(x.width)), at, x.reg, 0, offset, 0)
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
	c.emit(opLea, t, x.reg, 0, x.offset, 0)
	return t
}

// own returns a value in memory that nothing else refers to: x, or a copy of it.
func (c *code) own(x operand, want *operand) operand {
	if x.owned && x.offset == 0 {
		if want != nil && want.reg != x.reg {
			c.do(opMovP, want.reg, x.reg, 0)
			x.reg = want.reg
		}
		return x
	}
	dst := c.destination(x.shape, want)
	c.emit(opCloneM, dst.reg, c.address(x), 0, c.memoryType(x.typ), 0)
	dst.owned = true
	return dst
}

// pointerShape is the shape of an address whose type does not matter.
var pointerShape = shape{file: reference, width: "P", typ: reflect.TypeFor[*byte]()}

var (
	intShape   = shape{file: scalar, width: "64", typ: reflect.TypeFor[int]()}
	boolShape  = shape{file: scalar, width: "8U", typ: reflect.TypeFor[bool]()}
	sliceShape = shape{file: reference, width: "Sl", typ: reflect.TypeFor[[]byte]()}
)

// native emits a call of a Go function.
func (c *code) native(name string, n *native) {
	n.name = name
	c.fn.natives = append(c.fn.natives, n)
	c.emit(opNative, 0, 0, 0, int32(len(c.fn.natives)-1), 0)
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
