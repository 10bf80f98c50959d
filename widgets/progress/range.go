package progress

import "iter"

// Range gives the numbers from 0 to n-1 and shows a bar.
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
