package active

import (
	"context"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

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
func TypiClust(features ...Features) Strategy {
	return typiClust{optionalFeatures(features), typicalNeighbors}
}

type typiClust struct {
	features  Features
	neighbors int
}

func (s typiClust) Select(ctx context.Context, c *Candidates, n int) ([]int, error) {
	rows, labeled, err := c.features(ctx, s.features)
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
		groups[g].size++
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
			g.rank(all, s.neighbors)
		}
		chosen = append(chosen, g.typical[0])
		g.typical, g.open = g.typical[1:], g.open[1:]
		g.labeled++
	}
	return chosen, nil
}

func (typiClust) String() string { return "TypiClust" }

// group is a cluster.
type group struct {
	size    int
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
		case (g.size < smallCluster) != (best.size < smallCluster):
			if g.size < smallCluster {
				continue
			}
		case g.size <= best.size:
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
	slices.SortStableFunc(g.typical, func(a, b int) int {
		switch {
		case distance[a] < distance[b]:
			return -1
		case distance[a] > distance[b]:
			return 1
		}
		return 0
	})
}

// meanDistances returns the mean distance of each member to its nearest neighbors in the
// cluster.
func meanDistances(rows [][]float32, members []int, neighbors int) map[int]float64 {
	k := min(neighbors, len(members)-1)
	found := make(map[int]float64, len(members))
	if k < 1 {
		for _, i := range members {
			found[i] = 0
		}
		return found
	}
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
