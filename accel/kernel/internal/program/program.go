package program

import (
	"fmt"
	"go/token"
)

// Type is the type of a variable. Go's int and uint are Int64 and Uint64.
type Type uint8

// The types.
const (
	Bool Type = iota
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
)

var typeNames = [...]string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"}

func (t Type) String() string { return typeNames[t] }

// Size returns the size of a value in memory, in bytes.
func (t Type) Size() int { return [...]int{1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8}[t] }

// IsFloat reports whether t is a floating-point type.
func (t Type) IsFloat() bool { return t >= Float32 }

// IsSigned reports whether t is a signed integer type.
func (t Type) IsSigned() bool { return t >= Int8 && t <= Int64 }

// Var is a variable of a thread. It may be assigned more than once.
type Var struct {
	Type Type
	ID   int // its index in Program.Vars
}

// Operand is a variable or, if Var is nil, a constant.
type Operand struct {
	Var  *Var
	Type Type
	// Bits is the value of a constant: the bits of a float; an integer extended to 64 bits by its sign, or by zeros; 1 for true.
	Bits uint64
}

// IsConst reports whether o is a constant.
func (o Operand) IsConst() bool { return o.Var == nil }

// Int returns a constant of type Int64.
func Int(v int) Operand { return Operand{Type: Int64, Bits: uint64(v)} }

// Format is what the elements of a slice are if that is not their type.
type Format uint8

// The formats.
const (
	Plain    Format = iota // the type
	Float16                // IEEE 754 binary16, in a Uint16
	BFloat16               // the upper 16 bits of a Float32, in a Uint16
)

// Space is where a memory is.
type Space uint8

// The spaces.
const (
	Global Space = iota // the elements of a tensor
	Shared              // one for each block
	Local               // one for each thread
)

// Memory is what loads and stores access. Addresses are indices of elements.
type Memory struct {
	Name   string
	Space  Space
	Elem   Type
	Len    int    // elements, unless Space is Global
	Param  int    // index in Program.Params, if Space is Global
	Format Format // if Space is Global
	ID     int    // its index in Program.Memories
	Pos    token.Position
	// Written says that the kernel stores to it.
	Written bool
}

// Param is a parameter of the kernel: a scalar, or a slice.
type Param struct {
	Name   string
	Scalar *Var    // nil for a slice
	Slice  *Memory // nil for a scalar
	Len    *Var    // the length of Slice
}

// Program is a kernel.
type Program struct {
	Name     string
	Pos      token.Position
	Params   []Param
	Vars     []*Var
	Memories []*Memory
	Body     *Block // leaving it ends the thread
	// Sites are the instructions that can fault; an instruction's Site is 1 + its index.
	Sites []*Instr
}

// The limits of CUDA: the shared memory of a block for arrays with a size, that of a block with the arrays whose size a launch determines on the
// GPUs that have the most, those of compute capability 9.0 and 10.0, and the local memory of a thread.
const (
	MaxSharedBytes      = 48 << 10
	MaxBlockSharedBytes = 227 << 10
	MaxLocalBytes       = 512 << 10
)

// Bytes returns the size of the memories of a space, other than Global: of a block, or of a thread. If it is more than limit, over is the
// first memory beyond it.
func (p *Program) Bytes(s Space, limit int) (n int, over *Memory) {
	for _, m := range p.Memories {
		if m.Space != s {
			continue
		}
		if n = (n+15)/16*16 + m.Len*m.Elem.Size(); n > limit && over == nil {
			over = m
		}
	}
	return n, over
}

// Each calls f for each instruction.
func (p *Program) Each(f func(*Instr)) { each(p.Body.Body, f) }

func each(list []Stmt, f func(*Instr)) {
	for _, s := range list {
		switch s := s.(type) {
		case *Instr:
			f(s)
		case *Block:
			each(s.Body, f)
		case *Loop:
			each(s.Body, f)
		case *If:
			each(s.Then, f)
			each(s.Else, f)
		}
	}
}

// Stmt is an *Instr, *Block, *Loop, *If or *Leave.
type Stmt interface{ stmt() }

// Block is a sequence of statements. Leave continues behind it.
type Block struct{ Body []Stmt }

// Loop repeats its body until a statement leaves a block around the loop.
type Loop struct{ Body []Stmt }

// If executes one of two sequences.
type If struct {
	Cond Operand
	Then []Stmt
	Else []Stmt
}

// Leave continues behind a block that contains it.
type Leave struct{ Block *Block }

func (*Instr) stmt() {}
func (*Block) stmt() {}
func (*Loop) stmt()  {}
func (*If) stmt()    {}
func (*Leave) stmt() {}

// Instr is one instruction.
type Instr struct {
	Op   Op
	Type Type // of the operands
	Dst  *Var // nil for none
	Args []Operand
	Mem  *Memory // of Load, Store and the atomic instructions
	Pos  token.Position
	Site int    // see Program.Sites; 0 if it cannot fault
	Text string // the message of Panic, the name of Math
}

// Op is what an instruction does.
type Op uint8

// The ops. Integer arithmetic wraps, shifts by more than the width give 0 or the sign, and the remainder and the quotient of the
// smallest integer and -1 are 0 and that integer, as in Go. Float arithmetic rounds after each instruction.
const (
	Move Op = iota
	Neg
	Not        // of a bool
	Complement // of the bits
	Add
	Sub
	Mul
	Div
	Rem
	And
	Or
	Xor
	AndNot
	Shl // by Args[1], of any integer type
	Shr
	Eq // the result of comparisons is a bool
	Ne
	Lt
	Le
	Min
	Max
	Convert // from Type to the type of Dst; floats that do not fit an integer are clamped, NaN is 0
	Bits    // reinterprets the bits as those of the type of Dst
	Math    // the function of package math with the name Text, on Float64

	Load  // Args: element
	Store // Args: element, value

	AtomicAdd      // Args: element, value; Dst is the value before
	AtomicMin      // the same
	AtomicMax      // the same
	AtomicExchange // the same
	AtomicCAS      // Args: element, expected value, new value; Dst is the value before

	Special // a value that the launch determines: Args[0] is a constant of type Int64, a SpecialValue

	Sync     // barrier of the block
	SyncWarp // barrier of the warp

	Shuffle // Args: value, lane, which exists
	// MMA multiplies matrices of a warp, of the type Text: tf32, f16 or bf16. Args: the 4 elements of the sum, which are variables that it
	// changes, then those of a and of b.
	MMA
	Any    // Args: bool
	All    // Args: bool
	Ballot // Args: bool; Dst is a Uint32

	CheckIndex   // Args: index, length
	CheckSlice   // Args: low, high, capacity: 0 <= low <= high <= capacity
	CheckDivisor // Args: divisor, not 0
	CheckShift   // Args: shift count, not negative
	Panic        // with Text
)

var opNames = [...]string{"move", "neg", "not", "complement", "add", "sub", "mul", "div", "rem", "and", "or", "xor", "andnot", "shl", "shr",
	"eq", "ne", "lt", "le", "min", "max", "convert", "bits", "math", "load", "store", "atomicadd", "atomicmin", "atomicmax",
	"atomicexchange", "atomiccas", "special", "sync", "syncwarp", "shuffle", "mma", "any", "all",
	"ballot", "checkindex", "checkslice", "checkdivisor", "checkshift", "panic"}

func (o Op) String() string { return opNames[o] }

// IsCheck reports whether the instruction only faults under a condition.
func (o Op) IsCheck() bool { return o >= CheckIndex && o <= CheckShift }

// ChecksBounds reports whether the instruction is a check that unchecked kernels do not have.
func (o Op) ChecksBounds() bool { return o == CheckIndex || o == CheckSlice }

// SpecialValue is a value that the launch determines.
type SpecialValue int

// The special values. Those of X are followed by those of Y and Z.
const (
	ThreadX SpecialValue = iota
	ThreadY
	ThreadZ
	BlockX
	BlockY
	BlockZ
	BlockDimX
	BlockDimY
	BlockDimZ
	GridDimX
	GridDimY
	GridDimZ
)

// WarpSize is the number of threads of a warp.
const WarpSize = 32

// Fault is why a thread of a kernel stopped. Index and Length are the operands of the check.
type Fault struct {
	Instr         *Instr
	Kernel        string
	Block, Thread [3]int
	Index, Length int64
	Detail        string // for faults that only one back end finds
}

func (f *Fault) Error() string {
	return fmt.Sprintf("kernel %s: %s: %s, in block %v, thread %v", f.Kernel, f.Instr.Pos, f.Reason(), f.Block, f.Thread)
}

// Reason returns what happened, without where.
func (f *Fault) Reason() string {
	switch {
	case f.Detail != "":
		return f.Detail
	case f.Instr.Op == CheckIndex:
		return fmt.Sprintf("index %d is out of range of %s with length %d", f.Index, f.Instr.Text, f.Length)
	case f.Instr.Op == CheckSlice:
		return fmt.Sprintf("slice bounds [%d:%d] are out of range of %s", f.Index, f.Length, f.Instr.Text)
	case f.Instr.Op == CheckDivisor:
		return "integer divide by zero"
	case f.Instr.Op == CheckShift:
		return fmt.Sprintf("negative shift amount %d", f.Index)
	}
	return "panic: " + f.Instr.Text
}
