package rt

import (
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
		r.Select("rs", never, nil, never, new(int))
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

func TestSelect(t *testing.T) {
	r := New(Config{})
	full, empty := make(chan string, 1), make(chan error, 1)
	full <- "a"
	value, err := "b", error(nil)
	if i, ok := r.Select("srd", full, &value, empty, &err); i != 2 || ok {
		t.Errorf("with nothing ready: %d, %v", i, ok)
	}
	if i, ok := r.Select("rr", empty, &err, full, &value); i != 1 || !ok || value != "a" {
		t.Errorf("received %q in case %d, %v", value, i, ok)
	}
	if i, _ := r.Select("s", empty, &err); i != 0 || <-empty != nil {
		t.Error("a nil error was not sent")
	}
	close(full)
	if i, ok := r.Select("r", full, &value); i != 0 || ok || value != "" {
		t.Errorf("received %q from a closed channel, %v", value, ok)
	}
}
