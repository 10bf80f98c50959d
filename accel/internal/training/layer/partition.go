package layer

import "github.com/quernlab/quern/accel/tensor"

// Partition is a layer's part in tensor parallelism: each of Size ranks computes with the outputs of
// some columns of its weights, or adds up what it computes from some rows. Package parallel makes it.
type Partition struct {
	Rank, Size int
	// Rows makes a linear layer divide its inputs; otherwise it divides its outputs.
	Rows bool
	// Copy returns x, which all ranks have, for their different parts; its gradient is the sum of
	// those of all ranks. It is nil if the layer around this one does that.
	Copy func(x *tensor.Tensor) *tensor.Tensor
	// Sum returns the sum of x over all ranks, and passes its gradient on.
	Sum func(x *tensor.Tensor) *tensor.Tensor
}

// Partitioned is a layer that ranks can divide.
type Partitioned interface {
	// Partition makes the layer compute a part, once it has parameters. The caller replaces the
	// tensors by the rank's part of each.
	Partition(p *Partition) ([]Divided, error)
}

// Varied is a layer that draws random numbers. Between the parts of a divided layer each rank must draw others.
type Varied interface {
	// Vary makes the layer draw the random numbers of a rank; 0 is the default.
	Vary(rank int)
}

// Divided is a tensor of a layer, of which each rank has a part: that of each of Blocks blocks of
// equal size along a dimension.
type Divided struct {
	At        **tensor.Tensor
	Dimension int
	Blocks    int
}
