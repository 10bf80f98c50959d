package progress

import "iter"

// Each iterates over the elements of a list and displays a bar.
func Each[S ~[]E, E any](list S) iter.Seq[E] {
	return func(yield func(E) bool) {
		bar := NewBar(len(list), "")
		defer bar.End()
		for _, x := range list {
			if !yield(x) {
				return
			}
			bar.Add(1)
		}
	}
}

// Seq iterates over a sequence and displays how many values there were.
func Seq[E any](values iter.Seq[E]) iter.Seq[E] {
	return func(yield func(E) bool) {
		bar := NewBar(0, "")
		defer bar.End()
		for x := range values {
			if !yield(x) {
				return
			}
			bar.Add(1)
		}
	}
}
