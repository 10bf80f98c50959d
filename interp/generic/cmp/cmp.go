// Package cmp implements the standard package cmp for interpreted code.
package cmp

// Ordered has the types that support the operators < <= >= >. For floating-point types, < orders NaN neither before nor
// after other values; Compare and Less order it before all other values.
type Ordered interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64 |
		~string
}

// Less reports whether x is before y; a NaN is before any number and not before a NaN.
func Less[T Ordered](x, y T) bool {
	return x < y || x != x && y == y
}

// Compare returns -1, 0 or +1 as x is before, equal to or after y in the order of Less; -0.0 equals 0.0, a NaN a NaN.
func Compare[T Ordered](x, y T) int {
	if x < y {
		return -1
	}
	if x > y {
		return +1
	}
	if x == y {
		return 0
	}
	if x == x { // y is NaN
		return +1
	}
	if y == y { // x is NaN
		return -1
	}
	return 0
}

// Or returns the first of its arguments that is not the zero value, or the zero value.
func Or[T comparable](vals ...T) T {
	var zero T
	for _, v := range vals {
		if v != zero {
			return v
		}
	}
	return zero
}
