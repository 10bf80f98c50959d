package interp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/yaegi"
)

// A linker passes lowered code to the interpreter, connects the functions of the VM with the
// variables that the interpreter has for them, and redirects the callers of functions that are
// declared again.
type linker struct {
	interpreter evaluator
	program     *lower.Program
	imported    map[string]bool   // import declarations that the interpreter has seen
	groups      map[string]*group // of functions that were declared again
}

// An evaluator evaluates lowered code; see yaegi.Interpreter.
type evaluator interface {
	Use(packages map[string]map[string]reflect.Value) error
	Eval(src string) (reflect.Value, error)
	Address(variable string) (reflect.Value, error)
	CallValue(function string) error
	Redirect(function string, v reflect.Value) error
}

func newLinker(e evaluator, p *lower.Program) *linker {
	return &linker{interpreter: e, program: p, imported: map[string]bool{}, groups: map[string]*group{}}
}

// install passes the declarations of a unit to the interpreter. If ctx ends, it returns the
// error of ctx; the interpreter then has functions that nothing calls.
func (l *linker) install(ctx context.Context, unit *lower.Unit) error {
	if len(unit.Types) > 0 {
		if err := l.interpreter.Use(map[string]map[string]reflect.Value{lower.TypesPath + "/types": unit.Types}); err != nil {
			return &yaegi.Error{Reason: err.Error()}
		}
	}
	for _, src := range unit.Imports {
		if l.imported[src] {
			continue
		}
		if _, err := l.interpreter.Eval(src); err != nil {
			return fault(err)
		}
		l.imported[src] = true
	}
	for _, src := range unit.Pieces() {
		if err := l.evaluate(ctx, src); err != nil {
			return err
		}
	}
	for _, function := range unit.Values {
		if err := l.interpreter.CallValue(function); err != nil {
			return fault(err)
		}
	}
	if unit.Machine != nil && !unit.Machine.Empty() {
		if err := unit.Machine.Link(l.interpreter.Eval, l.interpreter.Address); err != nil {
			return fault(&linkError{err})
		}
	}
	if err := l.bind(unit); err != nil {
		return fault(&linkError{err})
	}
	if err := l.evaluate(ctx, unit.Register); err != nil {
		return err
	}
	if unit.Machine != nil {
		unit.Machine.LinkMethods()
	}
	return nil
}

// bind connects functions that are compiled at their first call with variables and functions of lowered code.
func (l *linker) bind(unit *lower.Unit) error {
	for _, b := range unit.Bindings {
		address, err := l.interpreter.Address(b.Variable)
		if err != nil {
			return err
		}
		if err := l.program.Bind(unit, b, address); err != nil {
			return err
		}
	}
	for _, s := range unit.StandIns {
		v, err := l.interpreter.Eval(s.Function)
		if err != nil {
			return err
		}
		if err := l.program.StandIn(s, reflect.ValueOf(v.Interface())); err != nil {
			return err
		}
	}
	return nil
}

// evaluate evaluates src unless ctx has ended.
func (l *linker) evaluate(ctx context.Context, src string) error {
	if err := ctx.Err(); err != nil || src == "" {
		return err
	}
	_, err := l.interpreter.Eval(src)
	return fault(err)
}

// fault returns err, or, if it is a panic, an error that reports a bug of the interpreter: no
// code of the user has run.
func fault(err error) error {
	var p *yaegi.Panic
	if errors.As(err, &p) {
		return &yaegi.Error{Reason: fmt.Sprint(p.Value)}
	}
	return err
}

// A linkError reports that the interpreter and the VM have different types for a function.
type linkError struct{ error }

func (e *linkError) Unwrap() error { return e.error }

// redeclare makes callers of functions that a unit declares again call the functions of the
// unit.
func (l *linker) redeclare(unit *lower.Unit) error {
	for _, r := range unit.Redeclared {
		v, err := l.interpreter.Eval(r.New)
		if err != nil {
			return fault(err)
		}
		v = reflect.ValueOf(v.Interface()) // not the variable of the function
		g := l.groups[r.Group]
		if g == nil {
			g = newGroup(v.Type())
			l.groups[r.Group] = g
		}
		g.current.Store(&v)
		if err := l.interpreter.Redirect(r.Old, g.value); err != nil {
			return fault(err)
		}
		l.program.Redirect(r.Key, r.Old, g.value)
	}
	return nil
}

// keepGroups removes the groups whose function the program no longer has.
func (l *linker) keepGroups() {
	known := l.program.Groups()
	maps.DeleteFunc(l.groups, func(name string, _ *group) bool { return !known[name] })
}
