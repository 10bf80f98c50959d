package rt

import (
	"math"
	"math/bits"
	"strconv"
)

// Index returns i. It panics as Go does if i is no index of a sequence of
// length n.
func Index(i, n int) int {
	if uint(i) >= uint(n) {
		if i < 0 {
			panic(boundsError("index out of range [" + strconv.Itoa(i) + "]"))
		}
		panic(boundsError("index out of range [" + strconv.Itoa(i) + "] with length " + strconv.Itoa(n)))
	}
	return i
}

// absent stands for a bound that a slice expression does not have.
const absent = math.MinInt

// SliceLow returns the lower bound of a slice expression on an operand of the
// given length and capacity. It panics as Go does if the bounds are out of range.
// The capacity of a string or an array, whose length counts, is absent.
func SliceLow(low, high, most, length, capacity int) int {
	limit, limited := capacity, " with capacity "
	if capacity == absent {
		limit, limited = length, " with length "
	}
	switch {
	case most != absent:
		checkBound("::", most, "", limit, limited)
		checkBound(":", high, ":", most, "")
	case high != absent:
		checkBound(":", high, "", limit, limited)
	default:
		high = length
	}
	end := ""
	if most != absent {
		end = ":"
	}
	if low == absent {
		return 0
	}
	if low < 0 {
		panic(boundsError("slice bounds out of range [" + strconv.Itoa(low) + ":" + end + "]"))
	}
	if low > high {
		panic(boundsError("slice bounds out of range [" + strconv.Itoa(low) + ":" + strconv.Itoa(high) + end + "]"))
	}
	return low
}

// checkBound panics if bound is not in [0, limit]. The limit is told after the
// bound, in words or, without these, behind a colon.
func checkBound(before string, bound int, after string, limit int, words string) {
	text := "slice bounds out of range [" + before + strconv.Itoa(bound)
	switch {
	case bound < 0:
		panic(boundsError(text + after + "]"))
	case bound > limit && words != "":
		panic(boundsError(text + "]" + words + strconv.Itoa(limit)))
	case bound > limit:
		panic(boundsError(text + after + strconv.Itoa(limit) + "]"))
	}
}

// ArrayLength panics as Go does when a slice of length n is converted to an
// array of a larger length, or to a pointer to one.
func ArrayLength(n, length int) {
	if n < length {
		panic(boundsError("cannot convert slice with length " + strconv.Itoa(n) +
			" to array or pointer to array with length " + strconv.Itoa(length)))
	}
}

// MakeCapacity returns capacity. It panics as Go does where make cannot have a
// slice of that length and capacity, of elements of size bytes.
func MakeCapacity(length, capacity, size int) int {
	if fits(length, size) && (!fits(capacity, size) || length > capacity) {
		panic(runtimeError("makeslice: cap out of range"))
	}
	return capacity
}

// fits reports whether n elements of size bytes may be allocated.
func fits(n, size int) bool {
	const addressBits = 48 // of what the runtime allocates from
	over, memory := bits.Mul64(uint64(n), uint64(size))
	return n >= 0 && over == 0 && memory <= 1<<addressBits
}
