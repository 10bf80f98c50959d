package library

import (
	"time"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/vm"
)

// Goroutines finds and ends the goroutines of cells.
type Goroutines interface {
	// Member returns the member that the calling goroutine belongs to, or nil.
	Member() *goroutine.Member
	// Enter makes the calling goroutine, and those that compiled code starts from it, belong to a member.
	Enter(*goroutine.Member)
	// EndIfStopped ends the calling goroutine if its run is stopped.
	EndIfStopped(*goroutine.Member)
	// BeginCall counts a call that returns what it has when the run is stopped, until end is called.
	BeginCall(*goroutine.Member) (end func())
	// Guard wraps f so that it can be the function of a go statement.
	Guard(cell int, f func()) func()
	// AddTimer records a timer that calls a function of a cell.
	AddTimer(*time.Timer)
	// Exit is os.Exit for cells.
	Exit(code int)
}

// Tracebacks returns the positions of functions of cells on the stack of the calling goroutine.
type Tracebacks interface {
	Locations(yield func(diagnostics.Location) bool)
	Caller(n int) (diagnostics.Location, bool)
	StackText() string
	Function(vm.FunctionID) (l diagnostics.Location, ok bool)
}

// Declarations has the source of declarations of cells.
type Declarations interface {
	// SourceOf returns a Go file with a function and what it uses.
	SourceOf(function string) (text string, ok bool)
}

// Panics describes the panic of the calling goroutine.
type Panics interface {
	Panic(value any) *diagnostics.Error
}

// Values knows the types of cells.
type Values interface {
	// TypeID returns a number for the type of x if a cell has declared it, and -1 for any other.
	TypeID(x any) int
	SetFinalizer(x, finalizer any, run func(finalize func()))
}
