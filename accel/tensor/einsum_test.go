package tensor

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// einsumEquations have the shapes of their operands and of torch.einsum's result.
var einsumEquations = []struct {
	equation string
	shapes   [][]int
	want     []int
}{
	{"ij,jk->ik", [][]int{{2, 3}, {3, 4}}, []int{2, 4}},
	{"ij,jk", [][]int{{2, 3}, {3, 4}}, []int{2, 4}},
	{"ba", [][]int{{2, 3}}, []int{3, 2}},
	{"ij->", [][]int{{2, 3}}, nil},
	{"ii", [][]int{{3, 3}}, nil},
	{"ii->i", [][]int{{3, 3}}, []int{3}},
	{"aibi->ba", [][]int{{2, 3, 4, 3}}, []int{4, 2}},
	{"iii->i", [][]int{{3, 3, 3}}, []int{3}},
	{"bhtd,bhsd->bhts", [][]int{{2, 3, 4, 5}, {2, 3, 6, 5}}, []int{2, 3, 4, 6}},
	{"bhts,bhsd->bthd", [][]int{{2, 3, 4, 6}, {2, 3, 6, 5}}, []int{2, 4, 3, 5}},
	{"i,j->ij", [][]int{{2}, {3}}, []int{2, 3}},
	{"i,i", [][]int{{4}, {4}}, nil},
	{"ij,ij->i", [][]int{{2, 3}, {2, 3}}, []int{2}},
	{"ij,ij->ji", [][]int{{2, 3}, {2, 3}}, []int{3, 2}},
	{"...ij,...jk->...ik", [][]int{{2, 1, 3, 4}, {5, 4, 2}}, []int{2, 5, 3, 2}},
	{"...ij,jk", [][]int{{2, 2, 3}, {3, 4}}, []int{2, 2, 4}},
	{"i...->...", [][]int{{2, 3, 4}}, []int{3, 4}},
	{"...->", [][]int{{2, 3}}, nil},
	{" i j , j k -> i k ", [][]int{{2, 3}, {1, 4}}, []int{2, 4}},
	{"ij,ij->ij", [][]int{{1, 3}, {2, 1}}, []int{2, 3}},
	{"ij,jk,kl->il", [][]int{{2, 3}, {3, 4}, {4, 2}}, []int{2, 2}},
	{"ij,k,jk->i", [][]int{{2, 3}, {4}, {3, 4}}, []int{2}},
	{"ia,ja,ka->ijk", [][]int{{2, 5}, {3, 5}, {4, 5}}, []int{2, 3, 4}},
	{"ij,kl->", [][]int{{2, 3}, {4, 2}}, nil},
	{"ij,jk->ik", [][]int{{2, 0}, {0, 3}}, []int{2, 3}},
	{"ij,jk->ik", [][]int{{0, 2}, {2, 3}}, []int{0, 3}},
	{",i->i", [][]int{{}, {3}}, []int{3}},
	{"Aa,aA->A", [][]int{{2, 3}, {3, 2}}, []int{2}},
}

// einsumRef sums over all values of all labels.
func einsumRef(equation string, in []array, want []int) array {
	var e einsum
	e.equation, e.sizes = equation, map[int]int{}
	left, right, arrow := strings.Cut(strings.ReplaceAll(equation, " ", ""), "->")
	dots := 0
	var terms [][]int
	for i, t := range strings.Split(left, ",") {
		own := len(in[i].shape) - len(strings.Replace(t, "...", "", 1))
		dots = max(dots, own)
		terms = append(terms, e.labels(t, own))
	}
	count := map[int]int{}
	var all []int
	for i, t := range terms {
		for d, label := range t {
			if count[label]++; count[label] == 1 {
				all = append(all, label)
			}
			e.sizes[label] = max(e.sizes[label], in[i].shape[d])
			if in[i].shape[d] == 0 {
				return newArray(want...)
			}
		}
	}
	out := e.labels(right, dots*strings.Count(right, "..."))
	if !arrow {
		for label := -dots; label < 'z'; label++ {
			if label < 0 || count[label] == 1 {
				out = append(out, label)
			}
		}
	}
	full := make([]int, len(all))
	for i, label := range all {
		full[i] = e.sizes[label]
	}
	y := newArray(want...)
	each(full, func(index []int) {
		value := map[int]int{}
		for i, label := range all {
			value[label] = index[i]
		}
		product := 1.
		for i, t := range terms {
			at := make([]int, len(t))
			for d, label := range t {
				at[d] = value[label]
			}
			product *= in[i].get(at...)
		}
		at := make([]int, len(out))
		for d, label := range out {
			at[d] = value[label]
		}
		y.data[y.at(at)] += product
	})
	return y
}

func TestEinsum(t *testing.T) {
	for i, row := range einsumEquations {
		t.Run(row.equation, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			var in []array
			for _, shape := range row.shapes {
				in = append(in, randomArray(r, -1, 1, shape...))
			}
			ref := func(in []array) array { return einsumRef(row.equation, in, row.want) }
			weight, slopes := numericalGradients(ref, in, r)
			for d, tolerance := range map[DType]float64{Float32: 2e-6, Float64: 1e-12, BFloat16: 3e-2} {
				leaves := make([]*Tensor, len(in))
				for k, a := range in {
					leaves[k] = Parameter(FromFloat64s(a.data, a.shape...).Cast(d))
				}
				y := Einsum(row.equation, leaves...)
				if y.DType() != d {
					t.Errorf("the result of %v is %v", d, y.DType())
				}
				compare(t, d.String(), y, ref(in), tolerance)
				if d == BFloat16 || y.Numel() == 0 {
					continue
				}
				y.Mul(FromFloat64s(weight.data, weight.shape...).Cast(d)).Sum().Backward()
				for k := range leaves {
					if len(in[k].data) > 0 {
						compareGradient(t, d.String()+", gradient", leaves[k].Grad(), slopes[k], max(1e-7, 5*tolerance))
					}
				}
			}
		})
	}
}
