package tensortype

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

var fp8Types = []DType{Float8E4M3, Float8E5M2}

// TestFloat8AgainstTorch compares with PyTorch's results, which testdata/float8.py has written: all
// values and 1.3 million roundings.
func TestFloat8AgainstTorch(t *testing.T) {
	text, err := os.ReadFile("testdata/float8.txt")
	if err != nil {
		t.Fatal(err)
	}
	golden := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		golden[f[0]+" "+f[1]] = f[2:]
	}
	for _, d := range fp8Types {
		numbers := golden[d.String()+" numbers"]
		if len(numbers) != 256 {
			t.Fatalf("%s: %d numbers", d, len(numbers))
		}
		for b, s := range numbers {
			want, err := strconv.ParseFloat(s, 32)
			if err != nil {
				t.Fatal(err)
			}
			got := Float8Value(d, uint8(b))
			if got != got && math.IsNaN(want) {
				continue
			}
			if math.Float32bits(got) != math.Float32bits(float32(want)) {
				t.Errorf("%s: %#x is %v, want %v", d, b, got, want)
			}
		}
		var codes []byte
		exponents := []uint32{0, 1, 2}
		for e := range uint32(50) {
			exponents = append(exponents, 100+e)
		}
		for sign := range uint32(2) {
			for _, e := range append(exponents, 254, 255) {
				for f := range uint32(1 << 11) {
					for _, low := range []uint32{0, 1, 0x7ff, 0x800, 0x801, 0xfff} {
						x := math.Float32frombits(sign<<31 | e<<23 | f<<12 | low)
						b := Float8Bits(d, x)
						if x != x {
							b &= 0x7f
						}
						codes = append(codes, b)
					}
				}
			}
		}
		sum := sha256.Sum256(codes)
		got := []string{fmt.Sprint(len(codes)), hex.EncodeToString(sum[:])}
		if want := golden[d.String()+" rounded"]; len(want) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%s: rounded to %v, want %v", d, got, want)
		}
	}
}

// TestFloat8IsNearest tests all values, the midpoints between neighbors and the floats next to
// them, exactly in float64.
func TestFloat8IsNearest(t *testing.T) {
	for _, d := range fp8Types {
		var sorted []uint8 // finite and not negative
		for b := uint8(0); b < 0x80; b++ {
			if v := float64(Float8Value(d, b)); !math.IsNaN(v) && !math.IsInf(v, 0) {
				sorted = append(sorted, b)
			}
		}
		largest := sorted[len(sorted)-1]
		if want := map[DType]float32{Float8E4M3: 448, Float8E5M2: 57344}[d]; Float8Value(d, largest) != want {
			t.Fatalf("%s: the largest number is %v", d, Float8Value(d, largest))
		}
		wants := func(x float32, want uint8) {
			t.Helper()
			for _, sign := range []uint8{0, 0x80} {
				y := x
				if sign != 0 {
					y = -x
				}
				if got := Float8Bits(d, y); got != want|sign {
					t.Fatalf("%s: %v becomes %#x, want %#x", d, y, got, want|sign)
				}
			}
		}
		for i, b := range sorted {
			v := Float8Value(d, b)
			wants(v, b)
			if i+1 == len(sorted) {
				break
			}
			middle := float32((float64(v) + float64(Float8Value(d, b+1))) / 2) // exact
			even := b + b&1
			wants(middle, even)
			wants(math.Nextafter32(middle, 0), b)
			wants(math.Nextafter32(middle, 1e9), b+1)
		}
		for _, x := range []float32{math.Nextafter32(Float8Value(d, largest), 1e9), 1e9, math.MaxFloat32, float32(math.Inf(1))} {
			wants(x, largest)
		}
		wants(math.SmallestNonzeroFloat32, 0)
		if x := Float8Value(d, Float8Bits(d, float32(math.NaN()))); x == x {
			t.Errorf("%s: NaN becomes %v", d, x)
		}
	}
}

// TestFloat8Scale checks that the scale is the greatest possible power of two, and that scaled
// values are exact bfloat16s.
func TestFloat8Scale(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for _, d := range fp8Types {
		most := float64(Float8Value(d, float8Of(d).largest))
		for _, tt := range []struct {
			largest float32
			want    int
		}{{0, 0}, {float32(math.Inf(1)), 0}, {float32(most), 0}, {float32(most) / 4, 2}, {math.Nextafter32(float32(most), 1e9), -1}, {1e-40, maxScale}} {
			if got := Float8Scale(d, tt.largest); got != tt.want {
				t.Errorf("%s: the scale of %v is 2^%d, want 2^%d", d, tt.largest, got, tt.want)
			}
		}
		for range 100000 {
			x := math.Float32frombits(r.Uint32() & 0x7fffffff)
			if x != x || math.IsInf(float64(x), 0) {
				continue
			}
			e := Float8Scale(d, x)
			if scaled := math.Ldexp(float64(x), e); x > 1e-25 && x < 1e38 && !(scaled <= most && 2*scaled > most) {
				t.Fatalf("%s: %v times 2^%d is %v", d, x, e, scaled)
			}
			for _, b := range []uint8{1, float8Of(d).largest} {
				v := float32(math.Ldexp(float64(Float8Value(d, b)), -e))
				if BFloat16Value(BFloat16Bits(v)) != v || math.IsInf(float64(v), 0) {
					t.Fatalf("%s: %v, of the scale of %v, is no bfloat16", d, v, x)
				}
			}
		}
	}
}
