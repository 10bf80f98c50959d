package ir

// SlotKind is the kind of a slot's memory.
type SlotKind uint8

const (
	External SlotKind = iota // a value computed before the list
	Output                   // a value that outlives the list
	Arena                    // a temporary, at a fixed offset in the program's own memory
)

// Slot is a memory range that steps read and write.
type Slot struct {
	Kind   SlotKind
	Bytes  int
	Offset int // in bytes from the start of the arena
}

// Operand is a tensor in a slot.
type Operand struct {
	Slot  int
	DType DType
	Layout
}

// Instr is one elementwise op of a fused kernel. Args index the step's inputs first and then
// the results of earlier instructions.
type Instr struct {
	Op   Op
	Args []int
	Word int // first dynamic word of the op
	Out  int // index into the step's outputs, -1 for a value that stays in the kernel
}

// Step is one unit of work: a whole-tensor op, or a fused kernel.
type Step struct {
	Op       Op      // nil for a fused kernel
	Epilogue Op      // elementwise op that a matmul applies to its result, or nil
	Keeps    bool    // a matmul's result before Epilogue is the second result
	Around   *Around // what the step of a norm computes beside Op, or nil
	Summed   int     // the number, from 1, of the factor of a matmul whose sums along its depth are the second result; or 0
	Loop     []Instr // the body of a fused kernel over Shape
	Shape    []int   // iteration space of a fused kernel
	Parts    []Part  // of a batch: Loop and Shape are those of the first; else nil
	In, Out  []Operand
	Word     int   // first dynamic word of Op
	Nodes    []int // indices of the nodes that it computes, for profiles
}

// Program is a list of steps over slots; its outputs are row-major.
type Program struct {
	Slots []Slot
	Steps []Step
	Arena int // bytes of memory for the arena slots
}
