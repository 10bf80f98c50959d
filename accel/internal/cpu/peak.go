package cpu

import (
	"runtime"
	"sync"
)

// Peak runs fused multiply-adds in registers only, on a number of threads at once, for some
// milliseconds, and returns the number of floating-point operations. Divided by the time,
// that is the upper limit of the speed of a matrix multiplication.
func Peak(threads int) float64 {
	const rounds = 100 // calls per thread, so that the scheduler can interrupt between them
	kernel := append(nativeTiles(), genericKernel)[0]
	var running sync.WaitGroup
	for range max(threads, 1) {
		running.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for range rounds {
				kernel.spin(spinCount)
			}
		})
	}
	running.Wait()
	return float64(max(threads, 1)) * rounds * spinCount * float64(kernel.spinFlops)
}

// spinCount is the number of iterations of spin per call.
const spinCount = 10_000

// spinGeneric multiplies and adds in twelve independent chains, as many as there are
// registers for, which the compiler can neither evaluate in advance nor merge.
func spinGeneric(n int) {
	x, y := 1/float32(n+1), float32(n)
	a, b, c, d, e, f := y, y+1, y+2, y+3, y+4, y+5
	g, h, i, j, k, l := y+6, y+7, y+8, y+9, y+10, y+11
	for range n {
		a, b, c, d, e, f = a*x+y, b*x+y, c*x+y, d*x+y, e*x+y, f*x+y
		g, h, i, j, k, l = g*x+y, h*x+y, i*x+y, j*x+y, k*x+y, l*x+y
	}
	runtime.KeepAlive(a + b + c + d + e + f + g + h + i + j + k + l)
}
