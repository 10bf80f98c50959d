//go:build (amd64 || arm64) && !purego

package cpu

// The assembly of elementwise functions processes a multiple of vectorStep elements. The functions here run it once more for the
// remaining ones, on copies, so that an element's result does not depend on its place. Nothing of that remains where vectorStep is 1.

// wholeSteps returns how many of n elements the assembly processes.
func wholeSteps(n int) int { return n &^ (vectorStep - 1) }

// remainder is the elements after the last whole step.
type remainder [vectorStep]float32

func vector1(f func(n int, d, a *float32)) func(d, a []float32) {
	return func(d, a []float32) {
		n := wholeSteps(len(d))
		if n > 0 {
			f(n, &d[0], &a[:n][0])
		}
		if n < len(d) {
			var x remainder
			copy(x[:], a[n:len(d)])
			f(vectorStep, &x[0], &x[0])
			copy(d[n:], x[:])
		}
	}
}

func vector2(f func(n int, d, a, b *float32)) func(d, a, b []float32) {
	return func(d, a, b []float32) {
		n := wholeSteps(len(d))
		if n > 0 {
			f(n, &d[0], &a[:n][0], &b[:n][0])
		}
		if n < len(d) {
			var x, y remainder
			copy(x[:], a[n:len(d)])
			copy(y[:], b[n:len(d)])
			f(vectorStep, &x[0], &x[0], &y[0])
			copy(d[n:], x[:])
		}
	}
}

func vectorScalar(f func(n int, d, a *float32, s float32)) func(d, a []float32, s float32) {
	return func(d, a []float32, s float32) {
		n := wholeSteps(len(d))
		if n > 0 {
			f(n, &d[0], &a[:n][0], s)
		}
		if n < len(d) {
			var x remainder
			copy(x[:], a[n:len(d)])
			f(vectorStep, &x[0], &x[0], s)
			copy(d[n:], x[:])
		}
	}
}

func vectorWeigh(f func(n int, d, a, b *float32, s, t float32)) func(d, a, b []float32, s, t float32) {
	return func(d, a, b []float32, s, t float32) {
		n := wholeSteps(len(d))
		if n > 0 {
			f(n, &d[0], &a[:n][0], &b[:n][0], s, t)
		}
		if n < len(d) {
			var x, y remainder
			copy(x[:], a[n:len(d)])
			copy(y[:], b[n:len(d)])
			f(vectorStep, &x[0], &x[0], &y[0], s, t)
			copy(d[n:], x[:])
		}
	}
}

func fold2(f func(n int, d, a, b, s *float32)) func(d, a, b, c []float32, s *foldScalars) {
	return func(d, a, b, _ []float32, s *foldScalars) {
		n := wholeSteps(len(d))
		if n > 0 {
			f(n, &d[0], &a[:n][0], &b[:n][0], &s[0])
		}
		if n < len(d) {
			var x, y remainder
			copy(x[:], a[n:len(d)])
			copy(y[:], b[n:len(d)])
			f(vectorStep, &x[0], &x[0], &y[0], &s[0])
			copy(d[n:], x[:])
		}
	}
}

func fold3(f func(n int, d, a, b, c, s *float32)) func(d, a, b, c []float32, s *foldScalars) {
	return func(d, a, b, c []float32, s *foldScalars) {
		n := wholeSteps(len(d))
		if n > 0 {
			f(n, &d[0], &a[:n][0], &b[:n][0], &c[:n][0], &s[0])
		}
		if n < len(d) {
			var x, y, z remainder
			copy(x[:], a[n:len(d)])
			copy(y[:], b[n:len(d)])
			copy(z[:], c[n:len(d)])
			f(vectorStep, &x[0], &x[0], &y[0], &z[0], &s[0])
			copy(d[n:], x[:])
		}
	}
}

func vectorExpSum(f func(n int, d, a *float32, scale, shift float32) float32) func(d, a []float32, scale, shift float32) float32 {
	return func(d, a []float32, scale, shift float32) (sum float32) {
		n := wholeSteps(len(d))
		if n > 0 {
			sum = f(n, &d[0], &a[:n][0], scale, shift)
		}
		if n < len(d) {
			var x remainder
			copy(x[:], a[n:len(d)])
			f(vectorStep, &x[0], &x[0], scale, shift)
			copy(d[n:], x[:])
			for _, v := range d[n:] {
				sum += v
			}
		}
		return sum
	}
}

// sumVectors sums whole steps of a size in assembly, and the rest in Go.
func sumVectors(step int, f func(n int, a *float32) float64) func(a []float32) float64 {
	return func(a []float32) float64 {
		n := len(a) / step * step
		if n == 0 {
			return sumGeneric(a)
		}
		return f(n, &a[0]) + sumGeneric(a[n:])
	}
}

// vectorLargest leaves fewer elements than a vector has lanes to plain Go.
func vectorLargest(lanes int, f func(n int, a *float32) float32) func(a []float32) float32 {
	return func(a []float32) float32 {
		if len(a) < lanes {
			return largestGeneric(a)
		}
		n := wholeSteps(len(a))
		top := f(n, &a[0])
		for _, v := range a[n:] {
			if v > top {
				top = v
			}
		}
		return top
	}
}
