package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/ir"
)

// wideMoments are mean, which is 0 unless centred, and 1/√(variance + ε).
func wideMoments(x []float64, centred bool, epsilon float64) (mean, scale float64) {
	var total [1]float64
	if centred {
		sumLine(total[:], x)
		mean = total[0] / float64(len(x))
	}
	squares := 0.0
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return mean, 1 / math.Sqrt(squares/float64(len(x))+epsilon)
}

// normKind is whether an op of LayerNorm's or RMSNorm's family takes off the
// mean, and its epsilon.
func normKind(op ir.Op) (centred bool, epsilon float64) {
	switch op := op.(type) {
	case ir.LayerNorm:
		return true, op.Epsilon
	case ir.LayerNormInputGradient:
		return true, op.Epsilon
	case ir.LayerNormWeightGradient:
		return true, op.Epsilon
	case ir.RMSNorm:
		return false, op.Epsilon
	case ir.RMSNormInputGradient:
		return false, op.Epsilon
	default:
		return false, op.(ir.RMSNormWeightGradient).Epsilon
	}
}

// rowsOf are the number of rows of a shape and the length of one.
func rowsOf(shape []int) (rows, n int) {
	last := len(shape) - 1
	return ir.Len(shape[:last]), shape[last]
}

// wideNorm is LayerNorm or RMSNorm, one chunk a row.
func wideNorm(s ir.Step) *wideWhole {
	rows, n := rowsOf(s.In[0].Shape)
	centred, epsilon := normKind(s.Op)
	return &wideWhole{step: s, chunks: rows, part: func(k *wideWhole, i int) {
		x, y := plane(k.in[0], i, n), plane(k.out, i, n)
		mean, scale := wideMoments(x, centred, epsilon)
		for j, v := range x {
			y[j] = (v - mean) * scale * k.in[1][j]
			if centred {
				y[j] += k.in[2][j]
			}
		}
	}}
}

// wideNormInput is the gradient of x from x, dy and w.
func wideNormInput(s ir.Step) *wideWhole {
	rows, n := rowsOf(s.In[0].Shape)
	centred, epsilon := normKind(s.Op)
	return &wideWhole{step: s, chunks: rows, part: func(k *wideWhole, i int) {
		x, dy, dx := plane(k.in[0], i, n), plane(k.in[1], i, n), plane(k.out, i, n)
		mean, scale := wideMoments(x, centred, epsilon)
		level, slope := 0.0, 0.0
		for j, v := range x {
			g := dy[j] * k.in[2][j]
			level += g / float64(n)
			slope += g * (v - mean) * scale / float64(n)
		}
		if !centred {
			level = 0
		}
		for j, v := range x {
			dx[j] = (dy[j]*k.in[2][j] - level - (v-mean)*scale*slope) * scale
		}
	}}
}

// wideNormWeight is Σ dy·x̂ and, for LayerNorm, Σ dy over the rows, in one chunk.
func wideNormWeight(s ir.Step) *wideWhole {
	rows, n := rowsOf(s.In[0].Shape)
	centred, epsilon := normKind(s.Op)
	return &wideWhole{step: s, chunks: 1, part: func(k *wideWhole, _ int) {
		clear(k.out)
		for i := range rows {
			x, dy := plane(k.in[0], i, n), plane(k.in[1], i, n)
			mean, scale := wideMoments(x, centred, epsilon)
			for j, v := range x {
				k.out[j] += dy[j] * (v - mean) * scale
				if centred {
					k.out[n+j] += dy[j]
				}
			}
		}
	}}
}

// wideChannels is x [N, C, S] of batch normalisation.
type wideChannels struct{ n, c, s int }

func newWideChannels(shape []int) wideChannels {
	return wideChannels{shape[0], shape[1], ir.Len(shape[2:])}
}

// each calls f with the place of every element of a channel.
func (g wideChannels) each(c int, f func(at int)) {
	for i := range g.n {
		for j := range g.s {
			f((i*g.c+c)*g.s + j)
		}
	}
}

// wideBatchStatistics is mean and variance, one chunk a channel.
func wideBatchStatistics(s ir.Step) *wideWhole {
	g := newWideChannels(s.In[0].Shape)
	return &wideWhole{step: s, chunks: g.c, part: func(k *wideWhole, c int) {
		count, mean, variance := float64(g.n*g.s), 0.0, 0.0
		g.each(c, func(at int) { mean += k.in[0][at] / count })
		g.each(c, func(at int) { variance += (k.in[0][at] - mean) * (k.in[0][at] - mean) / count })
		k.out[c], k.out[g.c+c] = mean, variance
	}}
}

// wideBatchNorm is (x - mean)/√(variance + ε)·w + b, one chunk a channel.
func wideBatchNorm(s ir.Step) *wideWhole {
	g, epsilon := newWideChannels(s.In[0].Shape), s.Op.(ir.BatchNorm).Epsilon
	return &wideWhole{step: s, chunks: g.c, part: func(k *wideWhole, c int) {
		scale := 1 / math.Sqrt(k.in[1][g.c+c]+epsilon)
		g.each(c, func(at int) { k.out[at] = (k.in[0][at]-k.in[1][c])*scale*k.in[2][c] + k.in[3][c] })
	}}
}

// wideBatchNormSums is Σ dy and Σ dy·x̂, one chunk a channel.
func wideBatchNormSums(s ir.Step) *wideWhole {
	g, epsilon := newWideChannels(s.In[0].Shape), s.Op.(ir.BatchNormSums).Epsilon
	return &wideWhole{step: s, chunks: g.c, part: func(k *wideWhole, c int) {
		scale := 1 / math.Sqrt(k.in[2][g.c+c]+epsilon)
		sum, product := 0.0, 0.0
		g.each(c, func(at int) {
			sum += k.in[1][at]
			product += k.in[1][at] * (k.in[0][at] - k.in[2][c]) * scale
		})
		k.out[c], k.out[g.c+c] = sum, product
	}}
}

// wideBatchNormInput is the gradient of x from x, dy, statistics, w and sums.
func wideBatchNormInput(s ir.Step) *wideWhole {
	g, op := newWideChannels(s.In[0].Shape), s.Op.(ir.BatchNormInputGradient)
	return &wideWhole{step: s, chunks: g.c, part: func(k *wideWhole, c int) {
		count, mean := float64(g.n*g.s), k.in[2][c]
		scale := 1 / math.Sqrt(k.in[2][g.c+c]+op.Epsilon)
		level, slope := k.in[4][c]/count, k.in[4][g.c+c]/count
		if !op.Training {
			level, slope = 0, 0
		}
		g.each(c, func(at int) {
			k.out[at] = (k.in[1][at] - level - (k.in[0][at]-mean)*scale*slope) * scale * k.in[3][c]
		})
	}}
}
