package rt

import (
	"math"
	"strconv"

	goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"
)

// Index returns i. It panics as Go does if i is not a valid index of a sequence of
// length n.
func Index(i, n int) int {
	if uint(i) >= uint(n) {
		_ = make([]struct{}, n)[i]
	}
	return i
}

// IndexUnsigned is Index for an index that may overflow an int.
func IndexUnsigned(i uint64, n int) int {
	if i >= uint64(n) {
		_ = make([]struct{}, n)[i]
	}
	return int(i)
}

// A Bound is a bound of a slice expression. The zero Bound is one that the expression leaves out.
type Bound struct {
	Given bool
	Value int
	Large uint64 // used instead of Value if the bound is larger than math.MaxInt
}

// At returns the bound n.
func At(n int) Bound { return Bound{Given: true, Value: n} }

// AtUnsigned returns the bound n, which may be larger than math.MaxInt.
func AtUnsigned(n uint64) Bound {
	if n > math.MaxInt {
		return Bound{Given: true, Value: math.MaxInt, Large: n}
	}
	return At(int(n))
}

// Or returns the value of b, or n if the expression leaves it out.
func (b Bound) Or(n int) int {
	if b.Given {
		return b.Value
	}
	return n
}

func (b Bound) String() string {
	if b.Large > 0 {
		return strconv.FormatUint(b.Large, 10)
	}
	return strconv.Itoa(b.Value)
}

func (b Bound) exceeds(other Bound) bool {
	return b.Value > other.Value || b.Value == other.Value && b.Large > other.Large
}

// CheckSlice panics as Go does if the bounds of a slice expression are out of range for
// an operand of the given length. The limit of the bounds of a slice is its capacity,
// that of a string or an array its length.
func CheckSlice(low, high, maximum Bound, length, limit int, isSlice bool) {
	end, limited := At(limit), " with length "
	if isSlice {
		limited = " with capacity "
	}
	switch {
	case maximum.Given:
		checkBound("::", maximum, "", end, limited)
		checkBound(":", high, ":", maximum, "")
	case high.Given:
		checkBound(":", high, "", end, limited)
	default:
		high = At(length)
	}
	after := ""
	if maximum.Given {
		after = ":"
	}
	switch {
	case !low.Given:
	case low.Value < 0:
		panic(goruntime.BoundsError("slice bounds out of range [" + low.String() + ":" + after + "]"))
	case low.exceeds(high):
		panic(goruntime.BoundsError("slice bounds out of range [" + low.String() + ":" + high.String() + after + "]"))
	}
}

// checkBound panics if b is not in [0, limit]. The text of the panic has the limit after the
// bound: in words or, if there are none, after a colon.
func checkBound(before string, b Bound, after string, limit Bound, words string) {
	text := "slice bounds out of range [" + before
	switch {
	case b.Value < 0:
		panic(goruntime.BoundsError(text + b.String() + after + "]"))
	case b.exceeds(limit) && words != "":
		panic(goruntime.BoundsError(text + b.String() + "]" + words + limit.String()))
	case b.exceeds(limit):
		panic(goruntime.BoundsError(text + b.String() + after + limit.String() + "]"))
	}
}

// ArrayLength panics as Go does when a slice of length n is converted to an
// array of a larger length, or to a pointer to one.
func ArrayLength(n, length int) {
	if n < length {
		panic(goruntime.BoundsError("cannot convert slice with length " + strconv.Itoa(n) +
			" to array or pointer to array with length " + strconv.Itoa(length)))
	}
}
