package rt

import (
	"reflect"
	"time"
)

// askAgain is how often a wait asks again whether it is to end, after it was told
// to and what it runs in was spared: the deferred calls of interrupted code.
const askAgain = 50 * time.Millisecond

// stopped is closed when the calling goroutine is to stop; nil when nothing stops
// it.
func (r *Registry) stopped() <-chan struct{} {
	if r.config.Stopped == nil {
		return nil
	}
	return r.config.Stopped()
}

// stopOr ends the calling goroutine. Where it is spared the channel is closed when
// that is to be tried again.
func (r *Registry) stopOr() <-chan struct{} {
	r.config.Stop()
	again := make(chan struct{})
	time.AfterFunc(askAgain, func() { close(again) })
	return again
}

// Receive is a receive from a channel that ends when the caller is to stop.
// variable points to what takes the value. open is what a receive tells beside
// it.
func (r *Registry) Receive(channel, variable any) (open bool) {
	switch c := channel.(type) {
	case chan int:
		return receive(r, c, variable)
	case chan string:
		return receive(r, c, variable)
	case chan bool:
		return receive(r, c, variable)
	case chan float64:
		return receive(r, c, variable)
	case chan struct{}:
		return receive(r, c, variable)
	case <-chan int:
		return receive(r, c, variable)
	case <-chan string:
		return receive(r, c, variable)
	case <-chan struct{}:
		return receive(r, c, variable)
	case <-chan time.Time:
		return receive(r, c, variable)
	}
	c := reflect.ValueOf(channel)
	value, open := c.TryRecv()
	if !value.IsValid() {
		value, open = r.wait(reflect.SelectCase{Dir: reflect.SelectRecv, Chan: c})
	}
	reflect.ValueOf(variable).Elem().Set(value)
	return open
}

func receive[T any](r *Registry, c <-chan T, variable any) (open bool) {
	v := variable.(*T)
	select {
	case *v, open = <-c:
		return open
	default:
	}
	stopped := r.stopped()
	for {
		select {
		case *v, open = <-c:
			return open
		case <-stopped:
			stopped = r.stopOr()
		}
	}
}

// Send is a send on a channel that ends when the caller is to stop. variable
// points to the value.
func (r *Registry) Send(channel, variable any) {
	switch c := channel.(type) {
	case chan int:
		send(r, c, variable)
	case chan string:
		send(r, c, variable)
	case chan bool:
		send(r, c, variable)
	case chan float64:
		send(r, c, variable)
	case chan struct{}:
		send(r, c, variable)
	case chan<- int:
		send(r, c, variable)
	case chan<- string:
		send(r, c, variable)
	case chan<- struct{}:
		send(r, c, variable)
	default:
		sendAny(r, reflect.ValueOf(c), reflect.ValueOf(variable).Elem())
	}
}

func sendAny(r *Registry, c, value reflect.Value) {
	if c.TrySend(value) {
		return
	}
	one := reflect.SelectCase{Dir: reflect.SelectSend}
	if !c.IsNil() { // package reflect wants no value for a nil channel
		one.Chan, one.Send = c, value
	}
	r.wait(one)
}

func send[T any](r *Registry, c chan<- T, variable any) {
	v := *variable.(*T)
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
			stopped = r.stopOr()
		}
	}
}

// wait waits for one operation.
func (r *Registry) wait(one reflect.SelectCase) (received reflect.Value, open bool) {
	_, received, open = r.choose([]reflect.SelectCase{one})
	return received, open
}

// choose waits until one of the cases can go on, or the caller is to stop.
func (r *Registry) choose(cases []reflect.SelectCase) (chosen int, received reflect.Value, open bool) {
	stop := len(cases)
	stopped := r.stopped()
	for {
		chosen, received, open = reflect.Select(append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(stopped)}))
		if chosen != stop {
			return chosen, received, open
		}
		stopped = r.stopOr()
	}
}
