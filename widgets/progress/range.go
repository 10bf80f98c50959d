package progress

import "iter"

// Range iterates over the numbers from 0 to n-1 and displays a bar.
func Range(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		bar := NewBar(n, "")
		defer bar.End()
		for i := range n {
			if !yield(i) {
				return
			}
			bar.Add(1)
		}
	}
}
