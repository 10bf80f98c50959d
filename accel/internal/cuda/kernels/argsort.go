package kernels

import "github.com/quernlab/quern/accel/internal/engine/ir"

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

func init() {
	register(planArgSort)
}

// planArgSort computes the positions of the first K elements of each row in sorted order, int32. Equal elements keep their
// order, and NaN is the largest. The workspace has the positions between two passes of merging.
func planArgSort(p Planner, op ir.ArgSort, s ir.Step) Launcher {
	count, length := splitLast(s.In[0].Shape)
	v, descending := real(s.In[0].DType), flag(op.Descending)
	pass := 4 * count * length // bytes
	switch {
	case length > 2*argSortTile:
		p.NeedWorkspace(2 * pass)
	case length > argSortTile:
		p.NeedWorkspace(pass)
	}
	rows, n, k := uint64(count), uint64(length), uint64(op.K)
	return func(a Addresses) ([]Launch, error) {
		if count*op.K == 0 {
			return nil, nil
		}
		y, x := a.Out[0], a.In[0]
		width := 2
		for width < min(length, argSortTile) {
			width *= 2
		}
		to, other, stride := a.Work, a.Work+Pointer(pass), n
		if width >= length {
			to, stride = y, k
		}
		runs := ceil(count*ceil(length, width), argSortTile/width)
		out := []Launch{argSortRuns.launch(v, min(runs, maxBlocks), argSortRunsParams{to, x, rows, n, k, stride, uint32(width), descending})}
		for ; width < length; width *= 2 {
			from := to
			if to, other = other, from; 2*width >= length {
				to, stride = y, k
			}
			out = append(out, argSortMerge.launch(v, linear(count*length), argSortMergeParams{to, from, x, rows, n, k, stride, uint64(width), descending}))
		}
		return out, nil
	}
}
