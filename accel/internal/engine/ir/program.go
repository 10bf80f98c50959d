package ir

import (
	"fmt"
	"slices"
	"strings"
)

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
	Updates  []Update
}

// Update says that a result of a fused kernel is to replace a value that stays in its own memory, because a gradient may need it. After a
// fault the result must be the old value.
type Update struct{ Old, New Operand }

// Program is a list of steps over slots; its outputs are row-major.
type Program struct {
	Slots []Slot
	Steps []Step
	Arena int // bytes of memory for the arena slots
}

// Storage is memory on a device. Only the device that allocated it can access it.
type Storage interface {
	Size() int // bytes
}

// Device runs programs. It must be used by one goroutine at a time.
type Device interface {
	// Name returns the name of the device in errors, for example "cpu".
	Name() string
	// Alloc allocates at least this many bytes with undefined content. It fails with an
	// *OutOfMemoryError.
	Alloc(bytes int) (Storage, error)
	// Free frees memory that is no longer used. Memory that is never freed must be
	// reclaimed when it becomes unreachable.
	Free(Storage)
	// Write copies host bytes to dst, starting at an offset in bytes.
	Write(dst Storage, offset int, src []byte) error
	// Read copies bytes of src, starting at an offset, to the host.
	Read(dst []byte, src Storage, offset int) error
	// Compile prepares a program to run many times. The error names the op that the device
	// does not implement.
	Compile(*Program) (Executable, error)
}

// Executable is a compiled program.
type Executable interface {
	// Run runs every step in order. bind holds the storage of each slot of kind External
	// and Output (nil for arena slots); words holds the values that change from run to run
	// (see Dynamic). The error is that of the first failing step, for example an
	// *IndexError; done is the number of steps that ran before it.
	Run(bind []Storage, words []uint64) (done int, err error)
}

// Detector is implemented by a device that may find at once that a program has done what a GPU does not notice.
type Detector interface {
	// Detected returns the first error that it has found since the last call, or nil.
	Detected() error
}

// HostMemory is implemented by a device whose storage the host can read without waiting.
// Indices are then checked where an op is called.
type HostMemory interface {
	Bytes(Storage) []byte
}

// IsView reports whether an op may be a view of its input. Then devices need a kernel for it
// only if they cannot take the view of every layout.
func IsView(op Op) bool {
	_, ok := op.(viewer)
	return ok
}

// String lists slots and steps, for tests and debugging:
//
//	0 Linear+ReLU  x0[4 3] x1[8 3] x2[8] -> t5[4 8]
//	1 loop[4 8]    t5[4 8] t7[4 8] -> o9[4 8]: MulScalar(0) Add(1 2)=0
//
// x is an external, o an output, t a temporary; the strides of a layout are shown if it is
// not row-major. The numbers of a fused kernel are arguments: its inputs first, then the results of
// earlier instructions; =k is stored to output k.
func (p *Program) String() string {
	var b strings.Builder
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "%d %s", i, s.name())
		for _, o := range s.In {
			b.WriteString(" " + p.operand(o))
		}
		b.WriteString(" ->")
		for _, o := range s.Out {
			b.WriteString(" " + p.operand(o))
		}
		for k, in := range s.Loop {
			sep := " "
			if k == 0 {
				sep = ": "
			}
			b.WriteString(sep + in.String())
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "arena %d bytes\n", p.Arena)
	return b.String()
}

func (s Step) name() string {
	switch {
	case len(s.Parts) > 0:
		return fmt.Sprintf("loop of %d", len(s.Parts))
	case s.Op == nil:
		return "loop" + FormatShape(s.Shape)
	}
	return strings.Join(s.opNames(), "+")
}

// opNames returns the names of the ops that a step with an Op computes.
func (s Step) opNames() []string {
	switch {
	case s.Epilogue != nil || s.Summed > 0:
		names := []string{s.Op.Name()}
		if s.Epilogue != nil {
			names = append(names, s.Epilogue.Name())
		}
		if s.Summed > 0 {
			names = append(names, Sum{}.Name())
		}
		return names
	case s.withLoss():
		return []string{CrossEntropy{}.Name(), s.Op.Name()}
	case s.Around != nil:
		return s.Around.names(s.Op)
	}
	return []string{s.Op.Name()}
}

// String returns the op with its arguments and, if it is stored, the output.
func (i Instr) String() string {
	args := strings.Trim(fmt.Sprint(i.Args), "[]")
	if i.Out < 0 {
		return fmt.Sprintf("%s(%s)", i.Op.Name(), args)
	}
	return fmt.Sprintf("%s(%s)=%d", i.Op.Name(), args, i.Out)
}

func (p *Program) operand(o Operand) string {
	kind := "xot"[p.Slots[o.Slot].Kind]
	s := fmt.Sprintf("%c%d%s", kind, o.Slot, FormatShape(o.Shape))
	if !o.Contiguous() {
		s += fmt.Sprintf("/%s", FormatShape(o.Stride))
	}
	if o.Offset != 0 {
		s += fmt.Sprintf("+%d", o.Offset)
	}
	if o.DType != Float32 {
		s += ":" + o.DType.String()
	}
	return s
}

// Verify checks a program: operands are within their slots, steps read what was written
// before, and live temporaries do not overlap in the arena.
func Verify(p *Program) error {
	written := make([]bool, len(p.Slots))
	for i, s := range p.Slots {
		written[i] = s.Kind == External
		if s.Kind == Arena && s.Offset+s.Bytes > p.Arena {
			return fmt.Errorf("ir: slot %d ends after the end of the arena", i)
		}
	}
	for k, s := range p.Steps {
		for _, o := range s.In {
			if o.Slot < 0 || o.Slot >= len(p.Slots) || !written[o.Slot] {
				return fmt.Errorf("ir: step %d reads slot %d before it is written", k, o.Slot)
			}
			if err := inside(o, p.Slots[o.Slot]); err != nil {
				return fmt.Errorf("ir: step %d: %w", k, err)
			}
		}
		for _, o := range s.Out {
			if err := inside(o, p.Slots[o.Slot]); err != nil {
				return fmt.Errorf("ir: step %d: %w", k, err)
			}
			written[o.Slot] = true
		}
		for i, in := range s.Loop {
			for _, a := range in.Args {
				if a < 0 || a >= len(s.In)+i {
					return fmt.Errorf("ir: step %d, instruction %d reads a later result", k, i)
				}
			}
		}
	}
	return verifyArena(p)
}

func inside(o Operand, s Slot) error {
	if Len(o.Shape) == 0 {
		return nil
	}
	end := o.Offset
	for i, d := range o.Shape {
		end += (d - 1) * o.Stride[i]
	}
	if o.Offset < 0 || (end+1)*o.DType.Size() > s.Bytes {
		return fmt.Errorf("an operand of shape %v ends after the end of its slot", o.Shape)
	}
	return nil
}

// verifyArena checks that no temporary is overwritten while a later step reads it: between the
// first step that writes a slot and the last that reads it, no other slot has the same memory.
func verifyArena(p *Program) error {
	first, last := make([]int, len(p.Slots)), make([]int, len(p.Slots))
	for i := range p.Slots {
		first[i] = -1
	}
	for k, s := range p.Steps {
		for _, o := range s.In {
			last[o.Slot] = k
		}
		for _, o := range s.Out {
			if first[o.Slot] < 0 {
				first[o.Slot] = k
			}
			last[o.Slot] = k
		}
	}
	var slots []int
	end := make([][]int, len(p.Steps))
	for i, s := range p.Slots {
		if s.Kind == Arena && s.Bytes > 0 && first[i] >= 0 {
			slots = append(slots, i)
			end[last[i]] = append(end[last[i]], i)
		}
	}
	slices.SortStableFunc(slots, func(i, j int) int { return first[i] - first[j] })
	var live []int // slots by offset
	find := func(slot int) int {
		i, _ := slices.BinarySearchFunc(live, p.Slots[slot].Offset, func(x, offset int) int { return p.Slots[x].Offset - offset })
		return i
	}
	for k := range p.Steps {
		for ; len(slots) > 0 && first[slots[0]] == k; slots = slots[1:] {
			slot := slots[0]
			s, i := p.Slots[slot], find(slot)
			if i < len(live) && p.Slots[live[i]].Offset < s.Offset+s.Bytes {
				return fmt.Errorf("ir: step %d writes slot %d over slot %d, which step %d uses", k, slot, live[i], last[live[i]])
			}
			if i > 0 && p.Slots[live[i-1]].Offset+p.Slots[live[i-1]].Bytes > s.Offset {
				return fmt.Errorf("ir: step %d writes slot %d over slot %d, which step %d uses", k, slot, live[i-1], last[live[i-1]])
			}
			live = slices.Insert(live, i, slot)
		}
		for _, slot := range end[k] {
			i := find(slot)
			live = slices.Delete(live, i, i+1)
		}
	}
	return nil
}
