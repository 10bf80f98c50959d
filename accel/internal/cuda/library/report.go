package library

// Found is the result of the search for one library.
type Found struct {
	Library  *Library
	Version  Version
	Location Location // empty if none is used
	Unused   error    // why it is not used; nil if it is
}

// Report loads the libraries and returns which of them are used with a driver that supports
// a version of CUDA (0: unknown).
func Report(driver int) []Found {
	var all []Found
	for _, l := range All {
		f := Found{Library: l}
		h, err := l.Open(driver)
		if err == nil {
			f.Version, f.Location = h.Version, h.Location
		}
		f.Unused = err
		all = append(all, f)
	}
	return all
}

// Runs returns a [*DriverError] if a driver that supports a version of CUDA (0: unknown)
// cannot run the library. A library built for a major version of CUDA runs with all drivers
// of that major version.
func (h *Handle) Runs(driver int) error {
	if driver != 0 && h.CUDA/1000 > driver/1000 {
		return &DriverError{Path: h.Path, CUDA: h.CUDA, Driver: driver}
	}
	return nil
}
