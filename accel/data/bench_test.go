package data

import "testing"

// BenchmarkImages converts batches of byte images to floats, with one goroutine and with the
// workers, in bytes of images per second.
func BenchmarkImages(b *testing.B) {
	const size, count = 28 * 28, 6000
	set := &Dataset{name: "noise", shape: []int{1, 28, 28}, classes: numberedClasses(10), source: newPixels(size, make([]byte, size*count), make([]byte, count), 255)}
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
