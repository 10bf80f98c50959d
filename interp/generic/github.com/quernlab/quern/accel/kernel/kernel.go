// Package kernel implements the generic functions of our package of that name for interpreted code. They have a meaning only in
// kernels, which are compiled from their source.
package kernel

import "github.com/quernlab/quern/accel/kernel"

// Number is a type of atomic additions and shuffles.
type Number interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Integer is a type of atomic operations.
type Integer interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64
}

func outside() {
	panic("kernel: this function has a meaning only in a kernel that runs by Launch")
}

// AtomicAdd adds v to an element.
func AtomicAdd[T Number](element *T, v T) T { outside(); return v }

// AtomicMin sets an element to the smaller one of it and v.
func AtomicMin[T Integer](element *T, v T) T { outside(); return v }

// AtomicMax sets an element to the larger one of it and v.
func AtomicMax[T Integer](element *T, v T) T { outside(); return v }

// AtomicExchange sets an element to v.
func AtomicExchange[T Integer](element *T, v T) T { outside(); return v }

// AtomicCompareAndSwap sets an element to v if it is old.
func AtomicCompareAndSwap[T Integer](element *T, old, v T) T { outside(); return v }

// Shuffle returns v of a lane.
func Shuffle[T Number](t kernel.Thread, v T, lane int) T { outside(); return v }

// ShuffleDown returns v of a lane above.
func ShuffleDown[T Number](t kernel.Thread, v T, n int) T { outside(); return v }

// ShuffleUp returns v of a lane below.
func ShuffleUp[T Number](t kernel.Thread, v T, n int) T { outside(); return v }

// ShuffleXor returns v of a lane with bits inverted.
func ShuffleXor[T Number](t kernel.Thread, v T, mask int) T { outside(); return v }
