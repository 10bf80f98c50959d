package tensor

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
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

// State returns the generator's seed and the number of blocks drawn. nil means the default
// generator.
func (g *Generator) State() (seed, drawn uint64) {
	return g.orDefault().take(0)
}

// SetState restores a state that State returned. nil means the default generator.
func (g *Generator) SetState(seed, drawn uint64) {
	g = g.orDefault()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.key, g.counter = seed, drawn
}

// Multinomial draws n indices from weights [C] or from each row of weights [N, C], each with a probability in
// proportion to its weight: int32 [n] or [N, n], torch's multinomial. Without replacement, an index is drawn at most
// once, so a row needs n weights that are not 0. Weights are finite, not negative and not all 0. It runs
// the recorded ops, because it reads the weights. A nil generator means the default one.
func Multinomial(g *Generator, weights *Tensor, n int, replacement bool) *Tensor {
	shape := weights.Shape()
	rank := len(shape)
	fails := func(format string, args ...any) {
		panic(&ShapeError{Op: "Multinomial", Shapes: [][]int{shape}, Hint: fmt.Sprintf(format, args...)})
	}
	if rank != 1 && rank != 2 {
		fails("the weights must have one or two dimensions")
	}
	if d := weights.DType(); !d.IsFloat() {
		panic(&DTypeError{Op: "Multinomial", DTypes: []DType{d}, Hint: "the weights must be floats; convert with Cast(tensor.Float32)"})
	}
	classes := shape[rank-1]
	if n < 1 {
		fails("%d indices cannot be drawn", n)
	}
	if !replacement && n > classes {
		fails("%d indices cannot be drawn from %d without replacement", n, classes)
	}
	to := append(slices.Clone(shape[:rank-1]), n)
	data, all := hostBuffer[int32]("Multinomial", Int32, to), weights.Float64s()
	draw := g.orDefault().drawOnce
	if replacement {
		draw = g.orDefault().drawAgain
	}
	for row := range len(data) / n {
		if hint := draw(data[row*n:(row+1)*n], all[row*classes:(row+1)*classes]); hint != "" {
			fails("row %d: %s", row, hint)
		}
	}
	return fromHost("Multinomial", data, Int32, to)
}

// drawAgain draws indices with replacement, by inverting the distribution function. It returns what is wrong
// with the weights, or "".
func (g *Generator) drawAgain(data []int32, weights []float64) string {
	positive, hint := positiveWeights(weights, 1)
	if hint != "" {
		return hint
	}
	largest := weights[positive[0]]
	for _, i := range positive {
		largest = max(largest, weights[i])
	}
	upTo, total := make([]float64, len(positive)), 0.0
	for k, i := range positive {
		total += weights[i] / largest // the sum of the weights may overflow
		upTo[k] = total
	}
	for i := range data {
		u := g.Float64() * total
		k := sort.Search(len(upTo)-1, func(k int) bool { return upTo[k] > u })
		data[i] = int32(positive[k])
	}
	return ""
}

// drawOnce draws indices without replacement: those with the smallest exponential variables of their weights as
// rates come first (Efraimidis and Spirakis, 2006).
func (g *Generator) drawOnce(data []int32, weights []float64) string {
	positive, hint := positiveWeights(weights, len(data))
	if hint != "" {
		return hint
	}
	arrival := make([]float64, len(weights))
	for _, i := range positive {
		arrival[i] = math.Log(-math.Log1p(-g.Float64())) - math.Log(weights[i]) // the logarithm does not overflow
	}
	slices.SortStableFunc(positive, func(i, j int) int { return cmp.Compare(arrival[i], arrival[j]) })
	for i := range data {
		data[i] = int32(positive[i])
	}
	return ""
}

// positiveWeights returns the indices of the weights that are not 0, or what is wrong if there are fewer than n, or
// if a weight is none.
func positiveWeights(weights []float64, n int) (positive []int, hint string) {
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Sprintf("weight %d is %v; weights must be finite and not negative", i, w)
		}
		if w > 0 {
			positive = append(positive, i)
		}
	}
	if len(positive) < n {
		return nil, fmt.Sprintf("%d weights are not 0, there must be at least %d", len(positive), n)
	}
	return positive, ""
}
