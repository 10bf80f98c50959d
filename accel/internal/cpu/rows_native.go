//go:build (amd64 || arm64) && !purego

package cpu

// The functions here process whole steps or vectors of a row in assembly, and the remaining elements in plain Go.

func rowNormalize(f func(n int, y, x, w, b *float32, shift, scale float32)) func(y, x, w, b []float32, shift, scale float32) {
	return func(y, x, w, b []float32, shift, scale float32) {
		n := wholeSteps(len(y))
		if n > 0 {
			f(n, &y[0], &x[:n][0], &w[:n][0], &b[:n][0], shift, scale)
		}
		if n < len(y) {
			normalizeGeneric(y[n:], x[n:], w[n:], b[n:], shift, scale)
		}
	}
}

func rowSlopes(f func(n int, x, dy, w *float32, shift float32) (sum, dot float32)) func(x, dy, w []float32, shift float32) (sum, dot float32) {
	return func(x, dy, w []float32, shift float32) (sum, dot float32) {
		n := wholeSteps(len(x))
		if n < len(x) {
			sum, dot = slopesGeneric(x[n:], dy[n:], w[n:], shift)
		}
		if n > 0 {
			s, d := f(n, &x[0], &dy[:n][0], &w[:n][0], shift)
			sum, dot = sum+s, dot+d
		}
		return sum, dot
	}
}

func rowNormGradient(f func(n int, dx, x, dy, w *float32, shift, slope, mean, scale float32)) func(dx, x, dy, w []float32, shift, slope, mean, scale float32) {
	return func(dx, x, dy, w []float32, shift, slope, mean, scale float32) {
		n := wholeSteps(len(dx))
		if n > 0 {
			f(n, &dx[0], &x[:n][0], &dy[:n][0], &w[:n][0], shift, slope, mean, scale)
		}
		if n < len(dx) {
			normGradientGeneric(dx[n:], x[n:], dy[n:], w[n:], shift, slope, mean, scale)
		}
	}
}

func rowNormWeights(f func(n int, dw, db, x, dy *float32, shift, scale float32)) func(dw, db, x, dy []float32, shift, scale float32) {
	return func(dw, db, x, dy []float32, shift, scale float32) {
		n := wholeSteps(len(dw))
		if n > 0 {
			f(n, &dw[0], &db[:n][0], &x[:n][0], &dy[:n][0], shift, scale)
		}
		if n < len(dw) {
			normWeightsGeneric(dw[n:], db[n:], x[n:], dy[n:], shift, scale)
		}
	}
}

func rowSquares(lanes int, f func(n int, x *float32, shift float32) float32) func(x []float32, shift float32) float32 {
	return func(x []float32, shift float32) float32 {
		n := len(x) / lanes * lanes
		rest := squaresGeneric(x[n:], shift)
		if n == 0 {
			return rest
		}
		return f(n, &x[0], shift) + rest
	}
}

func rowDots(lanes int, f func(n, pitch int, x, w, sums *float32)) func(x, w []float32, pitch int) [dotRows]float32 {
	return func(x, w []float32, pitch int) [dotRows]float32 {
		n := len(x) / lanes * lanes
		if n == 0 {
			return dotsGeneric(x, w, pitch)
		}
		_ = w[(dotRows-1)*pitch+len(x)-1]
		var sums [dotRows]float32
		f(n, pitch, &x[0], &w[0], &sums[0])
		if n < len(x) {
			for i, rest := range dotsGeneric(x[n:], w[n:], pitch) {
				sums[i] += rest
			}
		}
		return sums
	}
}

func rowProducts(lanes int, f func(n, pitch int, x, w, c *float32)) func(c []float32, x *[dotRows]float32, w []float32, pitch int) {
	return func(c []float32, x *[dotRows]float32, w []float32, pitch int) {
		n := len(c) / lanes * lanes
		if n > 0 {
			_ = w[(dotRows-1)*pitch+len(c)-1]
			f(n, pitch, &x[0], &w[0], &c[0])
		}
		if n < len(c) {
			addProductsGeneric(c[n:], x, w[n:], pitch)
		}
	}
}
