// Package progress stands for our package of that name in interpreted code.
package progress

import (
	"iter"

	"github.com/quernlab/quern/widgets/progress"
)

// Each returns the elements of a list and shows a bar.
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

// Seq returns the values of a sequence and shows how many there were.
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
