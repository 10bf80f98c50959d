//go:build (amd64 || arm64) && !purego

package cpu

// The functions here process whole vectors in assembly, and the remaining elements in plain Go.

func byteQuantizer(lanes int, f func(n int, q *uint8, x *float32, factor, zero float32) float32) func(q []uint8, x []float32, factor, zero float32) float32 {
	return func(q []uint8, x []float32, factor, zero float32) (sum float32) {
		n := len(q) / lanes * lanes
		if n > 0 {
			sum = f(n, &q[0], &x[:len(q)][0], factor, zero)
		}
		return sum + quantizeGeneric(q[n:], x[n:len(q)], factor, zero)
	}
}

// scaledRows processes whole vectors, and leaves the remaining columns to plain Go.
func scaledRows[T uint8 | float32](lanes int,
	f func(rows, n int, q *T, pitch int, sums *int32, sumsPitch int, offset *int32, factor, bias *float32, low float32),
	rest func(rows, n int, q []T, pitch int, sums []int32, sumsPitch int, offset []int32, factor, bias []float32, low float32),
) func(rows, n int, q []T, pitch int, sums []int32, sumsPitch int, offset []int32, factor, bias []float32, low float32) {
	return func(rows, n int, q []T, pitch int, sums []int32, sumsPitch int, offset []int32, factor, bias []float32, low float32) {
		if rows == 0 || n == 0 {
			return
		}
		_, _ = q[(rows-1)*pitch+n-1], sums[(rows-1)*sumsPitch+n-1]
		whole := n / lanes * lanes
		if whole > 0 {
			f(rows, whole, &q[0], pitch, &sums[0], sumsPitch, &offset[:n][0], &factor[:n][0], &bias[:n][0], low)
		}
		if whole < n {
			rest(rows, n-whole, q[whole:], pitch, sums[whole:], sumsPitch, offset[whole:], factor[whole:], bias[whole:], low)
		}
	}
}

func byteDot(lanes int, f func(n int, x *float32, w *int8) float32) func(x []float32, w []int8) float32 {
	return func(x []float32, w []int8) (sum float32) {
		n := len(x) / lanes * lanes
		if n > 0 {
			sum = f(n, &x[0], &w[:n][0])
		}
		return sum + dotBytesGeneric(x[n:], w[n:])
	}
}

func byteWidener(lanes int, f func(n int, y *float32, w *int8, step float32)) func(y []float32, w []int8, step float32) {
	return func(y []float32, w []int8, step float32) {
		n := len(y) / lanes * lanes
		if n > 0 {
			f(n, &y[0], &w[:n][0], step)
		}
		widenBytesGeneric(y[n:], w[n:], step)
	}
}
