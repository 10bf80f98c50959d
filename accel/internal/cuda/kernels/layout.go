package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/ir"
)

// layout is a tensor's dimensions and strides in elements, joined where one
// stride walks both.
type layout struct {
	Rank, Unused uint32
	Shape        [8]uint64
	Stride       [8]int64
}

// maxRank is how many dimensions a layout may have once neighbours are joined.
const maxRank = 8

func newLayout(l ir.Layout) (layout, error) {
	l = l.Squeeze()
	out := layout{Rank: uint32(len(l.Shape))}
	if len(l.Shape) > maxRank {
		return out, fmt.Errorf("a layout of %d dimensions that cannot be joined; at most %d are possible on a GPU: make the tensor contiguous in two steps", len(l.Shape), maxRank)
	}
	for i, n := range l.Shape {
		out.Shape[i], out.Stride[i] = uint64(n), int64(l.Stride[i])
	}
	return out, nil
}
