package tensor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// composers returns the names of the ops that state a composition.
func composers() (names []string) {
	for _, op := range ir.Table() {
		if _, ok := op.(ir.Composer); ok {
			names = append(names, op.Name())
		}
	}
	return names
}

// compositionSizes are the sizes of TestCompositions.
var compositionSizes = [][3]int{{2, 3, 4}, {1, 1, 1}, {5, 1, 3}, {9, 13, 5}, {0, 3, 2}, {3, 0, 2}, {2, 3, 0}}

// TestCompositions compares the kernels of the device with the compositions of their ops: each row whose ops state
// some, and its gradient, on random inputs of several sizes, layouts and element types. It fails if an op
// that states a composition is in no row.
func TestCompositions(t *testing.T) {
	untested := composers()
	for _, row := range opRows {
		t.Run(row.name, func(t *testing.T) {
			for i, s := range compositionSizes {
				if row.nonEmpty && s[0]*s[1]*s[2] == 0 {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), 23))
				var in []array
				for _, shape := range row.shapes(s[0], s[1], s[2]) {
					in = append(in, randomArray(r, row.low, row.high, shape...))
				}
				weight := randomArray(r, -1, 1, row.ref(in).shape...)
				for _, l := range layoutsOf(s) {
					for d, tolerance := range map[DType]float64{Float32: 2e-4, Float64: 1e-10} {
						var names []string
						kernels := evaluateAll(row, in, l, d, weight, &names)
						if !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(composers(), n) }) {
							return
						}
						untested = slices.DeleteFunc(untested, func(n string) bool { return slices.Contains(names, n) })
						setComposed(true)
						composed := evaluateAll(row, in, l, d, weight, nil)
						setComposed(false)
						for k, y := range composed {
							want := array{shape: kernels[k].Shape(), data: kernels[k].Float64s()}
							compare(t, fmt.Sprintf("%s, sizes %v, %s, result %d", l.name, s, d, k), y, want, tolerance)
						}
					}
				}
			}
		})
	}
	if !t.Failed() && len(untested) > 0 {
		t.Errorf("no row records %v", untested)
	}
}

func setComposed(on bool) { locked(func(r *ir.Recorder) { r.Composed(on) }) }

// evaluateAll returns the result of an op and the gradients of its inputs, for a given gradient of the result. It
// sets names to those of the ops.
func evaluateAll(row opRow, in []array, l layout, d DType, weight array, names *[]string) []*Tensor {
	var leaves, args, all []*Tensor
	for _, a := range in {
		leaf, x := l.lay(a)
		if d == Float64 {
			leaf = Parameter(leaf.Detach().Cast(Float64))
			x = l.input(leaf, len(a.shape))
		}
		leaves, args = append(leaves, leaf), append(args, x)
	}
	Flush()
	y := row.f(args)
	all = append(all, y)
	if !row.noGrad {
		y.Mul(FromFloat64s(weight.data, weight.shape...).Cast(y.DType())).Sum().Backward()
		for _, leaf := range leaves {
			if g := leaf.Grad(); g != nil {
				all = append(all, g)
			}
		}
	}
	if names != nil {
		locked(func(r *ir.Recorder) { *names = r.Recorded() })
	}
	return all
}
