package ptxsim

import "fmt"

// FaultKind is the reason why a run stopped.
type FaultKind uint8

// The kinds of faults.
const (
	OutOfBounds      FaultKind = iota // address outside all allocations and variables
	Misaligned                        // address that is not a multiple of the access size
	Uninitialized                     // read of memory that was never written
	Race                              // accesses by two threads, at least one a write, not ordered by a barrier
	DivergentBarrier                  // barrier that not all threads reach
	InactiveLane                      // warp-wide instruction that names inactive lanes
	BudgetSpent                       // more steps than allowed, or the context was canceled
	Trapped                           // trap instruction, or an illegal operand
	TooEarly                          // access, or end of a thread, before the grids that a grid depends on have ended
)

var faultNames = [...]string{"out of bounds", "misaligned address", "uninitialized read", "race", "divergent barrier",
	"inactive lane", "too many instructions", "trap", "too early"}

func (k FaultKind) String() string { return faultNames[k] }

// Fault is the error of a run that stopped.
type Fault struct {
	Kind    FaultKind
	Kernel  string
	Line    int    // line number in the PTX
	Text    string // text of the line
	Block   [3]int
	Thread  [3]int
	Space   string // global, shared, local or param; empty if the fault has no address
	Address uint64
	Bytes   int
	Detail  string
	Cause   error   // of BudgetSpent: the context's error, or nil
	Source  Source  // where the PTX line comes from
	Other   *Access // of a race, with Launch.Watch: the other access
}

func (f *Fault) Error() string {
	s := fmt.Sprintf("%s in kernel %s, ptx line %d (%s), block %v, thread %v", f.Kind, f.Kernel, f.Line, f.Text, f.Block, f.Thread)
	if f.Source.Line > 0 {
		s += ", from " + f.Source.String()
	}
	if f.Space != "" {
		s += fmt.Sprintf(", %d bytes of %s memory at %#x", f.Bytes, f.Space, f.Address)
	}
	if f.Detail != "" {
		s += ": " + f.Detail
	}
	return s
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// fault stops the run. The lane is the one at fault.
func (w *warp) fault(kind FaultKind, lane int, format string, args ...any) *Fault {
	b := w.block
	k := b.kernel
	f := &Fault{Kind: kind, Kernel: k.name, Line: k.code[w.pc].line, Detail: fmt.Sprintf(format, args...)}
	f.Text, f.Source = k.text(f.Line), k.module.source(f.Line)
	f.Block, f.Thread = b.id, b.thread(32*w.index+lane)
	return f
}

// earlier says what the other access of a race did, with a verb for its thread.
type earlier string

const (
	hasRead    earlier = "no barrier since thread %v read it"
	hasWritten earlier = "no barrier since thread %v wrote it"
	isCopying  earlier = "cp.async of thread %v has not been waited for"
)

// raceFault stops the run with a race for shared memory with an access of which other is the record.
func (w *warp) raceFault(other uint64, lane int, address uint64, bytes int, did earlier) *Fault {
	own, number := uint64(32*w.index+lane), other&threadBits
	f := w.accessFault(Race, lane, "shared", address, bytes, string(did), w.block.thread(int(number)))
	of := func(e event) bool { return e.block == w.block.number && e.record&threadBits == number }
	switch launch := w.block.run.launch; {
	case launch.Watch == nil:
	case number == own && other&flagMany != 0: // several lanes have read, of which this is one
		f.Other = w.otherRead(f, func(e event) bool { return e.block == w.block.number && e.record&threadBits != own })
		if f.Other != nil {
			f.Detail = fmt.Sprintf(string(did), f.Other.Thread)
		}
	case did == hasRead:
		f.Other = w.otherRead(f, of)
	default:
		f.Other = w.other(f, of)
		if same := number / warpSize; f.Other == nil && same == uint64(w.index) && number < own && other>>epochShift == w.epoch {
			// A lane before this one has written it in the same instruction. The watch keeps only those of the last lanes.
			f.Other = &Access{w.block.id, w.block.thread(int(number)), f.Source, true}
		}
	}
	return f
}

// accessFault stops the run with a fault at an address.
func (w *warp) accessFault(kind FaultKind, lane int, space string, address uint64, bytes int, format string, args ...any) *Fault {
	f := w.fault(kind, lane, format, args...)
	f.Space, f.Address, f.Bytes = space, address, bytes
	return f
}
