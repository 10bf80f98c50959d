package cpu

import "unsafe"

// shiftTileGeneric is the tile of mr rows and nr columns, at most 8, in plain
// Go: for every processor, and the reference for the assembly.
func shiftTileGeneric(mr, nr, k int, a, b *float32, offsets *int, c *float32, ldc, add int) {
	panel, at := unsafe.Slice(a, mr*k), unsafe.Slice(offsets, k)
	out := unsafe.Slice(c, (mr-1)*ldc+nr)
	for i := range mr {
		var sum [8]float32
		s := sum[:nr]
		for p, o := range at {
			x := panel[p*mr+i]
			for j, v := range unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(b), o*4)), nr) {
				s[j] += x * v
			}
		}
		row := out[i*ldc:][:nr]
		if add != 0 {
			for j, v := range s {
				row[j] += v
			}
			continue
		}
		copy(row, s)
	}
}

// shiftDotsGeneric is dots for mr rows in plain Go.
func shiftDotsGeneric(mr, n int, a *float32, lda int, b *float32, offsets *int, c *float32, ldc int) {
	at := unsafe.Slice(offsets, 3)
	out := unsafe.Slice(c, (mr-1)*ldc+3)
	for i := range mr {
		x := unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(a), i*lda*4)), n)
		for j, o := range at {
			y := unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(b), o*4)), n)
			var s [4]float32
			for v := 0; v+4 <= len(x) && v+4 <= len(y); v += 4 {
				p, q := x[v:v+4:v+4], y[v:v+4:v+4]
				s[0] += p[0] * q[0]
				s[1] += p[1] * q[1]
				s[2] += p[2] * q[2]
				s[3] += p[3] * q[3]
			}
			out[i*ldc+j] += (s[0] + s[1]) + (s[2] + s[3])
		}
	}
}

// biasRowsGeneric is biasRows in plain Go.
func biasRowsGeneric(rows, width int, d *float32, dpitch int, a *float32, apitch int, bias, low float32) {
	for r := range rows {
		from := unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(a), r*apitch*4)), width)
		to := unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(d), r*dpitch*4)), width)
		for i, v := range from {
			to[i] = max(v+bias, low)
		}
	}
}
