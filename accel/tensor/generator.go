package tensor

import (
	"math"
	"math/bits"
	"sync"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Generator is a random number generator: the counter-based Philox4x32-10 (Salmon et al., SC'11)
// with the seed as key, one block of four 32-bit words per counter value. The numbers depend on the
// seed and on how many were drawn before, not on the number of threads. It is safe for concurrent
// use, but then the order in which goroutines draw is not deterministic.
type Generator struct {
	mu      sync.Mutex
	key     uint64
	counter uint64
}

// NewGenerator makes a generator; equal seeds give equal numbers.
func NewGenerator(seed uint64) *Generator { return &Generator{key: seed} }

var (
	defaultGenerator = NewGenerator(0)
	weightGenerator  = &Generator{counter: firstWeightCounter}
)

// firstWeightCounter is the first counter of the weight generator, beyond all that the default
// generator draws from the same seed.
const firstWeightCounter = 1 << 62

// seedGenerators restarts the default generator, which is used where a nil *Generator is given, and the
// generator of [WeightGenerator]. Both start with seed 0.
func seedGenerators(n uint64) {
	defaultGenerator.SetState(n, 0)
	weightGenerator.SetState(n, firstWeightCounter)
}

// WeightGenerator returns the generator from which layers draw their initial weights. It is separate from
// the default one so that other random numbers do not depend on whether a layer initializes its
// weights in the first training step or in an earlier forward pass.
func WeightGenerator() *Generator { return weightGenerator }

func (g *Generator) orDefault() *Generator {
	if g == nil {
		return defaultGenerator
	}
	return g
}

// take reserves n blocks and returns the key and the first counter.
func (g *Generator) take(n int) (key, counter uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key, counter = g.key, g.counter
	g.counter += uint64(n)
	if d := activeDraws.Load(); d != nil {
		d.note(g, counter)
	}
	return key, counter
}

// Uint64 returns the first two words of the next block.
func (g *Generator) Uint64() uint64 {
	b := ir.Philox(g.orDefault().take(1))
	return uint64(b[1])<<32 | uint64(b[0])
}

// Float64 returns a number in [0, 1) with 53 random bits.
func (g *Generator) Float64() float64 { return float64(g.Uint64()>>11) / (1 << 53) }

// Intn returns an integer in [0, n), each equally likely. It panics if n < 1.
func (g *Generator) Intn(n int) int {
	if n < 1 {
		panic(&ShapeError{Op: "Intn", Hint: "n must be at least 1"})
	}
	limit := math.MaxUint64 - math.MaxUint64%uint64(n)
	for {
		if u := g.Uint64(); u < limit {
			return int(u % uint64(n))
		}
	}
}

// Perm returns a random permutation of 0 to n-1 (Fisher-Yates shuffle).
func (g *Generator) Perm(n int) []int {
	p := make([]int, n)
	for i := range p {
		j := g.Intn(i + 1)
		p[i], p[j] = p[j], i
	}
	return p
}

// fillUniform uses one word per value.
func (g *Generator) fillUniform(data []float32, low, high float64) {
	key, counter := g.take((len(data) + 3) / 4)
	for i := 0; i < len(data); i += 4 {
		b := ir.Philox(key, counter+uint64(i/4))
		for j := range min(4, len(data)-i) {
			v := float32(low + (high-low)*float64(b[j])/(1<<32))
			if high > low && v >= float32(high) { // rounded up
				v = math.Nextafter32(float32(high), float32(low))
			}
			data[i+j] = v
		}
	}
}

// fillInts uses two words per value: the upper half of their product with the number of integers.
func (g *Generator) fillInts(data []int32, low, high int) {
	key, counter := g.take((len(data) + 1) / 2)
	for i := range data {
		b := ir.Philox(key, counter+uint64(i/2))
		word := uint64(b[i%2*2+1])<<32 | uint64(b[i%2*2])
		k, _ := bits.Mul64(word, uint64(high-low))
		data[i] = int32(low + int(k))
	}
}

// fillNormal computes two values from two words (Box-Muller transform, 1958).
func (g *Generator) fillNormal(data []float32) {
	key, counter := g.take((len(data) + 3) / 4)
	for i := 0; i < len(data); i += 4 {
		b := ir.Philox(key, counter+uint64(i/4))
		for j := 0; j < min(4, len(data)-i); j += 2 {
			radius := math.Sqrt(-2 * math.Log((float64(b[j])+1)/(1<<32)))
			sin, cos := math.Sincos(2 * math.Pi * float64(b[j+1]) / (1 << 32))
			data[i+j] = float32(radius * cos)
			if i+j+1 < len(data) {
				data[i+j+1] = float32(radius * sin)
			}
		}
	}
}
