package compare

import (
	"context"
	"errors"
	"testing"
)

func TestInterleave(t *testing.T) {
	var order []int
	way := func(i int) func() error { return func() error { order = append(order, i); return nil } }
	all, err := Interleave(t.Context(), 3, way(0), way(1))
	if err != nil || len(all) != 2 || len(all[0]) != 3 || len(all[1]) != 3 || len(order) != 10 {
		t.Fatalf("%v, %v, %v", all, order, err)
	}
	for i, way := range order {
		if way != i%2 {
			t.Fatalf("the candidates were not interleaved: %v", order)
		}
	}
	wrong := errors.New("wrong")
	if _, err := Interleave(t.Context(), 3, func() error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("%v", err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Interleave(done, 3, way(0)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestTimes(t *testing.T) {
	a, b := Times{0.004, 0.001, 0.003, 0.002, 0.005}, Times{0.002, 0.001, 0.001, 0.001, 0.001}
	if got := a.String(); got != "3 ms (2 ms to 4 ms)" {
		t.Error(got)
	}
	if m, low, high := a.Ratio(b); m != 2 || low != 2 || high != 3 {
		t.Error(m, low, high)
	}
	if got := (Times{}).String(); got != "not measured" {
		t.Error(got)
	}
}
