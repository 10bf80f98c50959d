package cpu

import (
	"runtime"
	"sync"
)

// Peak does fused multiplications and additions in registers alone, on so many
// threads at once, for some milliseconds, and returns the number of
// floating-point operations. Divided by its time it is the speed that no
// product can exceed.
func Peak(threads int) float64 {
	kernel := append(nativeTiles(), genericKernel)[0]
	return spinning(threads, kernel.spin, kernel.spinFlops)
}

// PeakIntegers is [Peak] for products of bytes.
func PeakIntegers(threads int) float64 {
	kernel := byteKernels()[0]
	return spinning(threads, kernel.spin, kernel.spinOps)
}

// spinning runs spin on so many threads and returns the number of operations, of
// which it does some each time.
func spinning(threads int, spin func(n int), operations int) float64 {
	const rounds = 100 // of calls, so that no thread is out of reach for long
	var running sync.WaitGroup
	for range max(threads, 1) {
		running.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for range rounds {
				spin(spinCount)
			}
		})
	}
	running.Wait()
	return float64(max(threads, 1)) * rounds * spinCount * float64(operations)
}

// spinCount is how often spin goes round in one call.
const spinCount = 10_000

// spinGeneric is the generic tile's multiplications and additions.
func spinGeneric(n int) {
	var a, b, c, d, e, f, g, h, x, y float32
	for range n {
		a += x * y
		b += x * y
		c += x * y
		d += x * y
		e += x * y
		f += x * y
		g += x * y
		h += x * y
	}
	runtime.KeepAlive(a + b + c + d + e + f + g + h)
}
