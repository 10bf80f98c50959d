package interp

import (
	"context"
	"reflect"
	"strings"

	"github.com/quernlab/quern/interp/control"
)

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// endWithCell makes the functions of our own packages that take a context and
// return an error, as accel.Fit does, end when their cell is interrupted, also
// where a cell gives them context.Background(): they poll it, and nothing else
// can end them.
func (s *Session) endWithCell(packages map[string]map[string]reflect.Value) {
	for key, names := range packages {
		if !strings.HasPrefix(key, control.OwnPackages) {
			continue
		}
		for name, f := range names {
			if f.IsValid() && f.Kind() == reflect.Func && takesContext(f.Type()) {
				names[name] = s.passContext(f)
			}
		}
	}
}

// takesContext says whether a function of type t has ended with its context when
// it returns: one without an error may keep it.
func takesContext(t reflect.Type) bool {
	return t.NumIn() > 0 && t.In(0) == contextType && t.NumOut() > 0 && t.Out(t.NumOut()-1) == errorType
}

func (s *Session) passContext(f reflect.Value) reflect.Value {
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		if ctx, ok := args[0].Interface().(context.Context); ok {
			ctx, cancel := s.untilStopped(ctx)
			defer cancel()
			args[0] = reflect.ValueOf(&ctx).Elem()
		}
		if f.Type().IsVariadic() {
			return f.CallSlice(args)
		}
		return f.Call(args)
	})
}

// untilStopped is ctx, and ends as well when the run of the calling goroutine is
// interrupted.
func (s *Session) untilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	m := s.goroutines.Member()
	if m == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	unwatch := context.AfterFunc(m.Run.Context(), cancel)
	return ctx, func() { unwatch(); cancel() }
}
