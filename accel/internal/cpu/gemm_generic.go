package cpu

import "unsafe"

// genericKernel is the kernel in plain Go, for all CPUs. It is the reference for the
// assembly.
var genericKernel = gemmKernel{name: "generic", mr: 4, nr: 4, lanes: 4, packWindows: packWindowsGeneric, spin: spinGeneric, spinFlops: 12 * 2, tiles: [][]tile{
	{genericTile(1)}, {genericTile(2)}, {genericTile(3)}, {genericTile(4)},
}}

// repeated returns a tile that computes several below each other with a function for one. It prefetches nothing.
func repeated(one func(k int, a *float32, row, step int, b *float32, next int, c *float32, ldc, mode int, bias *float32)) tile {
	return func(k int, a *float32, row, step int, b *float32, next int, c *float32, ldc, mode int, bias, _ *float32, _, count, nextA, nextC, _ int) {
		for q := range count {
			a, c := (*float32)(unsafe.Add(unsafe.Pointer(a), q*nextA*4)), (*float32)(unsafe.Add(unsafe.Pointer(c), q*nextC*4))
			one(k, a, row, step, b, next, c, ldc, mode, bias)
		}
	}
}

// genericTile returns a tile of some rows and four columns.
func genericTile(rows int) tile {
	return repeated(func(k int, a *float32, row, step int, b *float32, next int, c *float32, ldc, mode int, bias *float32) {
		var pa, pb []float32
		if k > 0 {
			pa, pb = unsafe.Slice(a, (rows-1)*row+(k-1)*step+1), unsafe.Slice(b, (k-1)*next+4)
		}
		out := unsafe.Slice(c, (rows-1)*ldc+4)
		for i := range rows {
			var s0, s1, s2, s3 float32
			for p, at := 0, i*row; p+4 <= len(pb) && at < len(pa); p, at = p+next, at+step {
				v, x := pb[p:p+4:p+4], pa[at]
				s0 += x * v[0]
				s1 += x * v[1]
				s2 += x * v[2]
				s3 += x * v[3]
			}
			row := out[i*ldc:][:4]
			if mode&addResult != 0 {
				s0 += row[0]
				s1 += row[1]
				s2 += row[2]
				s3 += row[3]
			}
			if bias != nil {
				v := unsafe.Slice(bias, 4)
				s0 += v[0]
				s1 += v[1]
				s2 += v[2]
				s3 += v[3]
			}
			if mode&clampZero != 0 {
				s0, s1, s2, s3 = max(s0, 0), max(s1, 0), max(s2, 0), max(s3, 0)
			}
			row[0], row[1], row[2], row[3] = s0, s1, s2, s3
		}
	})
}

// aligned allocates n elements that start on a cache line.
func aligned(n int) []float32 {
	s := newStorage(max(n, 1) * 4)
	return unsafe.Slice((*float32)(s.base), max(n, 1))
}
