package interp

import (
	"reflect"
	"sync/atomic"

	"github.com/quernlab/quern/interp/lower"
)

// A group is a function of cells with all that it was before: closures and
// goroutines that were there when it was declared again call what it is now.
type group struct {
	current atomic.Pointer[reflect.Value]
	value   reflect.Value // calls current
}

func newGroup(t reflect.Type) *group {
	g := &group{}
	g.value = reflect.MakeFunc(t, func(arguments []reflect.Value) []reflect.Value {
		if t.IsVariadic() {
			return g.current.Load().CallSlice(arguments)
		}
		return g.current.Load().Call(arguments)
	})
	return g
}

// redeclare has calls by the names that functions had before a unit go to those of
// the unit.
func (s *Session) redeclare(unit *lower.Unit) error {
	for _, r := range unit.Redeclared {
		v, err := s.engine.Eval(r.New)
		if err != nil {
			return internal(err)
		}
		v = reflect.ValueOf(v.Interface()) // not the variable of the function
		g := s.groups[r.Group]
		if g == nil {
			g = newGroup(v.Type())
			s.groups[r.Group] = g
		}
		g.current.Store(&v)
		if err := s.engine.Redirect(r.Old, g.value); err != nil {
			return internal(err)
		}
		s.program.Redirect(r.Key, r.Old, g.value)
	}
	return nil
}
