// Package iter implements the standard package iter for interpreted code.
package iter

import "github.com/quernlab/quern/interp/generic/compiled"

// Seq calls yield for each value of a sequence until yield returns false.
type Seq[V any] func(yield func(V) bool)

// Seq2 calls yield for each pair of values of a sequence until yield returns false.
type Seq2[K, V any] func(yield func(K, V) bool)

// Pull converts a sequence to two functions: next returns one value for each call, and false after the last one; stop ends the
// sequence early. The sequence runs as a coroutine of next. A panic in it propagates to next or stop.
func Pull[V any](seq Seq[V]) (next func() (V, bool), stop func()) {
	var value, zero V
	step, end := compiled.Coroutine(func(yield func() bool) {
		seq(func(v V) bool {
			value = v
			return yield()
		})
	})
	next = func() (V, bool) {
		if !step() {
			return zero, false
		}
		v := value
		value = zero
		return v, true
	}
	return next, end
}

// Pull2 is Pull for a sequence of pairs.
func Pull2[K, V any](seq Seq2[K, V]) (next func() (K, V, bool), stop func()) {
	var key, noKey K
	var value, noValue V
	step, end := compiled.Coroutine(func(yield func() bool) {
		seq(func(k K, v V) bool {
			key, value = k, v
			return yield()
		})
	})
	next = func() (K, V, bool) {
		if !step() {
			return noKey, noValue, false
		}
		k, v := key, value
		key, value = noKey, noValue
		return k, v, true
	}
	return next, end
}
