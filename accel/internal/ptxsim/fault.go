package ptxsim

import "fmt"

// FaultKind is the reason for which a run stopped.
type FaultKind uint8

// The kinds of faults.
const (
	OutOfBounds      FaultKind = iota // address outside of every allocation and variable
	Misaligned                        // address not a multiple of the access's size
	Uninitialised                     // memory read that nobody wrote
	Race                              // two threads, one of them writing, not ordered by a barrier
	DivergentBarrier                  // barrier that not all threads reach
	InactiveLane                      // warp-wide instruction that names lanes which are not there
	BudgetSpent                       // more steps than allowed, or the context ended
	Trapped                           // trap, or an operand that the machine does not allow
)

var faultNames = [...]string{"out of bounds", "misaligned address", "uninitialised read", "race", "divergent barrier",
	"inactive lane", "budget of steps spent", "trap"}

func (k FaultKind) String() string { return faultNames[k] }

// Fault is a run that stopped.
type Fault struct {
	Kind    FaultKind
	Kernel  string
	Line    int    // of the PTX
	Text    string // the line
	Block   [3]int
	Thread  [3]int
	Space   string // global, shared, local, param; empty if no address is concerned
	Address uint64
	Bytes   int
	Detail  string
	Cause   error // of a spent budget: the context's error, or nil
}

func (f *Fault) Error() string {
	s := fmt.Sprintf("%s in kernel %s, ptx line %d (%s), block %v, thread %v", f.Kind, f.Kernel, f.Line, f.Text, f.Block, f.Thread)
	if f.Space != "" {
		s += fmt.Sprintf(", %d bytes of %s memory at %#x", f.Bytes, f.Space, f.Address)
	}
	if f.Detail != "" {
		s += ": " + f.Detail
	}
	return s
}

// Unwrap is the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// fault stops the run. The lane is that of the thread at fault.
func (w *warp) fault(kind FaultKind, lane int, format string, args ...any) *Fault {
	b := w.block
	k := b.kernel
	f := &Fault{Kind: kind, Kernel: k.name, Line: k.code[w.pc].line, Detail: fmt.Sprintf(format, args...)}
	f.Text = k.text(f.Line)
	f.Block, f.Thread = b.id, b.thread(32*w.index+lane)
	return f
}

// accessFault is a fault at an address.
func (w *warp) accessFault(kind FaultKind, lane int, space string, address uint64, bytes int, format string, args ...any) *Fault {
	f := w.fault(kind, lane, format, args...)
	f.Space, f.Address, f.Bytes = space, address, bytes
	return f
}
