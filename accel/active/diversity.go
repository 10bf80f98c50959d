package active

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/quernlab/quern/accel/tensor"
)

// CoreSet selects examples so that every example of the pool is close to a labeled one: each time
// the one farthest from all labeled and selected ones (Sener and Savarese, Active Learning for
// Convolutional Neural Networks: A Core-Set Approach, 2018). It uses Euclidean distances between
// features: the result of the function, or the input of the model's last layer, or without a model
// the values of the examples. Without labels the first example is random.
func CoreSet(features ...Features) Strategy {
	return strategy{"core-set", func(ctx context.Context, c *Candidates, n int) ([]int, error) { return coreSet(ctx, c, features, n) }}
}

func coreSet(ctx context.Context, c *Candidates, given []Features, n int) ([]int, error) {
	rows, labeled, err := c.features(ctx, given)
	if err != nil {
		return nil, err
	}
	nearest := slices.Repeat([]float64{math.Inf(1)}, len(rows)) // squared distance to the nearest selected example
	closer := func(center []float32) {
		inParts(len(rows), func(from, to int) {
			for i := from; i < to; i++ {
				nearest[i] = min(nearest[i], squared(rows[i], center))
			}
		})
	}
	for k, center := range labeled {
		if k%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		closer(center)
	}
	order := c.random.Perm(len(rows)) // break ties at random
	chosen := make([]int, 0, n)
	taken := make([]bool, len(rows))
	for len(chosen) < n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		farthest := -1
		for _, i := range order {
			if !taken[i] && (farthest < 0 || nearest[i] > nearest[farthest]) {
				farthest = i
			}
		}
		chosen, taken[farthest] = append(chosen, farthest), true
		closer(rows[farthest])
	}
	return chosen, nil
}

// BADGE selects examples with long and diverse gradients: by k-means++ on the gradients of the
// last layer's weights under the assumption that the most likely class is correct, (p - e) ⊗ h
// (Ash and others, Deep Batch Active Learning by Diverse, Uncertain Gradient Lower Bounds,
// 2020). The first has the longest gradient; the others are drawn with probabilities
// proportional to the squared distance from those already selected. h are the features: the
// result of the function, or the input of the last layer of an nn.Sequential.
func BADGE(features ...Features) Strategy {
	return strategy{"BADGE", func(ctx context.Context, c *Candidates, n int) ([]int, error) { return badge(ctx, c, features, n) }}
}

func badge(ctx context.Context, c *Candidates, given []Features, n int) ([]int, error) {
	probabilities, err := c.Probabilities(ctx)
	if err != nil {
		return nil, err
	}
	rows, _, err := c.features(ctx, given)
	if err != nil {
		return nil, err
	}
	g := newGradients(probabilities, rows)
	order := c.random.Perm(len(rows)) // breaks ties at random
	first := order[0]
	for _, i := range order {
		if g.norms[i] > g.norms[first] {
			first = i
		}
	}
	chosen := []int{first}
	nearest := append([]float64(nil), g.norms...)
	for len(chosen) < n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		g.closer(nearest, chosen[len(chosen)-1], len(chosen) == 1)
		chosen = append(chosen, byWeight(nearest, chosen, c.random))
	}
	return chosen, nil
}

// gradients are outer products of errors and features, which are never computed explicitly.
type gradients struct {
	errors   [][]float64 // p - e
	features [][]float32
	norms    []float64 // squared
}

func newGradients(probabilities [][]float64, features [][]float32) *gradients {
	g := &gradients{features: features, norms: make([]float64, len(features)), errors: make([][]float64, len(features))}
	for i, p := range probabilities {
		g.errors[i] = append([]float64(nil), p...)
		likely, _ := twoHighest(p)
		g.errors[i][likely]--
		g.norms[i] = dot(g.errors[i], g.errors[i]) * dot(features[i], features[i])
	}
	return g
}

// closer lowers the squared distances to those from a new center; the first center sets them.
func (g *gradients) closer(nearest []float64, center int, first bool) {
	inParts(len(nearest), func(from, to int) {
		for i := from; i < to; i++ {
			d := g.norms[i] + g.norms[center] - 2*dot(g.errors[i], g.errors[center])*dot(g.features[i], g.features[center])
			d = max(d, 0) // may be negative after rounding
			if i == center {
				d = 0
			}
			if first || d < nearest[i] {
				nearest[i] = d
			}
		}
	})
}

// byWeight draws an index with probabilities proportional to the weights, which are 0 for
// selected ones. If all are 0 it draws any other one.
func byWeight(weights []float64, chosen []int, random *rand.Rand) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	at := random.Float64() * total
	last := -1
	for i, w := range weights {
		if w <= 0 {
			continue
		}
		last = i
		if at -= w; at < 0 {
			break
		}
	}
	if last >= 0 {
		return last
	}
	taken := make([]bool, len(weights))
	for _, i := range chosen {
		taken[i] = true
	}
	var rest []int
	for i := range weights {
		if !taken[i] {
			rest = append(rest, i)
		}
	}
	return rest[random.IntN(len(rest))]
}

// Parameters of the article: the number of neighbors for typicality, the maximum number of
// clusters, and the minimum size of a cluster.
const (
	typicalNeighbors = 20
	maxClusters      = 500
	smallCluster     = 5
)

// TypiClust selects typical examples: it makes as many clusters as there will be labels, and
// from the largest clusters without a label it takes the example closest to its neighbors
// (Hacohen and others, Active Learning on a Budget: Opposite Strategies Suit High and Low
// Budgets, 2022). Use it for the first labels, when a model knows nothing yet. Examples are
// compared by features: the result of the function, or the input of the model's last layer, or
// without a model their values.
func TypiClust(features ...Features) Strategy { return typiClust(typicalNeighbors, features) }

func typiClust(neighbors int, features []Features) Strategy {
	return strategy{"TypiClust", func(ctx context.Context, c *Candidates, n int) ([]int, error) {
		return typical(ctx, c, features, neighbors, n)
	}}
}

func typical(ctx context.Context, c *Candidates, given []Features, neighbors, n int) ([]int, error) {
	rows, labeled, err := c.features(ctx, given)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(rows), labeled...)
	k := min(len(labeled)+n, maxClusters, len(all))
	of, err := clusters(ctx, all, k, c.random)
	if err != nil {
		return nil, err
	}
	groups := make([]group, k)
	for i, g := range of {
		if i < len(rows) {
			groups[g].open = append(groups[g].open, i)
		} else {
			groups[g].labeled++
		}
		groups[g].members = append(groups[g].members, i)
	}
	c.random.Shuffle(k, func(a, b int) { groups[a], groups[b] = groups[b], groups[a] })
	chosen := make([]int, 0, n)
	for len(chosen) < n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		g := next(groups)
		if g.typical == nil {
			g.rank(all, neighbors)
		}
		chosen = append(chosen, g.typical[0])
		g.typical, g.open = g.typical[1:], g.open[1:]
		g.labeled++
	}
	return chosen, nil
}

// group is a cluster.
type group struct {
	labeled int   // number of labeled or selected members
	members []int // all members
	open    []int // unlabeled members; only the length is used once typical is set
	typical []int // unlabeled members, the most typical first; nil until needed
}

// next returns the cluster to select from: the one with the fewest labels, then not a small
// one, then the largest.
func next(groups []group) *group {
	var best *group
	for i := range groups {
		g := &groups[i]
		if len(g.open) == 0 {
			continue
		}
		switch {
		case best == nil:
		case g.labeled != best.labeled:
			if g.labeled > best.labeled {
				continue
			}
		case (len(g.members) < smallCluster) != (len(best.members) < smallCluster):
			if len(g.members) < smallCluster {
				continue
			}
		case len(g.members) <= len(best.members):
			continue
		}
		best = g
	}
	return best
}

// rank sorts the unlabeled members by typicality: the inverse of the mean distance to the
// nearest neighbors in the cluster.
func (g *group) rank(rows [][]float32, neighbors int) {
	distance := meanDistances(rows, g.members, neighbors)
	g.typical = slices.Clone(g.open)
	slices.SortStableFunc(g.typical, func(a, b int) int { return cmp.Compare(distance[a], distance[b]) })
}

// meanDistances returns the mean distance of each member to its nearest neighbors in the
// cluster; nil for a single member.
func meanDistances(rows [][]float32, members []int, neighbors int) map[int]float64 {
	k := min(neighbors, len(members)-1)
	if k < 1 {
		return nil
	}
	found := make(map[int]float64, len(members))
	centered := aroundMean(rows, members)
	width := len(rows[0])
	norms := make([]float64, len(members))
	for a := range members {
		row := centered[a*width : (a+1)*width]
		norms[a] = dot(row, row)
	}
	means := make([]float64, len(members))
	x := tensor.New(centered, len(members), width)
	step := max(1, min(len(members), (1<<24)/len(members)))
	for from := 0; from < len(members); from += step {
		to := min(from+step, len(members))
		var products []float32
		tensor.NoGrad(func() { products = x.Slice(0, from, to).MatMul(x.T()).Data() })
		inParts(to-from, func(first, last int) {
			near := make([]float64, len(members))
			for a := first; a < last; a++ {
				for b := range members {
					near[b] = norms[from+a] + norms[b] - 2*float64(products[a*len(members)+b])
				}
				near[from+a] = math.Inf(1) // not its own neighbor
				means[from+a] = meanOfLowest(near, k)
			}
		})
	}
	for a, i := range members {
		found[i] = means[a]
	}
	return found
}

// aroundMean returns the rows minus their mean, concatenated: products of values close to zero
// lose less precision.
func aroundMean(rows [][]float32, members []int) []float32 {
	width := len(rows[0])
	mean := make([]float64, width)
	for _, i := range members {
		for d, v := range rows[i] {
			mean[d] += float64(v) / float64(len(members))
		}
	}
	centered := make([]float32, 0, len(members)*width)
	for _, i := range members {
		for d, v := range rows[i] {
			centered = append(centered, float32(float64(v)-mean[d]))
		}
	}
	return centered
}

// meanOfLowest returns the mean of the square roots of the k lowest squares. It reorders them.
func meanOfLowest(squares []float64, k int) float64 {
	heap := squares[:k]
	slices.Sort(heap)
	for _, v := range squares[k:] {
		if v >= heap[k-1] {
			continue
		}
		at, _ := slices.BinarySearch(heap, v)
		copy(heap[at+1:], heap[at:k-1])
		heap[at] = v
	}
	sum := 0.0
	for _, v := range heap {
		sum += math.Sqrt(max(v, 0))
	}
	return sum / float64(k)
}

const (
	maxRounds   = 25    // iterations of k-means
	maxSeeding  = 10000 // examples from which the initial centers are drawn
	chunk       = 4096  // rows of a matrix multiplication
	seedingRuns = 3     // runs, of which the best counts
)

// clusters divides rows into k groups by k-means with k-means++ (Arthur and Vassilvitskii,
// 2007), using the best of three runs. Groups are numbered from 0 to k-1; some may be empty.
func clusters(ctx context.Context, rows [][]float32, k int, random *rand.Rand) ([]int, error) {
	x, width := slices.Concat(rows...), len(rows[0])
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
			same := slices.Equal(next, of)
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

// initialCenters returns the initial centers: rows drawn with probabilities proportional to their
// squared distance from earlier centers.
func initialCenters(rows [][]float32, k int, random *rand.Rand) [][]float32 {
	some := random.Perm(len(rows))[:min(len(rows), max(maxSeeding, k))]
	chosen := []int{random.IntN(len(some))}
	nearest := slices.Repeat([]float64{math.Inf(1)}, len(some))
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
		c := tensor.New(slices.Concat(centers...), len(centers), width)
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
