package data

import "testing"

// BenchmarkImages makes batches of byte images into floats: the bytes of
// images a second, by one goroutine and by the workers.
func BenchmarkImages(b *testing.B) {
	const size, count = 28 * 28, 6000
	set := &Dataset{name: "noise", shape: []int{1, 28, 28}, classes: numbered(10), source: newPixels(size, make([]byte, size*count), make([]byte, count), 255)}
	for name, workers := range map[string]int{"alone": 0, "workers": 2} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size * count)
			for b.Loop() {
				it := set.Batches(256, Shuffle(1), Workers(workers))
				for it.Next() {
				}
				if it.Err() != nil {
					b.Fatal(it.Err())
				}
			}
		})
	}
}
