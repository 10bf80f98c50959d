package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// layout is a tensor's dimensions and strides, in elements, after merging dimensions that
// one stride covers.
type layout struct {
	Rank, Unused uint32
	Shape        [8]uint64
	Stride       [8]int64
}

// maxRank is the maximum number of dimensions of a layout after merging.
const maxRank = 8

func newLayout(l ir.Layout) (layout, error) {
	l = l.Squeeze()
	out := layout{Rank: uint32(len(l.Shape))}
	if len(l.Shape) > maxRank {
		return out, fmt.Errorf("a layout of %d dimensions that cannot be merged; CUDA kernels support at most %d: make the tensor contiguous in two steps", len(l.Shape), maxRank)
	}
	for i, n := range l.Shape {
		out.Shape[i], out.Stride[i] = uint64(n), int64(l.Stride[i])
	}
	return out, nil
}
