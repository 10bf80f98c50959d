package library

// Names returns the names that a table returns by index, up to the first empty one.
func Names(name func(i int) string) (names []string) {
	for i := 0; name(i) != ""; i++ {
		names = append(names, name(i))
	}
	return names
}

// Bind looks up functions of the library and calls set with the index and address of each.
// The error is a [*LoadError] for the first that the library does not have.
func (h *Handle) Bind(names []string, set func(i int, at uintptr)) error {
	for i, name := range names {
		at, err := h.Symbol(name)
		if err != nil {
			return err
		}
		set(i, at)
	}
	return nil
}
