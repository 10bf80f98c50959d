package tensor

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

func TestMemoryLimit(t *testing.T) {
	withThreads(2, func() {
		n := newMLP(NewGenerator(1), 8, 20, 30, 5)
		n.train()
		before := n.params[0].Data()
		if old := SetMemoryLimit(1 << 20); old != 0 {
			t.Errorf("the limit was %d", old)
		}
		var memory *OutOfMemoryError
		err := catch(func() { Zeros(1 << 20) })
		if !errors.As(err, &memory) || memory.Need != 4<<20 || memory.Free <= 0 || memory.Free > 1<<20 || !strings.Contains(err.Error(), "try a smaller batch") {
			t.Fatalf("got %v, want an OutOfMemoryError", err)
		}
		// A step whose temporaries do not fit does not change the parameters.
		y := n.y
		small := n.x
		labels := make([]int, 5000)
		n.x, n.y = Zeros(5000, 20), FromInts(labels, 5000)
		if err := catch(func() { n.train() }); !errors.As(err, &memory) {
			t.Fatalf("got %v, want an OutOfMemoryError", err)
		}
		if got := n.params[0].Data(); !slices.Equal(got, before) {
			t.Error("a failed step changed the parameters")
		}
		n.x, n.y = small, y
		for _, p := range n.params {
			p.ZeroGrad()
		}
		if loss := n.train().Item(); math.IsNaN(loss) {
			t.Error("training does not continue")
		}
		// Unreachable tensors are collected before the limit is enforced.
		for range 25 {
			Ones(50000).AddScalar(1).Data()
		}
		// A broadcast view of one element is small, but a copy of it is too large.
		view := Ones(1).Expand(1 << 40)
		for name, read := range map[string]func(){"Data": func() { view.Data() }, "Raw": func() { view.Raw() }, "Ints": func() { view.Ints() }} {
			if err := catch(read); !errors.As(err, &memory) || memory.Need != 4<<40 {
				t.Errorf("%s of 4 TiB: got %v, want an OutOfMemoryError", name, err)
			}
		}
		SetMemoryLimit(0)
		Zeros(1 << 20)
	})
}

// TestPeakBytes makes values that become garbage at once, then values that are kept.
func TestPeakBytes(t *testing.T) {
	withThreads(2, func() {
		const size = 4 << 20 // bytes of one value
		before := tensors.PeakBytes(func() {})
		one := tensors.PeakBytes(func() {
			for i := range 20 {
				Ones(size / 4).AddScalar(float64(i)).Data()
			}
		})
		if n := one - before; n < size || n > 3*size {
			t.Errorf("one value of %d bytes at a time takes %d", size, n)
		}
		var keepDims []*Tensor
		all := tensors.PeakBytes(func() {
			for i := range 20 {
				keepDims = append(keepDims, Ones(size/4).AddScalar(float64(i)))
				keepDims[i].Data()
			}
		})
		if n := all - before; n < 19*size || n > 22*size {
			t.Errorf("20 values of %d bytes take %d", size, n)
		}
		runtime.KeepAlive(keepDims)
	})
}

func TestFindNonFinite(t *testing.T) {
	w := Parameter(New([]float32{0, 1}, 2))
	x := New([]float32{0, -1, 2, 3}, 2, 2)
	for _, row := range []struct {
		name string
		f    func()
		want string
	}{
		{"fine", func() { w.Mul(x).Sum().Backward() }, ""},
		{"forward", func() { x.MulScalar(2).Log().Add(w).Exp().Data() }, "Log: element 1 of [2 2] is NaN; before, Log: element 0 of [2 2] is -Inf"},
		{"infinite", func() { x.MulScalar(100).Exp().Neg().Data() }, "Exp: element 2 of [2 2] is +Inf"},
		{"gradient", func() { w.Sqrt().Sum().Backward(); w.Grad().Data() }, "the gradient of Sqrt: element 0 of [2] is +Inf"},
		{"input", func() { New([]float32{1, float32(math.NaN())}, 2).AddScalar(1).Data() }, "an input: element 1 of [2] is NaN"},
	} {
		w.ZeroGrad()
		found := FindNonFinite(row.f)
		switch {
		case found == nil && row.want != "":
			t.Errorf("%s: nothing found", row.name)
		case found != nil && found.String() != row.want:
			t.Errorf("%s: %v, want %q", row.name, found, row.want)
		}
	}
	n := newMLP(NewGenerator(1), 8, 4, 3, 2)
	if found := FindNonFinite(func() { n.train() }); found != nil {
		t.Errorf("FindNonFinite reports %v in a step with finite values", found)
	}
	first := n.train().Item()
	if last := n.train().Item(); !(last < first) {
		t.Errorf("training does not continue: %v, %v", first, last)
	}
}
