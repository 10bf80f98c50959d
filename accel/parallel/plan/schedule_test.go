package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func repeated(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

// TestBubble compares simulated pipelines with the formulas of Narayanan et al., 2021: of m micro-batches on p ranks with v chunks
// each, a rank waits for (p-1)/v of the times of a micro-batch.
func TestBubble(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ ranks, chunks, micros int }{
		{1, 1, 4}, {4, 1, 4}, {4, 1, 8}, {4, 1, 3}, {8, 1, 64}, {4, 2, 8}, {4, 4, 16}, {8, 3, 64}, {2, 2, 2}, {16, 8, 32},
	} {
		t.Run(fmt.Sprintf("%d ranks, %d chunks, %d micro-batches", c.ranks, c.chunks, c.micros), func(t *testing.T) {
			all := c.ranks * c.chunks
			const forward, backward = 1.0, 2.0 // of a rank for a micro-batch
			p := pipeline{
				ranks: c.ranks, chunks: c.chunks, micros: c.micros,
				forward: repeated(forward/float64(c.chunks), all), backward: repeated(backward/float64(c.chunks), all),
			}
			s, err := p.run()
			if err != nil {
				t.Fatal(err)
			}
			want := (forward + backward) * (float64(c.micros) + float64(c.ranks-1)/float64(c.chunks))
			if got := p.end(s); math.Abs(got-want) > 1e-9 {
				t.Errorf("the pipeline ends after %g, want %g", got, want)
			}
		})
	}
}

// TestLongPipelines compares the pipelines of which only the first rounds are simulated with complete simulations.
func TestLongPipelines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ranks, chunks, micros int
		send                  float64
	}{{1, 1, 1000, 0}, {4, 1, 1001, 0.1}, {4, 2, 400, 0.1}, {8, 3, 240, 0.01}, {3, 1, 100, 5}} {
		p := pipeline{ranks: c.ranks, chunks: c.chunks, micros: c.micros, send: c.send}
		p.forward, p.backward = repeated(1, c.ranks*c.chunks), repeated(2, c.ranks*c.chunks)
		p.forward[len(p.forward)-1] += 0.5 // the last chunk takes longer
		short, err := p.run()
		if err != nil {
			t.Fatal(err)
		}
		complete, err := p.simulate()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.end(short), p.end(complete); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%+v ends after %g, completely simulated after %g", c, got, want)
		}
		if len(short.begin[0]) >= len(complete.begin[0]) {
			t.Errorf("%+v is simulated completely", c)
		}
	}
}

// TestDivide compares the division of random models with the best of all divisions.
func TestDivide(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := predictor{Layout: Layout{MicroBatch: 1}, slowdown: 1}
		for range 2 + random.IntN(8) {
			p.Blocks = append(p.Blocks, Block{Forward: Work{Seconds: float64(random.IntN(5))}})
		}
		n := 1 + random.IntN(len(p.Blocks))
		if got, want := squares(p.divide(n)), leastSquares(p.Blocks, n); got != want {
			t.Fatalf("%d parts of %v have %g, the best division has %g", n, p.Blocks, got, want)
		}
	}
}

func squares(parts [][]Block) (sum float64) {
	for _, blocks := range parts {
		part := 0.0
		for _, b := range blocks {
			part += b.Forward.Seconds
		}
		sum += part * part
	}
	return sum
}

// leastSquares tries all divisions in n parts.
func leastSquares(blocks []Block, n int) float64 {
	if n == 1 {
		return squares([][]Block{blocks})
	}
	best := math.Inf(1)
	for first := 1; first <= len(blocks)-n+1; first++ {
		best = min(best, squares([][]Block{blocks[:first]})+leastSquares(blocks[first:], n-1))
	}
	return best
}
