package library

// Found is what is known about a library of a machine.
type Found struct {
	Library *Library
	Version Version
	Place   Place // empty if none is used
	Unused  error // why it is not used; nil if it is
}

// Report loads the libraries and says which are used with a driver that supports a
// version of CUDA, 0 for not known.
func Report(driver int) []Found {
	var all []Found
	for _, l := range All {
		f := Found{Library: l}
		h, err := l.Open(driver)
		if err == nil {
			f.Version, f.Place = h.Version, h.Place
		}
		f.Unused = err
		all = append(all, f)
	}
	return all
}

// Runs tells whether a driver that supports a version of CUDA, 0 for not known, can
// run the library: libraries of one major version of CUDA run with all of its
// drivers. The error is a [*DriverError].
func (h *Handle) Runs(driver int) error {
	if driver != 0 && h.CUDA/1000 > driver/1000 {
		return &DriverError{Path: h.Path, CUDA: h.CUDA, Driver: driver}
	}
	return nil
}
