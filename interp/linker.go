package interp

import (
	"context"
	"maps"
	"reflect"
	"sync"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/yaegi"
)

// A linker passes the declarations of variables to the interpreter, connects the functions of the VM with the variables, and
// redirects the callers of functions that are declared again.
type linker struct {
	interpreter evaluator
	program     *lower.Program
	imported    bool              // the interpreter has evaluated lower.Import
	groups      map[string]*group // of functions that were declared again
}

// An evaluator evaluates declarations of variables; see yaegi.Interpreter.
type evaluator interface {
	Use(packages map[string]map[string]reflect.Value) error
	Eval(src string) (reflect.Value, error)
	Address(variable string) (reflect.Value, error)
}

func newLinker(e evaluator, p *lower.Program) *linker {
	return &linker{interpreter: e, program: p, groups: map[string]*group{}}
}

// install passes a unit to the interpreter and links its functions. If ctx ends, it returns the error of ctx; the interpreter then
// has variables that nothing uses.
func (l *linker) install(ctx context.Context, unit *lower.Unit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.declare(unit); err != nil {
		return err
	}
	if err := unit.Machine.Link(l.interpreter.Address); err != nil {
		return &yaegi.Error{Reason: err.Error()}
	}
	unit.Machine.LinkMethods()
	return nil
}

// declare makes the interpreter declare the variables of a unit.
func (l *linker) declare(unit *lower.Unit) error {
	if unit.Source == "" {
		return nil
	}
	if err := l.interpreter.Use(map[string]map[string]reflect.Value{lower.TypesPath + "/types": unit.Types}); err != nil {
		return &yaegi.Error{Reason: err.Error()}
	}
	if !l.imported {
		if _, err := l.interpreter.Eval(lower.Import); err != nil {
			return err
		}
		l.imported = true
	}
	_, err := l.interpreter.Eval(unit.Source)
	return err
}

// redeclare makes callers of functions that a unit declares again call the functions of the
// unit.
func (l *linker) redeclare(unit *lower.Unit) {
	for _, r := range unit.Redeclared {
		v := unit.Machine.Value(r.New)
		g := l.groups[r.Group]
		if g == nil {
			g = newGroup(v.Type())
			l.groups[r.Group] = g
		}
		g.current.Store(&v)
		l.program.Redirect(r.Old, g.value)
	}
}

// keepGroups removes the groups whose function the program no longer has.
func (l *linker) keepGroups() {
	known := l.program.Groups()
	maps.DeleteFunc(l.groups, func(name string, _ *group) bool { return !known[name] })
}

// A sweeper drops definitions that later cells have replaced.
//
// The checker, the lowering, the VM, the run time and the interpreter each store definitions
// by name. After a number of cells, the sweeper makes all of them drop the replaced ones.
// Running code, closures and values hold their own references to what they need.
type sweeper struct {
	checker     *check.Checker
	program     *lower.Program
	registry    *rt.Registry
	linker      *linker
	interpreter interface {
		Keep(known map[string]bool)
	}
	sources   *diagnostics.Sources
	compiling sync.Locker // see compiler

	cells int // since the last sweep
	after int // cells until the next sweep
}

// sweepLeast is the number of cells before the first sweep. A session with many definitions
// waits longer, so that the cost of sweeping per cell stays the same.
const sweepLeast = 64

// cellEnded sweeps after every few cells. No cell may be running.
func (s *sweeper) cellEnded() {
	if s.cells++; s.cells < max(s.after, sweepLeast) {
		return
	}
	s.cells = 0
	s.compiling.Lock()
	defer s.compiling.Unlock()
	reach := s.checker.Sweep(s.program.Roots())
	s.after = reach.Len() / 16
	s.registry.Sweep(reach.Type)
	s.program.Sweep(reach)
	known := s.program.Names()
	s.interpreter.Keep(known)
	s.linker.keepGroups()
	s.sources.Sweep(known, reach.File)
}
