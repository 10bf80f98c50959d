package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func TestUnknownDevice(t *testing.T) {
	if err := run(t.Context(), options{device: "abacus"}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "abacus") {
		t.Errorf("got %v", err)
	}
}

// A wrong op must be seen.
func TestDifference(t *testing.T) {
	for _, row := range []struct {
		a, b outcome
		want float64
	}{
		{outcome{{1, 2}}, outcome{{1, 2}}, 0},
		{outcome{{1, 2}}, outcome{{1, 4}}, 0.5},
		{outcome{{1}, {3, 8}}, outcome{{1}, {4, 8}}, 0.125},
	} {
		if got := difference(row.a, row.b); got != row.want {
			t.Errorf("%v and %v: %v, want %v", row.a, row.b, got, row.want)
		}
	}
	var nan float32
	nan /= nan
	if got := difference(outcome{{nan}}, outcome{{1}}); !math.IsInf(got, 1) {
		t.Errorf("NaN: %v", got)
	}
}
