package kernel_test

import (
	_ "embed"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

//go:embed functions_test.go
var functions string

//go:embed oddities_test.go
var odd string

// edges are operands at which arithmetic has special cases.
func edges(kind int) []int64 {
	switch kind {
	case 10:
		var all []int64
		for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 1.5, 2.5, -0.5, 1e-40, 3e38, -3e38, 1.0 / 3, 16777217, math.Inf(1), math.Inf(-1), math.NaN()} {
			all = append(all, int64(math.Float32bits(float32(f))))
		}
		return all
	case 11:
		var all []int64
		for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 1.5, 2.5, -0.5, 5e-324, 1e308, -1e308, 1.0 / 3, 1e16 + 1, math.Inf(1), math.Inf(-1), math.NaN()} {
			all = append(all, int64(math.Float64bits(f)))
		}
		return all
	}
	all := []int64{0, 1, -1, 2, 3, 5, 7, 31, 32, 63, 64, 100, math.MaxInt64, math.MinInt64}
	for _, n := range []uint{7, 8, 15, 16, 31, 32} {
		all = append(all, 1<<n, 1<<n-1, -1<<n, -1<<n-1)
	}
	return all
}

// sameFloat reports whether results are equal, or NaN of the same size: the bits of NaN are not defined.
func sameFloat(a, b int64, kind int) bool {
	nan32 := func(x int64) bool { f := math.Float32frombits(uint32(x)); return uint64(x)>>32 == 0 && f != f }
	nan64 := func(x int64) bool { return math.IsNaN(math.Float64frombits(uint64(x))) }
	return a == b || (kind == 10 || kind == 11) && (nan32(a) && nan32(b) || nan64(a) && nan64(b))
}

// What a kernel computes is what the Go compiler's code computes.
func TestArithmetic(t *testing.T) {
	k := compile(t, functions, "evaluate")
	r := rand.New(rand.NewPCG(3, 4))
	for kind := range kindsOfFunctions {
		var a, b []int64
		for _, x := range edges(kind) {
			for _, y := range edges(kind) {
				a, b = append(a, x), append(b, y)
			}
		}
		for range 50 {
			a, b = append(a, int64(r.Uint64()>>r.IntN(64))), append(b, int64(r.Uint64()>>r.IntN(64)))
		}
		want := make([]int64, results*len(a))
		for i := range a {
			evaluateOne(kind, a[i], b[i], want[i*results:][:results])
		}
		for _, device := range devices {
			on(t, device, func() {
				out := tensor.Zeros(len(want)).Cast(tensor.Int64)
				if err := k.Launch(kernel.Grid(len(a), 128), kind, int64s(a), int64s(b), out); err != nil {
					t.Fatal(err)
				}
				raw := out.Raw()
				for i, w := range want {
					got := int64(binary.LittleEndian.Uint64(raw[8*i:]))
					if !sameFloat(got, w, kind) {
						t.Fatalf("%s: function %d of %#x and %#x: result %d is %#x, want %#x", device, kind, a[i/results], b[i/results], i%results, got, w)
					}
				}
			})
		}
	}
}

func int64s(x []int64) *tensor.Tensor {
	var raw []byte
	for _, v := range x {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return tensor.FromRaw(tensor.Int64, raw, len(x))
}

// The functions of oddities_test.go return on all devices what they return in Go.
func TestOddities(t *testing.T) {
	k := compile(t, odd+helpers(t), "oddities")
	var a, b []int64
	r := rand.New(rand.NewPCG(5, 6))
	numbers := []int64{0, 1, -1, 2, 3, 5, 7, 31, 32, 63, 64, 100, 127, 128, 255, 1 << 15, 1<<31 - 1, 1 << 31, -1 << 31, 1 << 32, math.MaxInt64, math.MinInt64}
	for _, x := range numbers {
		for range 7 {
			a, b = append(a, x, int64(r.Uint64()>>r.IntN(64))), append(b, numbers[r.IntN(len(numbers))], x)
		}
	}
	want := make([]int64, kindsOfOddities*len(a))
	for i := range want {
		var scratch [8]int64
		want[i] = oddity(i%kindsOfOddities, a[i/kindsOfOddities], b[i/kindsOfOddities], scratch[:])
	}
	for _, device := range devices {
		on(t, device, func() {
			out := tensor.Zeros(len(want)).Cast(tensor.Int64)
			if err := k.Launch(kernel.Grid(len(a), 64), kindsOfOddities, int64s(a), int64s(b), out); err != nil {
				t.Fatal(device, err)
			}
			raw := out.Raw()
			for i, w := range want {
				if got := int64(binary.LittleEndian.Uint64(raw[8*i:])); got != w {
					t.Errorf("%s: function %d of %d and %d is %#x, want %#x", device, i%kindsOfOddities, a[i/kindsOfOddities], b[i/kindsOfOddities], got, w)
				}
			}
		})
	}
}

// helpers returns the functions that both files use.
func helpers(t *testing.T) (text string) {
	t.Helper()
	for _, name := range []string{"truth", "bits", "bits64"} {
		_, rest, ok := strings.Cut(functions, "\nfunc "+name+"(")
		if !ok {
			t.Fatal(name)
		}
		body, _, _ := strings.Cut(rest, "\n}\n")
		if one, _, ok := strings.Cut(rest, " }\n"); ok && !strings.Contains(one, "\n") {
			body = one
			text += "\nfunc " + name + "(" + body + " }\n"
			continue
		}
		text += "\nfunc " + name + "(" + body + "\n}\n"
	}
	return text
}
