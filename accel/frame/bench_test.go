package frame_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/frame"
)

// BenchmarkReadCSV reads rows of eight columns of all types.
func BenchmarkReadCSV(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	cities := []string{"Paris", "Berlin", "London", "New York", "Tokyo"}
	var s strings.Builder
	s.WriteString("id,age,income,score,city,active,date,note\n")
	for i := range 200_000 {
		fmt.Fprintf(&s, "%d,%d,%.2f,%v,%s,%t,20%d-%02d-%02d,note %d\n", i, 18+random.IntN(70), 1e5*random.Float64(), random.NormFloat64(),
			cities[random.IntN(len(cities))], i%3 == 0, 10+random.IntN(15), 1+random.IntN(12), 1+random.IntN(28), i%1000)
	}
	file := s.String()
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, err := frame.ReadCSV(strings.NewReader(file)); err != nil {
			b.Fatal(err)
		}
	}
}
