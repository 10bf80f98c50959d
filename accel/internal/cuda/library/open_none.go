//go:build !linux || !cgo

package library

// Handle is a loaded library. This build cannot load any.
type Handle struct {
	Location
	Version Version
	CUDA    int // version of CUDA that it was built for, 1000*major + 10*minor
}

// Open returns [ErrBuild]: this build cannot load libraries.
func (l *Library) Open(driver int) (*Handle, error) { return l.open(ThisMachine(), driver) }

func (l *Library) open(m Machine, _ int) (*Handle, error) {
	if off(m.Env(Variable)) {
		return nil, ErrOff
	}
	return nil, ErrBuild
}

// Symbol returns [ErrBuild].
func (h *Handle) Symbol(string) (uintptr, error) { return 0, ErrBuild }
