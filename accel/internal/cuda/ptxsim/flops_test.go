package ptxsim

import "testing"

func TestFLOPs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opcode     string
		mods       []string
		lane, warp int
	}{
		{"add", []string{"rn", "f32"}, 1, 0},
		{"add", []string{"s32"}, 0, 0},
		{"fma", []string{"rn", "f64"}, 2, 0},
		{"fma", []string{"rn", "f16x2"}, 4, 0},
		{"mad", []string{"lo", "u32"}, 0, 0},
		{"ex2", []string{"approx", "f32"}, 1, 0},
		{"setp", []string{"lt", "f32"}, 0, 0},
		{"mov", []string{"f32"}, 0, 0},
		{"atom", []string{"global", "add", "f32"}, 1, 0},
		{"red", []string{"global", "add", "u32"}, 0, 0},
		{"atom", []string{"global", "exch", "b32"}, 0, 0},
		{"mma", []string{"sync", "aligned", "m16n8k16", "row", "col", "f32", "bf16", "bf16", "f32"}, 0, 2 * 16 * 8 * 16},
		{"mma", []string{"sync", "aligned", "m16n8k32", "row", "col", "s32", "s8", "s8", "s32"}, 0, 0},
		{"wmma", []string{"mma", "sync", "aligned", "row", "col", "m16n16k16", "f32", "f32"}, 0, 2 * 16 * 16 * 16},
		{"wmma", []string{"load", "a", "sync", "aligned", "row", "m16n16k16", "global", "f16"}, 0, 0},
		{"wgmma", []string{"mma_async", "sync", "aligned", "m64n256k16", "f32", "bf16", "bf16"}, 0, 2 * 64 * 256 * 16 / 4},
	} {
		if lane, warp := flopsOf(&statement{opcode: c.opcode, mods: c.mods}); lane != c.lane || warp != c.warp {
			t.Errorf("%s %v: %d and %d", c.opcode, c.mods, lane, warp)
		}
	}
}
