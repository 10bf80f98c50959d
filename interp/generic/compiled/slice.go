package compiled

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// The last result of each function below reports whether it supports the element type: the types of [cmp.Ordered].

// Sort sorts a slice in ascending order, NaN first.
func Sort(slice reflect.Value) bool {
	o := orderedSlice(slice)
	if o == nil {
		return false
	}
	o.sort()
	return true
}

// IsSorted reports whether a slice is in ascending order.
func IsSorted(slice reflect.Value) (sorted, ok bool) {
	o := orderedSlice(slice)
	if o == nil {
		return false, false
	}
	return o.isSorted(), true
}

// Min returns the index of an element that is the minimum, or NaN if there is one. The slice is not empty.
func Min(slice reflect.Value) (index int, ok bool) {
	o := orderedSlice(slice)
	if o == nil {
		return 0, false
	}
	return o.min(), true
}

// Max returns the index of an element that is the maximum, or NaN if there is one. The slice is not empty.
func Max(slice reflect.Value) (index int, ok bool) {
	o := orderedSlice(slice)
	if o == nil {
		return 0, false
	}
	return o.max(), true
}

// Index returns the index of the first element that equals the one element of key, a slice of the same type, or -1.
func Index(slice, key reflect.Value) (index int, ok bool) {
	o := orderedSlice(slice)
	if o == nil || slice.Type().Elem() != key.Type().Elem() {
		return 0, false
	}
	return o.index(key), true
}

// Equal reports whether two slices have the same length and equal elements.
func Equal(slice, other reflect.Value) (equal, ok bool) {
	o := orderedSlice(slice)
	if o == nil || slice.Type().Elem() != other.Type().Elem() {
		return false, false
	}
	return o.equal(other), true
}

// Reverse reverses a slice of any type.
func Reverse(slice reflect.Value) {
	swap := reflect.Swapper(slice.Interface())
	for i, j := 0, slice.Len()-1; i < j; i, j = i+1, j-1 {
		swap(i, j)
	}
}

// orderedSlice returns the slice with the underlying type of its elements, or nil if that is not ordered.
func orderedSlice(slice reflect.Value) ordered {
	if slice.Kind() != reflect.Slice {
		return nil
	}
	switch slice.Type().Elem().Kind() {
	case reflect.Int:
		return elements[int](slice)
	case reflect.Int8:
		return elements[int8](slice)
	case reflect.Int16:
		return elements[int16](slice)
	case reflect.Int32:
		return elements[int32](slice)
	case reflect.Int64:
		return elements[int64](slice)
	case reflect.Uint:
		return elements[uint](slice)
	case reflect.Uint8:
		return elements[uint8](slice)
	case reflect.Uint16:
		return elements[uint16](slice)
	case reflect.Uint32:
		return elements[uint32](slice)
	case reflect.Uint64:
		return elements[uint64](slice)
	case reflect.Uintptr:
		return elements[uintptr](slice)
	case reflect.Float32:
		return elements[float32](slice)
	case reflect.Float64:
		return elements[float64](slice)
	case reflect.String:
		return elements[string](slice)
	}
	return nil
}

type ordered interface {
	sort()
	isSorted() bool
	min() int
	max() int
	index(key reflect.Value) int
	equal(other reflect.Value) bool
}

type sequence[E cmp.Ordered] []E

// elements returns the same memory as a slice whose elements are of E's kind.
func elements[E cmp.Ordered](slice reflect.Value) sequence[E] {
	return unsafe.Slice((*E)(slice.UnsafePointer()), slice.Len())
}

func (s sequence[E]) sort() { slices.Sort(s) }

func (s sequence[E]) isSorted() bool { return slices.IsSorted(s) }

func (s sequence[E]) min() int { return s.find(slices.Min(s)) }

func (s sequence[E]) max() int { return s.find(slices.Max(s)) }

// find returns the index of x, which is in s. It distinguishes 0.0 and -0.0, and finds any NaN for NaN.
func (s sequence[E]) find(x E) int {
	return slices.IndexFunc(s, func(y E) bool { return x == y && negative(x) == negative(y) || x != x && y != y })
}

func negative[E cmp.Ordered](x E) bool {
	switch x := any(x).(type) {
	case float32:
		return math.Signbit(float64(x))
	case float64:
		return math.Signbit(x)
	}
	return false
}

func (s sequence[E]) index(key reflect.Value) int { return slices.Index(s, elements[E](key)[0]) }

func (s sequence[E]) equal(other reflect.Value) bool { return slices.Equal(s, elements[E](other)) }
