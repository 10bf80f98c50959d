package tensortype

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// nearest returns the bits among bits and its neighbors whose value is closest to f, ties to even,
// computed exactly.
func nearest(f float32, bits uint16, value func(uint16) float32) uint16 {
	distance := func(b uint16) *big.Float {
		v := float64(value(b))
		if math.IsInf(v, 0) { // rounds like the value after the largest finite one
			v = 2*float64(value(b-1)) - float64(value(b-2))
		}
		d := new(big.Float).Sub(big.NewFloat(float64(f)), big.NewFloat(v))
		return d.Abs(d)
	}
	best := bits
	for _, b := range []uint16{bits - 1, bits + 1} {
		if x := value(b); x != x || b&0x7fff == 0x7fff || (b^bits)&0x8000 != 0 {
			continue
		}
		if c := distance(b).Cmp(distance(best)); c < 0 || c == 0 && b&1 == 0 {
			best = b
		}
	}
	return best
}

func TestFloat16(t *testing.T) {
	for _, format := range []struct {
		name  string
		bits  func(float32) uint16
		value func(uint16) float32
	}{{"float16", Float16Bits, Float16Value}, {"bfloat16", BFloat16Bits, BFloat16Value}} {
		for b := range 1 << 16 { // every value survives a round trip
			v := format.value(uint16(b))
			got := format.bits(v)
			if v != v {
				if x := format.value(got); x == x {
					t.Errorf("%s: NaN %#x becomes %v", format.name, b, x)
				}
				continue
			}
			if got != uint16(b) {
				t.Fatalf("%s: %#x is %v, which becomes %#x", format.name, b, v, got)
			}
		}
		r := rand.New(rand.NewPCG(1, 1))
		for i := range 200000 {
			f := math.Float32frombits(r.Uint32())
			if i%4 != 0 { // at and between the values of the format
				f = format.value(uint16(r.Uint32()))
				f = math.Float32frombits(math.Float32bits(f) + []uint32{0, 1, 0xfff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001}[r.IntN(8)])
			}
			if f != f || math.IsInf(float64(f), 0) {
				continue
			}
			got := format.bits(f)
			if want := nearest(f, got, format.value); got != want {
				t.Fatalf("%s: %v (%#x) becomes %#x, %#x is nearer", format.name, f, math.Float32bits(f), got, want)
			}
		}
	}
}

func TestFloat16KnownValues(t *testing.T) {
	for _, row := range []struct {
		f                 float32
		float16, bfloat16 uint16
	}{
		{0, 0, 0}, {float32(math.Copysign(0, -1)), 0x8000, 0x8000}, {1, 0x3c00, 0x3f80}, {-2, 0xc000, 0xc000},
		{65504, 0x7bff, 0x4780}, {65519.996, 0x7bff, 0x4780}, {65520, 0x7c00, 0x4780}, {5.9604645e-8, 1, 0x3380}, {2.9802322e-8, 0, 0x3300},
		{float32(math.Inf(1)), 0x7c00, 0x7f80}, {math.MaxFloat32, 0x7c00, 0x7f80}, {1.00390625, 0x3c04, 0x3f80}, {1.01171875, 0x3c0c, 0x3f82},
	} {
		if g, b := Float16Bits(row.f), BFloat16Bits(row.f); g != row.float16 || b != row.bfloat16 {
			t.Errorf("%v: %#x and %#x, want %#x and %#x", row.f, g, b, row.float16, row.bfloat16)
		}
	}
}
