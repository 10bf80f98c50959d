package unique_test

import (
	"math"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/generic/unique"
)

func TestHandle(t *testing.T) {
	same := strings.Repeat("ab", 3)
	if unique.Make("ababab") != unique.Make(same) || unique.Make("a") == unique.Make("b") {
		t.Error("handles of strings")
	}
	if got := unique.Make(same).Value(); got != same {
		t.Errorf("value %q, want %q", got, same)
	}
	type point struct{ x, y int }
	if unique.Make(point{1, 2}) != unique.Make(point{1, 2}) || unique.Make(point{1, 2}) == unique.Make(point{2, 1}) {
		t.Error("handles of structs")
	}
	if unique.Make[any](1) == unique.Make[any](int8(1)) || unique.Make[any](1) != unique.Make[any](1) {
		t.Error("handles of interfaces")
	}
	if h := unique.Make[any](nil); h != unique.Make[any](nil) || h.Value() != nil {
		t.Error("handle of nil")
	}
	if unique.Make(math.NaN()) == unique.Make(math.NaN()) {
		t.Error("NaN equals NaN")
	}
	if unique.Make(0.0) != unique.Make(math.Copysign(0, -1)) {
		t.Error("0 and -0 differ")
	}
}

func TestNotComparable(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	unique.Make[any]([]int{})
}

func TestZeroHandle(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var h unique.Handle[int]
	h.Value()
}
