package loop

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/tensor"
)

// Dataset returns the output of the model for the examples of a data set, which the ranks of the group compute together.
func (p *Prediction) Dataset(ctx context.Context, set *data.Dataset) (*tensor.Tensor, error) {
	p.total = set.Len()
	if err := p.checkColumns(set); err != nil {
		return nil, Reject(ctx, p.group, err)
	}
	if r, ok := newProcesses(ctx, p.group).(*ranks); ok {
		return p.runOnRanks(r, set)
	}
	return p.runSet(ctx, set)
}

// outputHeader describes the outputs of a rank; the shape is nil if the rank has no examples.
type outputHeader struct {
	Shape []int
	DType tensor.DType
}

// runOnRanks computes the examples of a data set on all ranks, a contiguous range on each.
func (p *Prediction) runOnRanks(r *ranks, set *data.Dataset) (y *tensor.Tensor, err error) {
	returned := false
	defer func() { r.release("the prediction", returned) }()
	y, err = p.runRange(r, set)
	returned = true
	return y, err
}

func (p *Prediction) runRange(r *ranks, set *data.Dataset) (*tensor.Tensor, error) {
	if err := r.compareModels(r.fitContext, p.model, set); err != nil {
		return nil, err
	}
	var mine outputHeader
	var raw []byte
	err := r.runOnAll(func() error {
		rank, size := r.group.Rank(), r.group.Size()
		var stretch []int
		for i := rank * set.Len() / size; i < (rank+1)*set.Len()/size; i++ {
			stretch = append(stretch, i)
		}
		if p.total = len(stretch); p.total == 0 {
			return nil
		}
		part, err := set.Subset(stretch)
		if err != nil {
			return err
		}
		y, err := p.runSet(r.fitContext, part)
		if example := (*data.ExampleError)(nil); errors.As(err, &example) {
			example.Example += stretch[0]
		}
		if err == nil {
			mine, raw = outputHeader{y.Shape(), y.DType()}, y.Raw()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	forms, err := gather(r, mine)
	if err != nil {
		return nil, err
	}
	all, err := r.group.AllGather(r.ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("accel: PredictDataset: %w", err)
	}
	var parts []*tensor.Tensor
	for rank, f := range forms {
		if f.Shape != nil {
			parts = append(parts, tensor.FromRaw(f.DType, all[rank], f.Shape...))
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return tensor.Concat(0, parts...), nil
}
