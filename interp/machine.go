package interp

import (
	"reflect"

	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/machine"
)

// machineConfig is what runs the functions of cells that the engine need not;
// nil when it is to run all.
func (s *Session) machineConfig(packages map[string]map[string]reflect.Value) *machine.Config {
	if s.config.slow {
		return nil
	}
	return &machine.Config{
		Registry:    s.registry,
		Packages:    packages,
		Interpreted: lower.Interpreted,
		Stopping:    &s.stopping,
		Stop:        s.checkStop,
	}
}

// link connects the functions of the machine with the variables that the engine
// has for them.
func (s *Session) link(unit *lower.Unit) error {
	if unit.Machine == nil || unit.Machine.Empty() {
		return nil
	}
	err := unit.Machine.Link(func(name string) (reflect.Value, error) { return s.engine.Eval(name) })
	if err != nil {
		return &engineError{err.Error()}
	}
	return nil
}
