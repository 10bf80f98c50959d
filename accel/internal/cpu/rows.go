package cpu

import "math"

// rowFunctions are what norms, sums of columns and attention do to a row, or to
// some rows. All of a row's slices have the length of the first.
type rowFunctions struct {
	// squares is Σ (x+shift)².
	squares func(x []float32, shift float32) float32
	// normalise is y = (x+shift)·scale·w + b.
	normalise func(y, x, w, b []float32, shift, scale float32)
	// slopes is Σ dy·w and Σ dy·w·(x+shift).
	slopes func(x, dy, w []float32, shift float32) (sum, dot float32)
	// normGradient is dx = (dy·w - mean - (x+shift)·slope)·scale.
	normGradient func(dx, x, dy, w []float32, shift, slope, mean, scale float32)
	// normWeights is dw += dy·(x+shift)·scale and db += dy.
	normWeights func(dw, db, x, dy []float32, shift, scale float32)
	// addRows is d += the sum of so many rows of x, which begin pitch elements
	// from each other.
	addRows func(d, x []float32, rows, pitch int)

	// softmaxRows makes of scores s in place exp(s·factor - top), where top is
	// the largest s·factor of the row, or what it was before if that is larger,
	// or zero if it is -Inf, and writes top and the row's sum.
	softmaxRows func(v *vectors, p []float32, r scoreRows, factor float32, top, sum []float32)
	// softmaxGradientRows makes of scores s in place p = exp(s·factor -
	// logarithm) and of ds, the gradients of p, (ds - delta)·p·scale.
	softmaxGradientRows func(v *vectors, p, ds []float32, r scoreRows, factor, scale float32, logarithm, delta []float32)
}

// scoreRows are rows of a block of scores. Of the first one some elements are
// seen, of each later one step more, but none less than none nor more than
// width; the others become zero.
type scoreRows struct{ rows, width, pitch, seen, step int }

func (r scoreRows) visible(row int) int { return max(0, min(r.width, r.seen+row*r.step)) }

var genericRows = rowFunctions{
	squares:      squaresGeneric,
	normalise:    normaliseGeneric,
	slopes:       slopesGeneric,
	normGradient: normGradientGeneric,
	normWeights:  normWeightsGeneric,
	addRows:      addRowsGeneric,

	softmaxRows:         softmaxRowsComposed,
	softmaxGradientRows: softmaxGradientRowsComposed,
}

func squaresGeneric(x []float32, shift float32) float32 {
	var t [4]float32
	for i, v := range x {
		v += shift
		t[i%4] += float32(v * v)
	}
	return t[0] + t[1] + (t[2] + t[3])
}

func normaliseGeneric(y, x, w, b []float32, shift, scale float32) {
	x, w, b = x[:len(y)], w[:len(y)], b[:len(y)]
	for i := range y {
		y[i] = float32(float32((x[i]+shift)*scale)*w[i]) + b[i]
	}
}

func slopesGeneric(x, dy, w []float32, shift float32) (sum, dot float32) {
	dy, w = dy[:len(x)], w[:len(x)]
	var s, t [4]float32
	for i := range x {
		g := float32(dy[i] * w[i])
		s[i%4] += g
		t[i%4] += float32(g * (x[i] + shift))
	}
	return s[0] + s[1] + (s[2] + s[3]), t[0] + t[1] + (t[2] + t[3])
}

func normGradientGeneric(dx, x, dy, w []float32, shift, slope, mean, scale float32) {
	x, dy, w = x[:len(dx)], dy[:len(dx)], w[:len(dx)]
	for i := range dx {
		dx[i] = float32((float32(dy[i]*w[i]) - mean - float32((x[i]+shift)*slope)) * scale)
	}
}

func normWeightsGeneric(dw, db, x, dy []float32, shift, scale float32) {
	db, x, dy = db[:len(dw)], x[:len(dw)], dy[:len(dw)]
	for i := range dw {
		dw[i] += float32(dy[i] * float32((x[i]+shift)*scale))
		db[i] += dy[i]
	}
}

func addRowsGeneric(d, x []float32, rows, pitch int) {
	for r := range rows {
		for i, v := range x[r*pitch:][:len(d)] {
			d[i] += v
		}
	}
}

func softmaxRowsComposed(v *vectors, p []float32, r scoreRows, factor float32, top, sum []float32) {
	for i := range r.rows {
		row := p[i*r.pitch:][:r.width]
		seen := row[:r.visible(i)]
		high := max(top[i], factor*v.largest(seen))
		if math.IsInf(float64(high), -1) {
			high = 0 // no score but -Inf so far
		}
		sum[i] = v.expSum(seen, seen, factor, -high)
		top[i] = high
		clear(row[len(seen):])
	}
}

func softmaxGradientRowsComposed(v *vectors, p, ds []float32, r scoreRows, factor, scale float32, logarithm, delta []float32) {
	for i := range r.rows {
		a, b := p[i*r.pitch:][:r.width], ds[i*r.pitch:][:r.width]
		n := r.visible(i)
		v.expSum(a[:n], a[:n], factor, -logarithm[i])
		v.weigh(b[:n], b[:n], a[:n], -delta[i], scale)
		clear(a[n:])
		clear(b[n:])
	}
}
