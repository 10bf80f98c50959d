// Package progress implements our package of that name for interpreted code.
package progress

import (
	"iter"

	"github.com/quernlab/quern/widgets/progress"
)

// Each returns an iterator over the elements of a list that shows a progress bar.
func Each[S ~[]E, E any](list S) iter.Seq[E] {
	return func(yield func(E) bool) {
		bar := progress.NewBar(len(list), "")
		defer bar.End()
		for _, x := range list {
			if !yield(x) {
				return
			}
			bar.Add(1)
		}
	}
}

// Seq returns an iterator over the values of a sequence that shows how many there were.
func Seq[E any](values iter.Seq[E]) iter.Seq[E] {
	return func(yield func(E) bool) {
		bar := progress.NewBar(0, "")
		defer bar.End()
		for x := range values {
			if !yield(x) {
				return
			}
			bar.Add(1)
		}
	}
}
