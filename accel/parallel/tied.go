package parallel

import (
	"context"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// A parameter that several stages of a pipeline use, such as the weight of an embedding and of the output layer, is on each of them. Their
// gradients are summed after the backward pass, so that the optimizers of all these stages make the same step (Megatron-LM;
// Narayanan et al., 2021).

// tied reports whether several stages have the parameter.
func (p *part) tied() bool { return len(p.stages) > 1 }

// on reports whether a stage has the tensor.
func (p *part) on(stage int) bool { return slices.Contains(p.stages, stage) }

// setAsideTied removes the gradients that earlier calls of Backward have accumulated and summed over the stages, and returns them.
func (d *distribution) setAsideTied() map[*part]*tensor.Tensor {
	before := map[*part]*tensor.Tensor{}
	for _, p := range d.local {
		if !p.tied() || p.shard == nil {
			continue
		}
		if g := p.shard.Grad(); g != nil {
			before[p] = g
			p.shard.ZeroGrad()
		}
	}
	return before
}

// sumTied sums the gradients of this Backward over the stages, and adds them to those from before. Stages without the parameter take
// part, because the ranks of a pipeline are a ring.
func (d *distribution) sumTied(ctx context.Context, before map[*part]*tensor.Tensor) (err error) {
	for _, p := range d.parts {
		if !p.tied() {
			continue
		}
		shape := p.tensor.Shape()
		if ranks := d.mesh.DP.Size(); ranks > 1 {
			from, to := p.elementsOf(d.mesh.DP.Rank(), ranks)
			if from == to {
				continue // on all stages
			}
			shape = []int{to - from}
		}
		tensor.NoGrad(func() { err = d.sumStages(ctx, p, shape, before[p]) })
		if err != nil {
			return err
		}
	}
	return nil
}

// sumStages is sumTied for one parameter, whose gradient on this rank has the given shape.
func (d *distribution) sumStages(ctx context.Context, p *part, shape []int, before *tensor.Tensor) error {
	var own *tensor.Tensor
	present := []float64{0}
	if p.shard != nil {
		if g := p.shard.Grad(); g != nil {
			own, present[0] = g.Clone(), 1
			g.Release()
			p.shard.ZeroGrad()
		}
		if before != nil {
			p.shard.SetGrad(before)
			before.Release()
		}
	}
	if err := d.mesh.PP.AllReduceFloat64(ctx, present, Sum); err != nil || present[0] == 0 {
		return err
	}
	if own == nil {
		zeros := tensor.Zeros(shape...)
		own = zeros.Cast(p.dtype)
		zeros.Release()
	}
	sum, err := d.mesh.PP.sumTensor(ctx, own)
	if err != nil {
		return err
	}
	if p.shard != nil {
		p.accumulate(sum, 1)
	}
	sum.Release()
	return nil
}
