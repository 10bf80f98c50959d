package rt

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
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

// IndexUnsigned is Index for an index that may be no int.
func IndexUnsigned(i uint64, n int) int {
	if i >= uint64(n) {
		panic(boundsError("index out of range [" + strconv.FormatUint(i, 10) + "] with length " + strconv.Itoa(n)))
	}
	return int(i)
}

// absent stands for a bound that a slice expression does not have.
const absent = math.MinInt

// SliceLow returns the lower bound of a slice expression on an operand of the
// given length and capacity. It panics as Go does if the bounds are out of range.
// The capacity of a string or an array, whose length counts, is absent.
func SliceLow(low, high, most, length, capacity int) int {
	return sliceLow(bound{value: low}, bound{value: high}, bound{value: most}, length, capacity)
}

// SliceLowUnsigned is SliceLow for bounds that may be no int; present has l, h and
// m for those that are there.
func SliceLowUnsigned(present string, low, high, most uint64, length, capacity int) int {
	unsigned := func(letter string, value uint64) bound {
		switch {
		case !strings.Contains(present, letter):
			return bound{value: absent}
		case value > math.MaxInt:
			return bound{value: math.MaxInt, large: value}
		}
		return bound{value: int(value)}
	}
	return sliceLow(unsigned("l", low), unsigned("h", high), unsigned("m", most), length, capacity)
}

// bound is a bound of a slice expression.
type bound struct {
	value int
	large uint64 // instead of value, when it is larger than that can be
}

func (b bound) String() string {
	if b.large > 0 {
		return strconv.FormatUint(b.large, 10)
	}
	return strconv.Itoa(b.value)
}

func (b bound) exceeds(other bound) bool {
	return b.value > other.value || b.value == other.value && b.large > other.large
}

func sliceLow(low, high, most bound, length, capacity int) int {
	limit, limited := bound{value: capacity}, " with capacity "
	if capacity == absent {
		limit, limited = bound{value: length}, " with length "
	}
	switch {
	case most.value != absent:
		checkBound("::", most, "", limit, limited)
		checkBound(":", high, ":", most, "")
	case high.value != absent:
		checkBound(":", high, "", limit, limited)
	default:
		high.value = length
	}
	end := ""
	if most.value != absent {
		end = ":"
	}
	if low.value == absent {
		return 0
	}
	if low.value < 0 {
		panic(boundsError("slice bounds out of range [" + low.String() + ":" + end + "]"))
	}
	if low.exceeds(high) {
		panic(boundsError("slice bounds out of range [" + low.String() + ":" + high.String() + end + "]"))
	}
	return low.value
}

// checkBound panics if b is not in [0, limit]. The limit is told after the bound,
// in words or, without these, behind a colon.
func checkBound(before string, b bound, after string, limit bound, words string) {
	text := "slice bounds out of range [" + before
	switch {
	case b.value < 0:
		panic(boundsError(text + b.String() + after + "]"))
	case b.exceeds(limit) && words != "":
		panic(boundsError(text + b.String() + "]" + words + limit.String()))
	case b.exceeds(limit):
		panic(boundsError(text + b.String() + after + limit.String() + "]"))
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
	if fits(length, size) {
		Allocate(capacity, size)
	}
	return capacity
}

// fits reports whether n elements of size bytes may be allocated.
func fits(n, size int) bool {
	const addressBits = 48 // of what the runtime allocates from
	over, memory := bits.Mul64(uint64(n), uint64(size))
	return n >= 0 && over == 0 && memory <= 1<<addressBits
}
