package interp

import (
	"context"
	"errors"
	"reflect"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/machine"
)

// machineConfig is what runs the functions of cells that yaegi need not;
// nil when it is to run all.
func (s *Session) machineConfig(packages map[string]map[string]reflect.Value) *machine.Config {
	if s.config.slow {
		return nil
	}
	return &machine.Config{
		Registry:    s.registry,
		Packages:    packages,
		Interpreted: lower.Interpreted,
		Go:          s.goroutines.Start,
		Stopping:    s.flag.Up(),
		Stop:        s.goroutines.Check,
	}
}

// link connects the functions of the machine with the variables that yaegi
// has for them.
func (s *Session) link(unit *lower.Unit) error {
	if unit.Machine == nil || unit.Machine.Empty() {
		return nil
	}
	err := unit.Machine.Link(s.engine.Eval, s.engine.Address)
	if err != nil {
		return &linkError{err}
	}
	return nil
}

// A linkError says that yaegi has other types for a function than the
// machine.
type linkError struct{ error }

func (e *linkError) Unwrap() error { return e.error }

// again lowers and compiles a cell for which err was returned without the
// machine, if that is at fault, and has the session do without it from then on.
func (s *Session) again(ctx context.Context, cell *check.Cell, err error) (*lower.Unit, error) {
	var link *linkError
	if !errors.As(err, &link) {
		return nil, err
	}
	s.program.Slow()
	unit, err := s.program.Lower(ctx, cell)
	if err != nil {
		return nil, err
	}
	if err := s.compile(ctx, unit); err != nil {
		s.program.Discard(unit)
		return nil, err
	}
	return unit, nil
}
