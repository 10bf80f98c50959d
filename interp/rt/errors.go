package rt

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
)

// ErrorsIs is errors.Is, which would treat all boxes as comparable.
func (r *representations) ErrorsIs(err, target error) bool {
	if err == nil || target == nil {
		return err == target //nolint:errorlint // as package errors does
	}
	comparable := reflect.TypeOf(target).Comparable()
	if b, ok := r.unbox(target); ok {
		comparable = types.Comparable(b.T.typ)
	}
	return r.errorsIs(err, target, comparable)
}

func (r *representations) errorsIs(err, target error, comparable bool) bool {
	for {
		if comparable && r.Equal(err, target) {
			return true
		}
		if is, ok := err.(interface{ Is(error) bool }); ok && is.Is(target) {
			return true
		}
		switch wrapper := err.(type) { //nolint:errorlint // this walks the chain itself
		case interface{ Unwrap() error }:
			if err = wrapper.Unwrap(); err == nil {
				return false
			}
		case interface{ Unwrap() []error }:
			for _, err := range wrapper.Unwrap() {
				if r.errorsIs(err, target, comparable) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
}

// ErrorsAs is errors.As. target is the pointer, boxed if its type requires that.
// static is the static type of the argument, or nil if that is an interface.
func (r *Registry) ErrorsAs(err error, target any, static *Type) bool {
	if err == nil {
		return false
	}
	if target == nil {
		panic("errors: target cannot be nil")
	}
	var pointed types.Type // nil if it is only known to reflect
	pointer := reflect.ValueOf(target)
	if b, ok := r.unbox(target); ok {
		pointer, static = reflect.ValueOf(b.V), b.T
	}
	if static != nil {
		if p, ok := static.typ.Underlying().(*types.Pointer); ok {
			pointed = p.Elem()
		}
	}
	if pointer.Kind() != reflect.Pointer || pointer.IsNil() {
		panic("errors: target must be a non-nil pointer")
	}
	set, ok := r.setter(pointer.Elem(), pointed)
	if !ok {
		panic("errors: *target must be interface or implement error")
	}
	return r.errorsAs(err, target, set)
}

func (r *representations) errorsAs(err error, target any, set func(error) bool) bool {
	for {
		if set(err) {
			return true
		}
		if as, ok := err.(interface{ As(any) bool }); ok && as.As(target) {
			return true
		}
		switch wrapper := err.(type) { //nolint:errorlint // this walks the chain itself
		case interface{ Unwrap() error }:
			if err = wrapper.Unwrap(); err == nil {
				return false
			}
		case interface{ Unwrap() []error }:
			for _, err := range wrapper.Unwrap() {
				if err != nil && r.errorsAs(err, target, set) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
}

// setter returns a function that stores an error in variable if the error is assignable
// to the variable's type. That type is typ or, if typ is nil, the one that reflect
// reports. ok is false if no error is ever assignable.
func (r *Registry) setter(variable reflect.Value, typ types.Type) (set func(error) bool, ok bool) {
	switch {
	case typ != nil && types.IsInterface(typ):
		d := r.Describe(typ)
		return func(err error) bool {
			x := r.Plain(err)
			if d.compiled == nil {
				if !r.Implements(x, d) {
					return false
				}
			} else if x, ok = r.Convert(x, d); !ok {
				return false
			}
			variable.Set(reflect.ValueOf(x))
			return true
		}, true
	case typ != nil && r.Mentions(typ):
		d := r.Describe(typ)
		return func(err error) bool {
			v, ok := r.As(err, d.id)
			if ok {
				variable.Set(reflect.ValueOf(v))
			}
			return ok
		}, d.set.Load().hasSignature("Error", "func() string")
	}
	t := variable.Type()
	return func(err error) bool {
		if _, ok := r.unbox(err); ok && t.Kind() != reflect.Interface {
			return false
		}
		if !reflect.TypeOf(err).AssignableTo(t) {
			return false
		}
		variable.Set(reflect.ValueOf(err))
		return true
	}, t.Kind() == reflect.Interface || t.Implements(errorType)
}

// Errorf is fmt.Errorf.
func (r *Registry) Errorf(format string, args ...any) error {
	if !r.mayHoldBox(args) {
		return fmt.Errorf(format, args...)
	}
	p := r.newPrinter()
	p.wrapErrors = true
	p.printf(format, args)
	text := string(p.buffer)
	slices.Sort(p.wrapped)
	wrapped := slices.Compact(p.wrapped)
	switch len(wrapped) {
	case 0:
		return fmt.Errorf("%s", text)
	case 1:
		err, _ := args[wrapped[0]].(error)
		if len(p.wrapped) == 1 {
			return &wrapError{text, err}
		}
	}
	var errs []error
	for _, i := range wrapped {
		if err, ok := args[i].(error); ok {
			errs = append(errs, err)
		}
	}
	return &wrapErrors{text, errs}
}

// wrapError corresponds to fmt.wrapError.
type wrapError struct {
	text string
	err  error
}

func (e *wrapError) Error() string      { return e.text }
func (e *wrapError) Unwrap() error      { return e.err }
func (*wrapError) compiledName() string { return "*fmt.wrapError" }

// wrapErrors corresponds to fmt.wrapErrors.
type wrapErrors struct {
	text string
	errs []error
}

func (e *wrapErrors) Error() string      { return e.text }
func (e *wrapErrors) Unwrap() []error    { return e.errs }
func (*wrapErrors) compiledName() string { return "*fmt.wrapErrors" }
