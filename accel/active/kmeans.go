package active

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/quernlab/quern/accel/tensor"
)

const (
	maxRounds   = 25    // iterations of k-means
	maxSeeding  = 10000 // examples from which the initial centers are drawn
	chunk       = 4096  // rows of a matrix multiplication
	seedingRuns = 3     // runs, of which the best counts
)

// clusters divides rows into k groups by k-means with k-means++ (Arthur and Vassilvitskii,
// 2007), using the best of three runs. Groups are numbered from 0 to k-1; some may be empty.
func clusters(ctx context.Context, rows [][]float32, k int, random *rand.Rand) ([]int, error) {
	x, width := flat(rows), len(rows[0])
	var best []int
	lowest := math.Inf(1)
	runs := seedingRuns
	if len(rows) > maxSeeding {
		runs = 1
	}
	for range runs {
		centers := initialCenters(rows, k, random)
		var of []int
		var cost float64
		for range maxRounds {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			next, now := nearestOf(x, rows, width, centers)
			same := of != nil
			for i := range next {
				same = same && next[i] == of[i]
			}
			if of, cost = next, now; same {
				break
			}
			moveCenters(rows, of, centers)
		}
		if cost < lowest {
			best, lowest = of, cost
		}
	}
	return best, nil
}

func flat(rows [][]float32) []float32 {
	x := make([]float32, 0, len(rows)*len(rows[0]))
	for _, row := range rows {
		x = append(x, row...)
	}
	return x
}

// initialCenters returns the initial centers: rows drawn with probabilities proportional to their
// squared distance from earlier centers.
func initialCenters(rows [][]float32, k int, random *rand.Rand) [][]float32 {
	some := random.Perm(len(rows))[:min(len(rows), max(maxSeeding, k))]
	chosen := []int{random.IntN(len(some))}
	nearest := make([]float64, len(some))
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	for len(chosen) < k {
		center := rows[some[chosen[len(chosen)-1]]]
		inParts(len(some), func(from, to int) {
			for i := from; i < to; i++ {
				nearest[i] = min(nearest[i], squared(rows[some[i]], center))
			}
		})
		chosen = append(chosen, byWeight(nearest, chosen, random))
	}
	centers := make([][]float32, k)
	for c, at := range chosen {
		centers[c] = append([]float32(nil), rows[some[at]]...)
	}
	return centers
}

// nearestOf returns the nearest center of each row and the sum of the squared distances. It
// multiplies tensors of a part of the rows at a time.
func nearestOf(x []float32, rows [][]float32, width int, centers [][]float32) (of []int, cost float64) {
	of = make([]int, 0, len(rows))
	tensor.NoGrad(func() {
		c := tensor.New(flat(centers), len(centers), width)
		half := c.Square().Sum(1).MulScalar(0.5)
		for from := 0; from < len(rows); from += chunk {
			to := min(from+chunk, len(rows))
			part := tensor.New(x[from*width:to*width], to-from, width)
			of = append(of, part.MatMul(c.T()).Sub(half).ArgMax(1).Ints()...)
		}
	})
	for i, k := range of {
		cost += squared(rows[i], centers[k])
	}
	return of, cost
}

// moveCenters moves each center to the mean of its rows; a center without rows stays.
func moveCenters(rows [][]float32, of []int, centers [][]float32) {
	sums := make([][]float64, len(centers))
	counts := make([]float64, len(centers))
	for k, c := range centers {
		sums[k] = make([]float64, len(c))
	}
	for i, k := range of {
		counts[k]++
		for d, v := range rows[i] {
			sums[k][d] += float64(v)
		}
	}
	for k, c := range centers {
		if counts[k] == 0 {
			continue
		}
		for d := range c {
			c[d] = float32(sums[k][d] / counts[k])
		}
	}
}

// squared returns the squared Euclidean distance.
func squared(a, b []float32) float64 {
	sum := 0.0
	for k, v := range a {
		d := float64(v) - float64(b[k])
		sum += d * d
	}
	return sum
}

// dot returns the inner product.
func dot[T float32 | float64](a, b []T) float64 {
	sum := 0.0
	for k, v := range a {
		sum += float64(v) * float64(b[k])
	}
	return sum
}

// inParts calls f for parts of 0 to n on all cores. The results of f must not depend on how
// the indices are divided.
func inParts(n int, f func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), n)
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() { f(part*n/parts, (part+1)*n/parts) })
	}
	all.Wait()
}
