package kernels

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type argSortRunsParams struct {
	Y, X              Pointer
	Rows, N, K        uint64
	Stride            uint64
	Width, Descending uint32
}

type argSortMergeParams struct {
	Y, Sorted, X  Pointer
	Rows, N, K    uint64
	Stride, Width uint64
	Descending    uint32
}

var (
	argSortRuns  = declare[argSortRunsParams]("argsort", "argsort_runs", reals, 256)
	argSortMerge = declare[argSortMergeParams]("argsort", "argsort_merge", reals, 256)
)

// argSortTile is the number of elements that a block sorts in shared memory.
const argSortTile = 2048

// ArgSort computes the positions of the first K elements of each row of x [Rows, N] in sorted
// order, int32. Equal elements keep their order, and NaN is the largest.
type ArgSort struct {
	DType      tensortype.DType
	Rows, N, K int
	Descending bool
}

// Workspace returns the size of the workspace: the positions between two passes of merging.
func (o ArgSort) Workspace() int {
	switch {
	case o.N <= argSortTile:
		return 0
	case o.N <= 2*argSortTile:
		return 4 * o.Rows * o.N
	}
	return 8 * o.Rows * o.N
}

// Launches computes y [Rows, K] from x.
func (o ArgSort) Launches(y, x, work Pointer) []Launch {
	if o.Rows*o.K == 0 {
		return nil
	}
	rows, n, k := uint64(o.Rows), uint64(o.N), uint64(o.K)
	width := 2
	for width < min(o.N, argSortTile) {
		width *= 2
	}
	to, other, stride := work, work+Pointer(4*o.Rows*o.N), n
	if width >= o.N {
		to, stride = y, k
	}
	runs := ceil(o.Rows*ceil(o.N, width), argSortTile/width)
	out := []Launch{argSortRuns.launch(real(o.DType), min(runs, maxBlocks), argSortRunsParams{to, x, rows, n, k, stride, uint32(width), flag(o.Descending)})}
	for ; width < o.N; width *= 2 {
		from := to
		if to, other = other, from; 2*width >= o.N {
			to, stride = y, k
		}
		out = append(out, argSortMerge.launch(real(o.DType), linear(o.Rows*o.N), argSortMergeParams{to, from, x, rows, n, k, stride, uint64(width), flag(o.Descending)}))
	}
	return out
}

func init() {
	register(planArgSort)
}

func planArgSort(p Planner, op ir.ArgSort, s ir.Step) Launcher {
	o := ArgSort{DType: s.In[0].DType, K: op.K, Descending: op.Descending}
	o.Rows, o.N = splitLast(s.In[0].Shape)
	p.NeedWorkspace(o.Workspace())
	return func(a Addresses) ([]Launch, error) { return o.Launches(a.Out[0], a.In[0], a.Work), nil }
}
