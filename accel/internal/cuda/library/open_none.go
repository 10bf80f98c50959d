//go:build !linux || !cgo

package library

// Handle is a library that is loaded; in this build there is none.
type Handle struct {
	Place
	Version Version
	CUDA    int // version of CUDA that it is made for, 1000*major + 10*minor
}

// Open says why no library is used: this build cannot load any.
func (l *Library) Open(driver int) (*Handle, error) { return l.open(ThisMachine(), driver) }

func (l *Library) open(m Machine, _ int) (*Handle, error) {
	if off(m.Env(Variable)) {
		return nil, ErrOff
	}
	return nil, ErrBuild
}

// Symbol finds no function.
func (h *Handle) Symbol(string) (uintptr, error) { return 0, ErrBuild }
