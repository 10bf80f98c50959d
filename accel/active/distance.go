package active

import (
	"runtime"
	"sync"
)

// squared is the squared Euclidean distance.
func squared(a, b []float32) float64 {
	sum := 0.0
	for k, v := range a {
		d := float64(v) - float64(b[k])
		sum += d * d
	}
	return sum
}

// product is the inner product.
func product[T float32 | float64](a, b []T) float64 {
	sum := 0.0
	for k, v := range a {
		sum += float64(v) * float64(b[k])
	}
	return sum
}

// parallel calls f for parts of 0 to n, on all processors. What f computes of an
// index must not depend on the part that it is in.
func parallel(n int, f func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), n)
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() { f(part*n/parts, (part+1)*n/parts) })
	}
	all.Wait()
}
