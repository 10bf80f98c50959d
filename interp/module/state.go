package module

import (
	"maps"
	"slices"
)

// A State is what a Set consists of at one time.
type State struct {
	set *Set // without what is the same in all states
}

// State returns the present state.
func (s *Set) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := &Set{}
	old.copyState(s)
	return State{old}
}

// Restore removes what Get and Add have added since the state. Files that have been downloaded stay in the cache.
func (s *Set) Restore(old State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !maps.Equal(s.selected, old.set.selected) {
		s.generation++
	}
	s.copyState(old.set)
	s.checked = false
}

func (s *Set) copyState(from *Set) {
	s.roots, s.selected, s.dirs, s.retracted = slices.Clone(from.roots), maps.Clone(from.selected), maps.Clone(from.dirs), maps.Clone(from.retracted)
	s.added, s.work, s.workDir, s.workErr, s.stale = slices.Clone(from.added), from.work, from.workDir, from.workErr, from.stale
}
