package slices

// Insert inserts the values v before s[i] and returns the slice, which may be in other memory. It panics unless
// 0 <= i <= len(s).
func Insert[S ~[]E, E any](s S, i int, v ...E) S {
	_ = s[i:] // i is in range
	if len(v) == 0 {
		return s
	}
	length := len(s) + len(v)
	if length > cap(s) {
		grown := append(s[:i:i], v...) // grows like append: the capacity of s[:i:i] is i
		return append(grown, s[i:]...)
	}
	inserted := append([]E(nil), v...) // v may lie in s
	s = s[:length]
	copy(s[i+len(inserted):], s[i:])
	copy(s[i:], inserted)
	return s
}

// Delete removes s[i:j], zeroes the obsolete elements at the end, and returns the shortened slice. It panics if s[i:j] is not
// a valid slice of s.
func Delete[S ~[]E, E any](s S, i, j int) S {
	_ = s[i:j:len(s)] // the range is in s, not only in its capacity
	if i == j {
		return s
	}
	length := len(s) - (j - i)
	copy(s[i:], s[j:])
	clear(s[length:])
	return s[:length]
}

// DeleteFunc removes the elements for which del returns true, zeroes the obsolete ones at the end, and returns the rest.
func DeleteFunc[S ~[]E, E any](s S, del func(E) bool) S {
	kept := IndexFunc(s, del)
	if kept < 0 {
		return s
	}
	for i := kept + 1; i < len(s); i++ {
		if v := s[i]; !del(v) {
			s[kept] = v
			kept++
		}
	}
	clear(s[kept:])
	return s[:kept]
}

// Replace replaces s[i:j] by the values v and returns the slice, which may be in other memory. If the slice gets shorter, it
// zeroes the obsolete elements. It panics if s[i:j] is not a valid slice of s.
func Replace[S ~[]E, E any](s S, i, j int, v ...E) S {
	_ = s[i:j] // the range is valid
	_ = s[j:]
	length := len(s) - (j - i) + len(v)
	if length > cap(s) {
		grown := append(s[:i:i], v...)
		return append(grown, s[j:]...)
	}
	before := len(s)
	placed := append([]E(nil), v...) // v may lie in s
	if length > before {
		s = s[:length]
		copy(s[i+len(placed):], s[j:before])
		copy(s[i:], placed)
		return s
	}
	copy(s[i+len(placed):], s[j:])
	copy(s[i:], placed)
	clear(s[length:])
	return s[:length]
}

// Clone returns a copy of the slice; nil for nil.
func Clone[S ~[]E, E any](s S) S {
	if s == nil {
		return nil
	}
	return append(S{}, s...)
}

// Grow increases the capacity for n more elements. It panics if n is negative or too large.
func Grow[S ~[]E, E any](s S, n int) S {
	if n < 0 {
		panic("cannot be negative")
	}
	if n -= cap(s) - len(s); n > 0 {
		s = append(s[:cap(s)], make([]E, n)...)[:len(s)]
	}
	return s
}

// Clip removes unused capacity.
func Clip[S ~[]E, E any](s S) S {
	return s[:len(s):len(s)]
}

// Concat returns the slices one after another in new memory, nil if there is no element.
func Concat[S ~[]E, E any](slices ...S) S {
	length := 0
	for _, s := range slices {
		length += len(s)
		if length < 0 {
			panic("len out of range")
		}
	}
	if length == 0 {
		return nil
	}
	all := make(S, 0, length)
	for _, s := range slices {
		all = append(all, s...)
	}
	return all
}

// Repeat returns the slice count times one after another in new memory. It panics if count is negative or the result
// too long.
func Repeat[S ~[]E, E any](x S, count int) S {
	if count < 0 {
		panic("cannot be negative")
	}
	length := len(x) * count
	if count > 0 && length/count != len(x) {
		panic("the result of (len(x) * count) overflows")
	}
	all := make(S, 0, length)
	for i := 0; i < count; i++ {
		all = append(all, x...)
	}
	return all
}
