package parallel

import (
	"context"
	"fmt"
	"testing"

	"github.com/quernlab/quern/accel/internal/training/option"
)

// BenchmarkAllReduce sums values over two ranks of this machine.
func BenchmarkAllReduce(b *testing.B) { benchmarkAllReduce(b) }

// BenchmarkAllReduceEncrypted encrypts, as between machines.
func BenchmarkAllReduceEncrypted(b *testing.B) {
	benchmarkAllReduce(b, Option{option.New(func(s *settings) { s.info.local = false }, "At")})
}

func benchmarkAllReduce(b *testing.B, options ...Option) {
	for _, n := range []int{100, 100_000, 10_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			all := ranks(b, 2, options...)
			data := [][]float32{make([]float32, n), make([]float32, n)}
			b.SetBytes(int64(4 * n))
			b.ResetTimer()
			mustEach(b, all, func(ctx context.Context, g *Group) error {
				for range b.N {
					if err := g.AllReduce(ctx, data[g.Rank()], Mean); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}
