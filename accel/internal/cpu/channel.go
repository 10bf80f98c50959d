package cpu

// channelKernel is the functions of batch normalization and pooling. They process at least
// one row of at least one element of a channel; the rows are pitch apart.
type channelKernel struct {
	// sum is Σ a in float64, so that the mean of equal numbers is the number; square is Σ (a-mean)².
	sum    func(rows, n int, a *float32, pitch int, sum *float64)
	square func(rows, n int, a *float32, pitch int, mean float32, sum *float32)

	// scale is d = max((a-mean)·scale + bias, low), NaN if a is NaN.
	scale func(rows, n int, d, a *float32, pitch int, mean, scale, bias, low float32)

	// slope is Σ dy and Σ dy·(a-mean).
	slope func(rows, n int, a, dy *float32, pitch int, mean float32, sums *float32)

	// slopeScale is d = (dy - level - (a-mean)·slope)·scale.
	slopeScale func(rows, n int, d, a, dy *float32, pitch int, mean, level, slope, scale float32)

	// pool is the maximum of each window of 2×2, NaN if the window contains one: n windows
	// per pair of rows, which are pitch apart; the results are contiguous in d. poolSlope
	// writes dy to the first element of a window that equals y, or else to the last one,
	// and zeros to the others.
	pool      func(rows, n int, d, a *float32, pitch int)
	poolSlope func(rows, n int, da, a *float32, pitch int, y, dy *float32)
}

// The functions in plain Go, for all CPUs; they are the reference for the assembly.
var genericChannels = channelKernel{
	sum: sumRowsGeneric, square: squareRowsGeneric, scale: scaleRowsGeneric, slope: slopeRowsGeneric, slopeScale: slopeScaleRowsGeneric,
	pool: poolRowsGeneric, poolSlope: poolSlopeRowsGeneric,
}

func sumRowsGeneric(rows, n int, a *float32, pitch int, sum *float64) {
	total := 0.0
	for r := range rows {
		for _, v := range behind(a, r*pitch, n) {
			total += float64(v)
		}
	}
	*sum = total
}

func squareRowsGeneric(rows, n int, a *float32, pitch int, mean float32, sum *float32) {
	squares := 0.0 // of thousands of elements, one after the other
	for r := range rows {
		for _, v := range behind(a, r*pitch, n) {
			squares += float64((v - mean) * (v - mean))
		}
	}
	*sum = float32(squares)
}

func scaleRowsGeneric(rows, n int, d, a *float32, pitch int, mean, scale, bias, low float32) {
	for r := range rows {
		out := behind(d, r*pitch, n)
		for i, v := range behind(a, r*pitch, n) {
			out[i] = max((v-mean)*scale+bias, low)
		}
	}
}

func slopeRowsGeneric(rows, n int, a, dy *float32, pitch int, mean float32, sums *float32) {
	sum, product := 0.0, 0.0
	for r := range rows {
		slopes := behind(dy, r*pitch, n)
		for i, v := range behind(a, r*pitch, n) {
			sum += float64(slopes[i])
			product += float64(slopes[i] * (v - mean))
		}
	}
	out := behind(sums, 0, 2)
	out[0], out[1] = float32(sum), float32(product)
}

func slopeScaleRowsGeneric(rows, n int, d, a, dy *float32, pitch int, mean, level, slope, scale float32) {
	for r := range rows {
		out, slopes := behind(d, r*pitch, n), behind(dy, r*pitch, n)
		for i, v := range behind(a, r*pitch, n) {
			out[i] = (slopes[i] - level - (v-mean)*slope) * scale
		}
	}
}

func poolRowsGeneric(rows, n int, d, a *float32, pitch int) {
	for r := range rows {
		top, bottom := behind(a, 2*r*pitch, 2*n), behind(a, (2*r+1)*pitch, 2*n)
		for i := range behind(d, r*n, n) {
			behind(d, r*n, n)[i] = max(top[2*i], top[2*i+1], bottom[2*i], bottom[2*i+1])
		}
	}
}

func poolSlopeRowsGeneric(rows, n int, da, a *float32, pitch int, y, dy *float32) {
	for r := range rows {
		top, bottom := behind(a, 2*r*pitch, 2*n), behind(a, (2*r+1)*pitch, 2*n)
		to, under := behind(da, 2*r*pitch, 2*n), behind(da, (2*r+1)*pitch, 2*n)
		clear(to)
		clear(under)
		largest := behind(y, r*n, n)
		for i, v := range behind(dy, r*n, n) {
			switch largest[i] {
			case top[2*i]:
				to[2*i] = v
			case top[2*i+1]:
				to[2*i+1] = v
			case bottom[2*i]:
				under[2*i] = v
			default: // also if it is NaN
				under[2*i+1] = v
			}
		}
	}
}
