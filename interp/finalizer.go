package interp

// setFinalizer is runtime.SetFinalizer for cells: the finalizer belongs to the cell that runs when it is called.
func (s *Session) setFinalizer(x, f any) {
	s.registry.SetFinalizer(x, f, func(finalize func()) { s.goroutines.Guard(0, finalize)() })
}
