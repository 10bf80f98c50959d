package accel

import (
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/tensor"
)

// predicted is the form of a rank's outputs; it has none where there are fewer examples
// than ranks.
type predicted struct {
	Shape []int
	DType tensor.DType
}

// onRanks computes the examples of a set on all ranks, each a stretch of them.
func (p *predicting) onRanks(r *dataParallel, set *data.Dataset) (y *Tensor, err error) {
	returned := false
	defer func() { r.leave("the prediction", returned) }()
	y, err = p.stretches(r, set)
	returned = true
	return y, err
}

func (p *predicting) stretches(r *dataParallel, set *data.Dataset) (*Tensor, error) {
	if err := r.compareModels(r.user, p.model, set); err != nil {
		return nil, err
	}
	var mine predicted
	var raw []byte
	err := r.together(func() error {
		rank, size := r.group.Rank(), r.group.Size()
		var stretch []int
		for i := rank * set.Len() / size; i < (rank+1)*set.Len()/size; i++ {
			stretch = append(stretch, i)
		}
		if p.all = len(stretch); p.all == 0 {
			return nil
		}
		part, err := set.Subset(stretch)
		if err != nil {
			return err
		}
		y, err := p.runSet(r.user, part)
		if err == nil {
			mine, raw = predicted{y.Shape(), y.DType()}, y.Raw()
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
	var parts []*Tensor
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
