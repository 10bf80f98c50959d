package parallel

import (
	"context"
	"fmt"
	"unsafe"
)

// Reduction is how the values of the ranks are combined.
type Reduction uint8

// The reductions.
const (
	Sum Reduction = iota
	Mean
)

// String returns the name of the constant.
func (r Reduction) String() string {
	switch r {
	case Sum:
		return "Sum"
	case Mean:
		return "Mean"
	}
	return fmt.Sprintf("Reduction(%d)", uint8(r))
}

// AllReduce replaces each of n values by the sum or the mean over all ranks. All ranks must
// pass the same number of values, and get bit-identical results.
//
// Large arrays use the ring algorithm: the values travel twice around the ring in as many
// chunks as there are ranks and are summed on the first round (Patarasuk and Yuan, 2009), so
// each rank sends 2n(N-1)/N values. Small arrays are passed around the ring as a whole. With [MPI],
// MPI_Allreduce sums large arrays.
func (g *Group) AllReduce(ctx context.Context, data []float32, how Reduction) error {
	return reduce(ctx, g, collective{kind: allReduce, count: len(data), how: how}, data)
}

// AllReduceFloat64 is [Group.AllReduce] for float64.
func (g *Group) AllReduceFloat64(ctx context.Context, data []float64, how Reduction) error {
	return reduce(ctx, g, collective{kind: allReduceFloat64, count: len(data), how: how}, data)
}

func reduce[T float32 | float64](ctx context.Context, g *Group, c collective, data []T) error {
	return g.run(ctx, c, func() error {
		var zero T
		width := int(unsafe.Sizeof(zero))
		if len(data)*width+headerBytes <= smallBytes {
			return reduceSmall(g, c, data)
		}
		if err := g.start(c); err != nil {
			return err
		}
		if g.mpi.world != nil {
			if err := sumByMPI(g, data); err != nil {
				return err
			}
			if c.how == Mean {
				divide(data, g.Size())
			}
			return nil
		}
		if err := reduceScatter(g, data, 1); err != nil {
			return err
		}
		if c.how == Mean {
			from, to := g.chunk(len(data), g.Rank()+1)
			divide(data[from:to], g.Size())
		}
		return g.gatherChunks(bytesOf(data), width, 1)
	})
}

// reduceSmall passes the values of all ranks to all ranks, which sum them in the order of the
// ranks.
func reduceSmall[T float32 | float64](g *Group, c collective, data []T) error {
	c.sequence = g.sequence
	mine := bytesOf(data)
	size, length := g.Size(), len(mine)
	if cap(g.buffers.small) < size*length {
		g.buffers.small = make([]byte, size*length)
	}
	blocks := g.buffers.small[:size*length]
	copy(blocks[g.Rank()*length:], mine)
	// The description of the call, which the ranks compare, travels with the first block.
	if err := g.write(append(c.appendTo(make([]byte, 0, headerBytes+length)), mine...)); err != nil {
		return err
	}
	if err := g.checkSameCall(c); err != nil {
		return err
	}
	for s := range size - 1 {
		theirs := (g.Rank() - s - 1 + size) % size
		block := blocks[theirs*length : (theirs+1)*length]
		if err := g.read(block); err != nil {
			return err
		}
		if s < size-2 {
			if err := g.write(block); err != nil {
				return err
			}
		}
	}
	for r := range size {
		for i, v := range numbersOf[T](blocks[r*length : (r+1)*length]) {
			if r == 0 {
				data[i] = v
			} else {
				data[i] += v
			}
		}
	}
	if c.how == Mean {
		divide(data, size)
	}
	return nil
}

func divide[T float32 | float64](data []T, by int) {
	for i := range data {
		data[i] /= T(by)
	}
}
