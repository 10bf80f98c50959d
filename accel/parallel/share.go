package parallel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// ModelError says that a rank's model is not that of rank 0.
type ModelError struct {
	Rank int
	Err  error // what differs
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("parallel: the model of rank %d is not that of rank 0: %v", e.Rank, e.Err)
}

func (e *ModelError) Unwrap() error { return e.Err }

// described is a tensor as rank 0 tells of it; its bytes follow.
type described struct {
	Name      string
	Shape     []int
	DType     tensor.DType
	Trainable bool
}

// Share gives all ranks the tensors that the model of rank 0 has; see
// [Gradients.Begin]. All ranks get the same error, a [*ModelError] of the first whose
// model differs.
func Share(ctx context.Context, g *Group, model any) error {
	if g.Size() == 1 {
		return nil
	}
	tensors, err := ShareTensors(ctx, g, state(model))
	if err != nil {
		return err
	}
	var differs error
	if !g.First() {
		differs = fits(model, tensors)
	}
	return g.agree0(ctx, differs)
}

// agree0 gives all ranks the error of the first that has one.
func (g *Group) agree0(ctx context.Context, err error) error {
	text := ""
	if err != nil {
		text = err.Error()
	}
	all, failed := g.AllGather(ctx, []byte(text))
	if failed != nil {
		return failed
	}
	for r, t := range all {
		if r == g.Rank() && err != nil {
			return &ModelError{r, err}
		}
		if len(t) > 0 {
			return &ModelError{r, fmt.Errorf("%s", t)}
		}
	}
	return nil
}

// fits gives a model the tensors of rank 0.
func fits(model any, theirs []Named) error {
	mine := state(model)
	for i, t := range mine {
		if i < len(theirs) && len(mine) == len(theirs) && t.Name == theirs[i].Name && slices.Equal(t.Tensor.Shape(), theirs[i].Tensor.Shape()) && t.Tensor.RequiresGrad() != theirs[i].Trainable {
			return fmt.Errorf("%s is trained on one of them and frozen on the other", t.Name)
		}
	}
	values := map[string]*tensor.Tensor{}
	for _, t := range theirs {
		values[t.Name] = t.Tensor
	}
	return nn.SetState(model, values)
}

// Named is a tensor with a name.
type Named struct {
	Name      string
	Tensor    *tensor.Tensor
	Trainable bool
}

func state(model any) []Named {
	var all []Named
	for _, p := range nn.State(model) {
		all = append(all, Named{p.Name, p.Tensor, p.RequiresGrad()})
	}
	return all
}

// ShareTensors gives all ranks the tensors that rank 0 has; those of the others are not
// looked at.
func ShareTensors(ctx context.Context, g *Group, tensors []Named) ([]Named, error) {
	var header []described
	if g.First() {
		for _, t := range tensors {
			header = append(header, described{t.Name, t.Tensor.Shape(), t.Tensor.DType(), t.Trainable})
		}
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("parallel: share tensors: %w", err)
	}
	if text, err = g.Broadcast(ctx, 0, text); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &header); err != nil {
		return nil, fmt.Errorf("parallel: share tensors: %w", err)
	}
	shared := make([]Named, len(header))
	for i, d := range header {
		var raw []byte
		if g.First() {
			raw = tensors[i].Tensor.Raw()
		}
		if raw, err = g.Broadcast(ctx, 0, raw); err != nil {
			return nil, err
		}
		if g.First() {
			shared[i] = tensors[i]
		} else {
			shared[i] = Named{d.Name, tensor.FromRaw(d.DType, raw, d.Shape...), d.Trainable}
		}
	}
	return shared, nil
}
