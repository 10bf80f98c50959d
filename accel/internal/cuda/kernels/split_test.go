package kernels

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// TestSplit multiplies matrices whose depth is split into parts, several times, since the blocks count
// how many of them have come.
func TestSplit(t *testing.T) {
	for _, p := range []struct {
		matmulCase
		parts int
	}{
		{matmulCase{"two parts", rowMajor(70, 512), rowMajor(512, 65), true, true}, 2},
		{matmulCase{"three", rowMajor(9, 800), swapped(800, 24), true, false}, 3},
		{matmulCase{"five, the last of which is short", rowMajor(16, 1290), rowMajor(1290, 8), false, true}, 5},
		{matmulCase{"six", swapped(16, 1544), rowMajor(1544, 8), true, false}, 6},
		{matmulCase{"seven", swapped(64, 1800), swapped(1800, 8), false, false}, 7},
		{matmulCase{"three, of a batch", rowMajor(3, 8, 768), rowMajor(3, 768, 72), false, false}, 3},
	} {
		for _, d := range []ir.DType{ir.Float64, ir.Float32, ir.BFloat16} {
			kernels := map[string]matmulKernels{"matmul": MatMul{DType: d, A: p.a, B: p.b, Bias: p.bias, ReLU: p.relu}}
			if d == ir.BFloat16 {
				of := TensorMatMul{MatMul{DType: d, A: p.a, B: p.b, Bias: p.bias, ReLU: p.relu}, true}
				kernels = map[string]matmulKernels{"mma": of, "wgmma": HopperMatMul{of}}
				if !(HopperMatMul{of}).Fits(0, 0) {
					delete(kernels, "wgmma")
				}
			}
			for name, o := range kernels {
				t.Run(fmt.Sprint(p.name, " ", d, " ", name), func(t *testing.T) {
					r := generator(26)
					m, a, b := newTestGPU(t), numbers(r, d, p.a), numbers(r, d, p.b)
					bias := random(r, d, p.b.Shape[len(p.b.Shape)-1])
					want := p.want(t, a, b, bias)
					y := m.alloc(len(want.data) * d.Size())
					launches, err := o.Launches(Addresses{In: []Pointer{m.put(a), m.put(b), m.put(bias)}, Out: []Pointer{y}, Work: m.alloc(o.Workspace())})
					if err != nil {
						t.Fatal(err)
					}
					if len(launches) != 1 || launches[0].Grid.Y != uint32(p.parts) {
						t.Errorf("%d launches, the first of %v blocks; want one of %d parts", len(launches), launches[0].Grid, p.parts)
					}
					var first []byte
					for range 3 {
						m.run(launches)
						tolerance := 1e-4
						if d == ir.BFloat16 {
							tolerance = 1.0 / 128
						}
						compareArrays(t, m.get(y, d, want.shape), want, tolerance)
						if now := m.read(y, len(want.data)*d.Size()); first == nil {
							first = now
						} else if !bytes.Equal(now, first) {
							t.Error("the same launch gives other bits")
						}
					}
				})
			}
		}
	}
}

// TestSplitSums adds up what is split into parts, several times.
func TestSplitSums(t *testing.T) {
	for _, s := range [][3]int{{1, 20001, 1}, {3, 9000, 1}, {1, 700, 129}, {2, 513, 40}} {
		m, x := newTestGPU(t), random(generator(27), ir.Float32, s[0], s[1], s[2])
		o := Sum{DType: ir.Float32, Outer: s[0], N: s[1], Inner: s[2], X: ir.Float32, Y: ir.Float32}
		y := m.alloc(s[0] * s[2] * 4)
		launches := o.Launches(y, m.put(x), m.alloc(o.Workspace()))
		if parts, _ := o.parts(); len(launches) != 1 || parts < 2 {
			t.Errorf("%v: %d launches of %d parts", s, len(launches), parts)
		}
		want := reference(t, ir.Sum{From: 1, To: 2}, nil, []array{x.as(ir.Float64)}, nil, newArray(ir.Float64, s[0], s[2]))
		for range 3 {
			m.run(launches)
			compareArrays(t, m.get(y, ir.Float32, want.shape), want, 1e-6)
		}
	}
}

// TestSplitK checks that no split has more blocks than there are counters, at which they meet.
func TestSplitK(t *testing.T) {
	for blocks := range 600 {
		for _, depth := range []int{0, 31, 511, 512, 4096, 100_001, 1 << 24} {
			for _, n := range []int{atOnce, largeAtOnce} {
				if parts := splitK(blocks, n, depth); parts < 1 || parts > 1 && (parts*blocks > maxMeetings || depth/parts < 128) {
					t.Errorf("%d blocks of depth %d are split into %d parts", blocks, depth, parts)
				}
			}
		}
	}
}
