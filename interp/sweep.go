package interp

import (
	"sync"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/rt"
)

// A sweeper drops definitions that later cells have replaced.
//
// The checker, the lowering, the VM, the run time and the interpreter each store definitions
// by name. After a number of cells, the sweeper makes all of them drop the replaced ones.
// Running code, closures and values hold their own references to what they need.
type sweeper struct {
	checker     *check.Checker
	program     *lower.Program
	registry    *rt.Registry
	linker      *linker
	interpreter interface {
		Keep(known map[string]bool)
	}
	sources   *diagnostics.Sources
	compiling sync.Locker // see compiler

	cells int // since the last sweep
	after int // cells until the next sweep
}

// sweepLeast is the number of cells before the first sweep. A session with many definitions
// waits longer, so that the cost of sweeping per cell stays the same.
const sweepLeast = 64

// cellEnded sweeps after every few cells. No cell may be running.
func (s *sweeper) cellEnded() {
	if s.cells++; s.cells < max(s.after, sweepLeast) {
		return
	}
	s.cells = 0
	s.compiling.Lock()
	defer s.compiling.Unlock()
	reach := s.checker.Sweep(s.program.Roots())
	s.after = reach.Len() / 16
	s.registry.Sweep(reach.Type)
	s.program.Sweep(reach)
	known := s.program.Names()
	s.interpreter.Keep(known)
	s.linker.keepGroups()
	s.sources.Sweep(known, reach.File)
}
