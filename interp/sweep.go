package interp

import (
	"maps"
)

// A session remembers definitions by name in each of its parts: the checker, the
// lowering, the VM, the run time and yaegi. What later cells have replaced is
// forgotten there together, every so many cells. Code that still runs, closures and
// values keep what they need by themselves.

// sweepLeast is after how many cells the first sweep is. A session with many
// definitions waits longer, so that sweeping costs each cell the same.
const sweepLeast = 64

// swept is called when a cell has ended and sweeps if it is time. No cell runs.
func (s *Session) swept() {
	if s.sinceSweep++; s.sinceSweep < max(s.sweepAfter, sweepLeast) {
		return
	}
	s.sinceSweep = 0
	reach := s.checker.Sweep(s.program.Roots())
	s.sweepAfter = reach.Len() / 16
	s.program.Sweep(reach, s.registry.Sweep(reach.Type))
	known, mentioned := s.program.Names()
	s.engine.Keep(known, mentioned)
	groups := s.program.Groups()
	maps.DeleteFunc(s.groups, func(name string, _ *group) bool { return !groups[name] })
	s.sources.KeepFunctions(known)
}
