package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/ir"
)

// float64Moments returns the mean, which is 0 unless centered, and 1/√(variance + ε).
func float64Moments(x []float64, centered bool, epsilon float64) (mean, scale float64) {
	var total [1]float64
	if centered {
		meanLine(total[:], x)
		mean = total[0]
	}
	squares := 0.0
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return mean, 1 / math.Sqrt(squares/float64(len(x))+epsilon)
}

// normKind returns the epsilon of an op of the LayerNorm or RMSNorm family, and whether it
// subtracts the mean.
func normKind(op ir.Op) (centered bool, epsilon float64) {
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

// rowsOf returns the number of rows of a shape and the length of a row.
func rowsOf(shape []int) (rows, n int) {
	last := len(shape) - 1
	return ir.Len(shape[:last]), shape[last]
}

// float64Norm computes LayerNorm or RMSNorm, one row per chunk.
func float64Norm(s ir.Step) *float64Op {
	rows, n := rowsOf(s.In[0].Shape)
	centered, epsilon := normKind(s.Op)
	return &float64Op{step: s, chunks: rows, part: func(k *float64Op, i int) {
		x, y := plane(k.in[0], i, n), plane(k.out, i, n)
		mean, scale := float64Moments(x, centered, epsilon)
		for j, v := range x {
			y[j] = (v - mean) * scale * k.in[1][j]
			if centered {
				y[j] += k.in[2][j]
			}
		}
	}}
}

// float64NormInput computes the gradient of x from x, dy and w.
func float64NormInput(s ir.Step) *float64Op {
	rows, n := rowsOf(s.In[0].Shape)
	centered, epsilon := normKind(s.Op)
	return &float64Op{step: s, chunks: rows, part: func(k *float64Op, i int) {
		x, dy, dx := plane(k.in[0], i, n), plane(k.in[1], i, n), plane(k.out, i, n)
		mean, scale := float64Moments(x, centered, epsilon)
		level, slope := 0.0, 0.0
		for j, v := range x {
			g := dy[j] * k.in[2][j]
			level += g / float64(n)
			slope += g * (v - mean) * scale / float64(n)
		}
		if !centered {
			level = 0
		}
		for j, v := range x {
			dx[j] = (dy[j]*k.in[2][j] - level - (v-mean)*scale*slope) * scale
		}
	}}
}

// float64NormWeight computes Σ dy·x̂ and, for LayerNorm, Σ dy over the rows, in one chunk.
func float64NormWeight(s ir.Step) *float64Op {
	rows, n := rowsOf(s.In[0].Shape)
	centered, epsilon := normKind(s.Op)
	return &float64Op{step: s, chunks: 1, part: func(k *float64Op, _ int) {
		clear(k.out)
		for i := range rows {
			x, dy := plane(k.in[0], i, n), plane(k.in[1], i, n)
			mean, scale := float64Moments(x, centered, epsilon)
			for j, v := range x {
				k.out[j] += dy[j] * (v - mean) * scale
				if centered {
					k.out[n+j] += dy[j]
				}
			}
		}
	}}
}

// float64Channels is x [N, C, S] of batch normalization.
type float64Channels struct{ n, c, s int }

func newFloat64Channels(shape []int) float64Channels {
	return float64Channels{shape[0], shape[1], ir.Len(shape[2:])}
}

// each calls f with the offset of every element of a channel.
func (g float64Channels) each(c int, f func(at int)) {
	for i := range g.n {
		for j := range g.s {
			f((i*g.c+c)*g.s + j)
		}
	}
}

// float64BatchStatistics computes mean and variance, one channel per chunk.
func float64BatchStatistics(s ir.Step) *float64Op {
	g := newFloat64Channels(s.In[0].Shape)
	return &float64Op{step: s, chunks: g.c, part: func(k *float64Op, c int) {
		var sum compensated
		g.each(c, func(at int) { sum.add(k.in[0][at]) })
		count, mean, variance := float64(g.n*g.s), sum.mean(g.n*g.s), 0.0
		g.each(c, func(at int) { variance += (k.in[0][at] - mean) * (k.in[0][at] - mean) / count })
		k.out[c], k.out[g.c+c] = mean, variance
	}}
}

// float64BatchNorm computes (x - mean)/√(variance + ε)·w + b, one channel per chunk.
func float64BatchNorm(s ir.Step) *float64Op {
	g, epsilon := newFloat64Channels(s.In[0].Shape), s.Op.(ir.BatchNorm).Epsilon
	return &float64Op{step: s, chunks: g.c, part: func(k *float64Op, c int) {
		scale := 1 / math.Sqrt(k.in[1][g.c+c]+epsilon)
		g.each(c, func(at int) { k.out[at] = (k.in[0][at]-k.in[1][c])*scale*k.in[2][c] + k.in[3][c] })
	}}
}

// float64BatchNormSums computes Σ dy and Σ dy·x̂, one channel per chunk.
func float64BatchNormSums(s ir.Step) *float64Op {
	g, epsilon := newFloat64Channels(s.In[0].Shape), s.Op.(ir.BatchNormSums).Epsilon
	return &float64Op{step: s, chunks: g.c, part: func(k *float64Op, c int) {
		scale := 1 / math.Sqrt(k.in[2][g.c+c]+epsilon)
		sum, product := 0.0, 0.0
		g.each(c, func(at int) {
			sum += k.in[1][at]
			product += k.in[1][at] * (k.in[0][at] - k.in[2][c]) * scale
		})
		k.out[c], k.out[g.c+c] = sum, product
	}}
}

// float64BatchNormInput computes the gradient of x from x, dy, statistics, w and sums.
func float64BatchNormInput(s ir.Step) *float64Op {
	g, op := newFloat64Channels(s.In[0].Shape), s.Op.(ir.BatchNormInputGradient)
	return &float64Op{step: s, chunks: g.c, part: func(k *float64Op, c int) {
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
