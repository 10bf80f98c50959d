package cpu

import "unsafe"

// genericKernel is the tile in plain Go, for every processor. It is the
// reference that the assembly tiles are compared with.
var genericKernel = gemmKernel{name: "generic", mr: 4, nr: 4, tile: genericTile, spin: spinGeneric, spinFlops: 8 * 2}

func genericTile(k int, a, b, c *float32, ldc, add int) {
	pa, pb := unsafe.Slice(a, 4*k), unsafe.Slice(b, 4*k)
	out := unsafe.Slice(c, 3*ldc+4)
	for i := 0; i < 4; i += 2 {
		var s00, s01, s02, s03, s10, s11, s12, s13 float32
		for p := 0; p+4 <= len(pa) && p+4 <= len(pb); p += 4 {
			u, v := pa[p:p+4:p+4], pb[p:p+4:p+4]
			x, y := u[i&2], u[(i&2)+1]
			s00 += x * v[0]
			s01 += x * v[1]
			s02 += x * v[2]
			s03 += x * v[3]
			s10 += y * v[0]
			s11 += y * v[1]
			s12 += y * v[2]
			s13 += y * v[3]
		}
		r0, r1 := out[i*ldc:][:4], out[(i+1)*ldc:][:4]
		if add != 0 {
			s00 += r0[0]
			s01 += r0[1]
			s02 += r0[2]
			s03 += r0[3]
			s10 += r1[0]
			s11 += r1[1]
			s12 += r1[2]
			s13 += r1[3]
		}
		r0[0], r0[1], r0[2], r0[3] = s00, s01, s02, s03
		r1[0], r1[1], r1[2], r1[3] = s10, s11, s12, s13
	}
}

// aligned is n elements that start on a cache line.
func aligned(n int) []float32 {
	s := newStorage(max(n, 1) * 4)
	return unsafe.Slice((*float32)(s.base), max(n, 1))
}
