package cpu

import (
	"math"
	"unsafe"
)

// genericBytes multiplies bytes in plain Go, for all CPUs. It is the reference for the
// assembly.
var genericBytes = &byteKernel{
	name: "generic", set: "generic", mr: 4, lanes: 4, group: 4,
	tiles: [][]byteTile{
		{byteTileGeneric(1, 4), byteTileGeneric(1, 8)},
		{byteTileGeneric(2, 4), byteTileGeneric(2, 8)},
		{byteTileGeneric(3, 4), byteTileGeneric(3, 8)},
		{byteTileGeneric(4, 4), byteTileGeneric(4, 8)},
	},
	byteVectors: byteVectors{
		quantize:   quantizeGeneric,
		requantize: requantizeGeneric,
		dequantize: dequantizeGeneric,
		tapSums:    tapSumsGeneric,
		largest:    largestTapGeneric,
		gather:     gatherRunsGeneric,
		dot:        dotBytesGeneric,
		widen:      widenBytesGeneric,
	},
}

// byteTileGeneric returns a tile of some rows and columns.
func byteTileGeneric(rows, columns int) byteTile {
	return func(k int, a *uint8, row int, b *int8, c *int32, ldc int) {
		out := unsafe.Slice(c, (rows-1)*ldc+columns)
		if k == 0 {
			for i := range rows {
				clear(out[i*ldc:][:columns])
			}
			return
		}
		pa, pb := unsafe.Slice(a, (rows-1)*row+4*k), unsafe.Slice(b, 4*k*columns)
		for i := range rows {
			line := pa[i*row:][:4*k]
			for j := range columns {
				var s0, s1, s2, s3 int32
				for p, at := 0, 4*j; p+4 <= len(line) && at+4 <= len(pb); p, at = p+4, at+4*columns {
					x, w := line[p:p+4:p+4], pb[at:at+4:at+4]
					s0 += int32(x[0]) * int32(w[0])
					s1 += int32(x[1]) * int32(w[1])
					s2 += int32(x[2]) * int32(w[2])
					s3 += int32(x[3]) * int32(w[3])
				}
				out[i*ldc+j] = s0 + s1 + s2 + s3
			}
		}
	}
}

func quantizeGeneric(q []uint8, x []float32, factor, zero float32) (sum float32) {
	x = x[:len(q)]
	for i, v := range x {
		sum += v - v
		q[i] = clampByte(float32(v*factor)+zero, 0)
	}
	return sum
}

// clampByte rounds to the nearest integer from low to 255, ties to even.
func clampByte(v, low float32) uint8 {
	return uint8(math.RoundToEven(float64(min(max(v, low), 255))))
}

func scaled(sum, offset int32, factor, bias float32) float32 {
	return float32(float32(sum+offset)*factor) + bias
}

func requantizeGeneric(rows, n int, q []uint8, pitch int, sums []int32, sumsPitch int, offset []int32, factor, bias []float32, low float32) {
	for r := range rows {
		out, row := q[r*pitch:][:n], sums[r*sumsPitch:][:n]
		for i := range out {
			out[i] = clampByte(scaled(row[i], offset[i], factor[i], bias[i]), low)
		}
	}
}

func dequantizeGeneric(rows, n int, y []float32, pitch int, sums []int32, sumsPitch int, offset []int32, factor, bias []float32, low float32) {
	for r := range rows {
		out, row := y[r*pitch:][:n], sums[r*sumsPitch:][:n]
		for i := range out {
			out[i] = max(scaled(row[i], offset[i], factor[i], bias[i]), low)
		}
	}
}

func tapSumsGeneric(sums []int32, x []uint8, offsets []int, w []int32, pitch int) {
	clear(sums)
	for t, at := range offsets {
		pixel, weight := x[at:][:len(sums)], w[t*pitch:][:len(sums)]
		for c, v := range pixel {
			sums[c] += int32(v) * weight[c]
		}
	}
}

func largestTapGeneric(d, x []uint8, offsets []int) {
	clear(d)
	for _, at := range offsets {
		for c, v := range x[at:][:len(d)] {
			d[c] = max(d[c], v)
		}
	}
}

func gatherRunsGeneric(count, n int, dst, x []uint8, offsets []int, step int) {
	to := 0
	for i := range count {
		for _, at := range offsets {
			copy(dst[to:][:n], x[at+i*step:])
			to += n
		}
	}
}

func dotBytesGeneric(x []float32, w []int8) float32 {
	w = w[:len(x)]
	var t [4]float32
	for i, v := range x {
		t[i%4] += float32(v * float32(w[i]))
	}
	return t[0] + t[1] + (t[2] + t[3])
}

func widenBytesGeneric(y []float32, w []int8, step float32) {
	w = w[:len(y)]
	for i := range y {
		y[i] = float32(w[i]) * step
	}
}
