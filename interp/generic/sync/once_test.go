package sync_test

import (
	"fmt"
	standard "sync"
	"sync/atomic"
	"testing"

	"github.com/quernlab/quern/interp/generic/sync"
)

func TestOnce(t *testing.T) {
	var calls atomic.Int32
	value := sync.OnceValue(func() int { return int(calls.Add(1)) })
	values := sync.OnceValues(func() (int, string) { return int(calls.Add(1)), "b" })
	if calls.Load() != 0 {
		t.Error("called before it was asked for")
	}
	var wait standard.WaitGroup
	for range 8 {
		wait.Go(func() {
			if v := value(); v < 1 || v > 2 {
				t.Errorf("value %d", v)
			}
			if v, s := values(); v < 1 || v > 2 || s != "b" {
				t.Errorf("values %d, %q", v, s)
			}
		})
	}
	wait.Wait()
	if calls.Load() != 2 {
		t.Errorf("%d calls, want 2", calls.Load())
	}
}

func TestOncePanic(t *testing.T) {
	calls := 0
	value := sync.OnceValue(func() int { calls++; panic(fmt.Sprint("no ", calls)) })
	values := sync.OnceValues(func() (int, int) { calls++; panic(fmt.Sprint("no ", calls)) })
	for range 3 {
		if got := caught(func() { value() }); got != "no 1" {
			t.Errorf("panic %v, want no 1", got)
		}
	}
	for range 3 {
		if got := caught(func() { values() }); got != "no 2" {
			t.Errorf("panic %v, want no 2", got)
		}
	}
}

func caught(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}
