package tensor

import (
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

func TestGenerator(t *testing.T) {
	// The block of key 0 and counter 0 in Random123's known-answer tests.
	if got := ir.Philox(0, 0); got != [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8} {
		t.Errorf("Philox block %x", got)
	}
	a, b := NewGenerator(5), NewGenerator(5)
	x, y := Randn(a, 1000), Randn(b, 1000)
	sameBits(t, "equal seeds", x, y)
	if slices.Equal(x.Data(), Randn(b, 1000).Data()) {
		t.Error("the generator repeats itself")
	}
	z := Randn(a, 100000)
	if m, v := z.Mean().Item(), z.Square().Mean().Item(); !(math.Abs(m) < 0.015) || !(math.Abs(v-1) < 0.02) {
		t.Errorf("normal numbers have mean %v and variance %v", m, v)
	}
	u := Uniform(a, -1, 3, 100000)
	if m := u.Mean().Item(); !(math.Abs(m-1) < 0.02) || u.Max(0).Item() >= 3 || u.Neg().Max(0).Item() > 1 {
		t.Errorf("uniform numbers have mean %v and range %v %v", m, -u.Neg().Max(0).Item(), u.Max(0).Item())
	}
	p := a.Perm(50)
	slices.Sort(p)
	for i, v := range p {
		if i != v {
			t.Fatalf("not a permutation: %v", p)
		}
	}
	tensors.Seed(9)
	first := Randn(nil, 3).Data()
	tensors.Seed(9)
	if !slices.Equal(first, Randn(nil, 3).Data()) {
		t.Error("Seed does not restart the default generator")
	}
}

func TestDropout(t *testing.T) {
	x := Parameter(Ones(100000))
	y := x.Dropout(0.3, NewGenerator(2), true)
	dropped := 0
	for _, v := range y.Data() {
		switch v {
		case 0:
			dropped++
		case float32(1 / 0.7):
		default:
			t.Fatalf("an element is %v", v)
		}
	}
	if !(math.Abs(float64(dropped)/100000-0.3) < 0.01) {
		t.Errorf("%d of 100000 are dropped", dropped)
	}
	y.Sum().Backward()
	sameBits(t, "the gradient uses the same mask", x.Grad(), y)
	if x.Dropout(0.3, nil, false) != x {
		t.Error("dropout outside of training is not the identity")
	}
}

func TestGeneratorState(t *testing.T) {
	a, b := NewGenerator(7), NewGenerator(1)
	a.Perm(5)
	Randn(a, 3)
	b.SetState(a.State())
	for range 3 {
		if x, y := a.Uint64(), b.Uint64(); x != y {
			t.Fatalf("%d and %d", x, y)
		}
	}
	tensors.Seed(3)
	seed, drawn := (*Generator)(nil).State()
	first := (*Generator)(nil).Uint64()
	(*Generator)(nil).SetState(seed, drawn)
	if again := (*Generator)(nil).Uint64(); seed != 3 || drawn != 0 || again != first {
		t.Errorf("seed %d, drawn %d, %d and %d", seed, drawn, first, again)
	}
}
