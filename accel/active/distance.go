package active

import (
	"runtime"
	"sync"
)

// squared returns the squared Euclidean distance.
func squared(a, b []float32) float64 {
	sum := 0.0
	for k, v := range a {
		d := float64(v) - float64(b[k])
		sum += d * d
	}
	return sum
}

// dot returns the inner product.
func dot[T float32 | float64](a, b []T) float64 {
	sum := 0.0
	for k, v := range a {
		sum += float64(v) * float64(b[k])
	}
	return sum
}

// parallel calls f for parts of 0 to n on all cores. The results of f must not depend on how
// the indices are divided.
func parallel(n int, f func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), n)
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() { f(part*n/parts, (part+1)*n/parts) })
	}
	all.Wait()
}
