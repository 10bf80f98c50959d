package rt

import (
	"reflect"
	"testing"
	"time"
)

type stopped struct{}

// TestSelectStops interrupts a select whose channels are never ready. The first time it may
// continue, as deferred calls may.
func TestSelectStops(t *testing.T) {
	stop := make(chan struct{})
	asked := 0
	r := New(Config{
		Stopped: func() <-chan struct{} { return stop },
		Stop: func() {
			if asked++; asked > 1 {
				panic(stopped{})
			}
		},
	})
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		var never chan int
		c := reflect.ValueOf(never)
		r.Choose([]reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: c}, {Dir: reflect.SelectSend, Chan: c, Send: reflect.ValueOf(1)}})
	}()
	close(stop)
	select {
	case v := <-done:
		if v != (stopped{}) || asked != 2 {
			t.Errorf("ended with %v after %d calls of Stop", v, asked)
		}
	case <-time.After(10 * time.Second):
		t.Error("the select still waits")
	}
}
