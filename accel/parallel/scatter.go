package parallel

import (
	"context"
)

// Chunk returns the part of n values that is this rank's in [Group.ReduceScatter] and
// [Group.AllGatherInto]: the values with the indices from, …, to-1. Parts differ in length by at
// most one.
func (g *Group) Chunk(n int) (from, to int) { return g.chunk(n, g.Rank()) }

// ReduceScatter sums the values of all ranks, or computes their mean, and leaves each rank with
// the part of its [Group.Chunk], which it returns: a part of data, whose other values are
// undefined afterwards. All ranks must pass the same number of values. Each rank sends n(N-1)/N
// values, half of what [Group.AllReduce] sends; [Group.AllGatherInto] is the other half. It
// corresponds to torch.distributed's reduce_scatter_tensor.
func (g *Group) ReduceScatter(ctx context.Context, data []float32, how Reduction) (part []float32, err error) {
	return scatter(ctx, g, collective{kind: reduceScatterKind, count: len(data), how: how}, data)
}

// ReduceScatterFloat64 is [Group.ReduceScatter] for float64.
func (g *Group) ReduceScatterFloat64(ctx context.Context, data []float64, how Reduction) (part []float64, err error) {
	return scatter(ctx, g, collective{kind: reduceScatterFloat64, count: len(data), how: how}, data)
}

func scatter[T float32 | float64](ctx context.Context, g *Group, c collective, data []T) (part []T, err error) {
	from, to := g.Chunk(len(data))
	part = data[from:to:to]
	err = g.run(ctx, c, func() error {
		if err := g.start(c); err != nil {
			return err
		}
		if err := reduceScatter(g, data, 0); err != nil {
			return err
		}
		if c.how == Mean {
			divide(part, g.Size())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return part, nil
}

// AllGatherInto gives all ranks all parts of data, of which each rank has set that of its
// [Group.Chunk]. All ranks must pass the same number of values. It corresponds to
// torch.distributed's all_gather_into_tensor.
func (g *Group) AllGatherInto(ctx context.Context, data []float32) error {
	return g.allGatherBytes(ctx, bytesOf(data), 4)
}

// allGatherBytes is AllGatherInto for values of any type, of the given number of bytes each.
func (g *Group) allGatherBytes(ctx context.Context, data []byte, width int) error {
	c := collective{kind: allGatherInto, count: len(data) / width}
	return g.run(ctx, c, func() error {
		if err := g.start(c); err != nil {
			return err
		}
		return g.gatherChunks(data, width, 0)
	})
}
