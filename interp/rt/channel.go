package rt

import (
	"os"
	"reflect"
	"slices"
	"time"
)

// stopRetryInterval is how long a wait continues before it checks again whether it must end.
// It checks repeatedly because the deferred calls of interrupted code are allowed to
// wait for a while.
const stopRetryInterval = 50 * time.Millisecond

// stopped returns a channel that is closed when the calling goroutine must stop, or nil
// if nothing can stop it.
func (r *routines) stopped() <-chan struct{} {
	if r.config.Stopped == nil {
		return nil
	}
	return r.config.Stopped()
}

// stopOrRetry ends the calling goroutine. If the goroutine may continue for now, stopOrRetry
// returns a channel that is closed when it is time to try again.
func (r *routines) stopOrRetry() <-chan struct{} {
	r.config.Stop()
	again := make(chan struct{})
	time.AfterFunc(stopRetryInterval, func() { close(again) })
	return again
}

// Outside reports whether something else than a goroutine may send on a channel of type t, or
// close it: a timer, a context or a signal.
//
// The functions below have two names, so that stack traces show which waits these can end.
func Outside(t reflect.Type) bool {
	elem := t.Elem()
	return elem == timeType || elem == signalType || t.ChanDir() == reflect.RecvDir && elem.Kind() == reflect.Struct && elem.Size() == 0
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	signalType = reflect.TypeFor[os.Signal]()
)

// Receive receives from a channel as Go does, but ends when its goroutine must stop.
func Receive[T any](r *Registry, c <-chan T) (v T, open bool) { return receive(r, c) }

// ReceiveOutside is Receive for a channel of an outside type.
func ReceiveOutside[T any](r *Registry, c <-chan T) (v T, open bool) { return receive(r, c) }

func receive[T any](r *Registry, c <-chan T) (v T, open bool) {
	select {
	case v, open = <-c:
		return v, open
	default:
	}
	stopped := r.stopped()
	for {
		select {
		case v, open = <-c:
			return v, open
		case <-stopped:
			stopped = r.stopOrRetry()
		}
	}
}

// Send sends on a channel as Go does, but ends when its goroutine must stop.
func Send[T any](r *Registry, c chan<- T, v T) {
	select {
	case c <- v:
		return
	default:
	}
	stopped := r.stopped()
	for {
		select {
		case c <- v:
			return
		case <-stopped:
			stopped = r.stopOrRetry()
		}
	}
}

// ReceiveFrom is Receive for a channel of any type.
func (r *routines) ReceiveFrom(c reflect.Value) (value reflect.Value, open bool) {
	if value, open = c.TryRecv(); value.IsValid() {
		return value, open
	}
	one := reflect.SelectCase{Dir: reflect.SelectRecv, Chan: c}
	if Outside(c.Type()) {
		return r.waitOutside(one)
	}
	return r.wait(one)
}

// SendOn is Send for a channel of any type.
func (r *routines) SendOn(c, value reflect.Value) {
	if c.TrySend(value) {
		return
	}
	one := reflect.SelectCase{Dir: reflect.SelectSend}
	if !c.IsNil() { // reflect.Select takes no value for a nil channel
		one.Chan, one.Send = c, value
	}
	r.wait(one)
}

// wait waits for one channel operation.
func (r *routines) wait(one reflect.SelectCase) (received reflect.Value, open bool) {
	_, received, open = r.selectOrStop([]reflect.SelectCase{one})
	return received, open
}

// waitOutside is wait for a channel of an outside type.
func (r *routines) waitOutside(one reflect.SelectCase) (received reflect.Value, open bool) {
	return r.wait(one)
}

// selectOrStop waits until one of the cases can proceed, or the goroutine must stop.
func (r *routines) selectOrStop(cases []reflect.SelectCase) (chosen int, received reflect.Value, open bool) {
	stop := len(cases)
	stopped := r.stopped()
	for {
		chosen, received, open = reflect.Select(append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(stopped)}))
		if chosen != stop {
			return chosen, received, open
		}
		stopped = r.stopOrRetry()
	}
}

// Choose is reflect.Select, but ends when its goroutine must stop.
func (r *routines) Choose(cases []reflect.SelectCase) (chosen int, received reflect.Value, open bool) {
	return r.choose(cases)
}

// ChooseOutside is Choose if one of the cases receives from a channel of an outside type.
func (r *routines) ChooseOutside(cases []reflect.SelectCase) (chosen int, received reflect.Value, open bool) {
	return r.choose(cases)
}

func (r *routines) choose(cases []reflect.SelectCase) (chosen int, received reflect.Value, open bool) {
	if slices.ContainsFunc(cases, func(c reflect.SelectCase) bool { return c.Dir == reflect.SelectDefault }) {
		return reflect.Select(cases)
	}
	return r.selectOrStop(cases)
}
