package cpu

import "math"

// rowFunctions are the functions of norms, column sums, attention and recurrent layers on one or several
// rows. All slices of a row have the length of the first.
type rowFunctions struct {
	// squares is Σ (x+shift)².
	squares func(x []float32, shift float32) float32
	// normalize computes y = (x+shift)·scale·w + b.
	normalize func(y, x, w, b []float32, shift, scale float32)
	// slopes is Σ dy·w and Σ dy·w·(x+shift).
	slopes func(x, dy, w []float32, shift float32) (sum, dot float32)
	// dots is Σ x·w for four rows of w, which are pitch elements apart.
	dots func(x, w []float32, pitch int) [dotRows]float32
	// addProducts is c += Σ x·w for four rows of w, which are pitch elements apart.
	addProducts func(c []float32, x *[dotRows]float32, w []float32, pitch int)
	// normGradient is dx = (dy·w - mean - (x+shift)·slope)·scale.
	normGradient func(dx, x, dy, w []float32, shift, slope, mean, scale float32)
	// normWeights is dw += dy·(x+shift)·scale and db += dy.
	normWeights func(dw, db, x, dy []float32, shift, scale float32)
	// addRows is d += the sum of a number of rows of x, which are pitch elements apart.
	addRows func(d []float64, x []float32, rows, pitch int)

	// softmaxRows replaces scores s by exp(s·factor - top), where top is the largest
	// s·factor of the row, or its previous value if that is larger, or zero if it is -Inf.
	// It writes top and the row's sum.
	softmaxRows func(v *vectors, p []float32, r scoreRows, factor float32, top, sum []float32)
	// softmaxGradientRows replaces scores s by p = exp(s·factor - logarithm), and ds, the
	// gradients of p, by (ds - delta)·p·scale.
	softmaxGradientRows func(v *vectors, p, ds []float32, r scoreRows, factor, scale float32, logarithm, delta []float32)

	// lstm computes a step of an LSTM for one sequence: it adds x to four rows of gates and activates them, and writes the next
	// cell c = f·before + i·g and the next state o·tanh(c). The gates are i, f, g and o, one behind the other.
	lstm func(v *vectors, gates, x, before, cell, next []float32)
	// lstmGradient computes the slopes of the gates before they were activated from dh and dc, the gradients of the next state and
	// cell. It replaces dc by that of the cell before, and dh by zeros.
	lstmGradient func(v *vectors, slopes, gates, before, cell, dh, dc []float32)
}

// scoreRows are rows of a block of scores. In the first row, the first seen elements are
// visible, in each later row step more, limited to 0..width. The others become zero.
type scoreRows struct{ rows, width, pitch, seen, step int }

func (r scoreRows) visible(row int) int { return max(0, min(r.width, r.seen+row*r.step)) }

var genericRows = rowFunctions{
	squares:      squaresGeneric,
	normalize:    normalizeGeneric,
	slopes:       slopesGeneric,
	dots:         dotsGeneric,
	addProducts:  addProductsGeneric,
	normGradient: normGradientGeneric,
	normWeights:  normWeightsGeneric,
	addRows:      addRowsGeneric,

	softmaxRows:         softmaxRowsComposed,
	softmaxGradientRows: softmaxGradientRowsComposed,

	lstm:         lstmComposed,
	lstmGradient: lstmGradientComposed,
}

func squaresGeneric(x []float32, shift float32) float32 {
	var t [4]float32
	for i, v := range x {
		v += shift
		t[i%4] += float32(v * v)
	}
	return t[0] + t[1] + (t[2] + t[3])
}

func normalizeGeneric(y, x, w, b []float32, shift, scale float32) {
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

// dotRows is the number of rows of dots and addProducts.
const dotRows = 4

func dotsGeneric(x, w []float32, pitch int) (sums [dotRows]float32) {
	for r := range sums {
		row := w[r*pitch:][:len(x)]
		var s [4]float32
		for i, v := range x {
			s[i%4] += float32(v * row[i])
		}
		sums[r] = s[0] + s[1] + (s[2] + s[3])
	}
	return sums
}

func addProductsGeneric(c []float32, x *[dotRows]float32, w []float32, pitch int) {
	a, b, e, f := w[:len(c)], w[pitch:][:len(c)], w[2*pitch:][:len(c)], w[3*pitch:][:len(c)]
	for j, v := range c {
		v += float32(x[0] * a[j])
		v += float32(x[1] * b[j])
		v += float32(x[2] * e[j])
		c[j] = v + float32(x[3]*f[j])
	}
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

func addRowsGeneric(d []float64, x []float32, rows, pitch int) {
	for r := range rows {
		for i, v := range x[r*pitch:][:len(d)] {
			d[i] += float64(v)
		}
	}
}

func softmaxRowsComposed(v *vectors, p []float32, r scoreRows, factor float32, top, sum []float32) {
	for i := range r.rows {
		row := p[i*r.pitch:][:r.width]
		seen := row[:r.visible(i)]
		high := max(top[i], factor*v.largest(seen))
		if math.IsInf(float64(high), -1) {
			high = 0 // all scores so far are -Inf
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
