package parallel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/training/architecture"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// ModelError says that a rank's model differs from that of rank 0.
type ModelError struct {
	Rank int   // whose model differs
	Err  error // the difference
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("parallel: the model of rank %d is not that of rank 0: %v", e.Rank, e.Err)
}

func (e *ModelError) Unwrap() error { return e.Err }

// described is the description of a tensor of rank 0; its bytes follow.
type described struct {
	Name      string
	Shape     []int
	DType     tensor.DType
	Trainable bool
}

// BroadcastModel copies the tensors of rank 0's model to all ranks; see [Gradients.Begin]. All ranks get
// the same error, a [*ModelError] of the first rank whose model differs.
func BroadcastModel(ctx context.Context, g *Group, model any) error {
	if err := requireGroup(ctx, g, "BroadcastModel"); err != nil {
		return err
	}
	if g.Size() == 1 {
		return nil
	}
	unused, err := g.Broadcast(ctx, 0, []byte(strings.Join(nn.UnusedLayers(model), ", ")))
	if err != nil {
		return err
	}
	if len(unused) > 0 {
		return fmt.Errorf("parallel: rank 0 has no parameters yet in layer %s, so the others cannot get them: run an input through the model first", unused)
	}
	tensors, err := BroadcastTensors(ctx, g, state(model))
	if err != nil {
		return err
	}
	var differs error
	if !g.First() {
		differs = copyState(model, tensors)
	}
	return g.firstError(ctx, differs)
}

// sameLayers compares the layers of the models, because layers without parameters are not in
// any tensor, and a layer that synchronizes over all ranks would wait for the others.
func sameLayers(ctx context.Context, g *Group, model any) error {
	if g.Size() == 1 {
		return nil
	}
	all, err := gatherJSON(ctx, g, architecture.Layers(model))
	if err != nil {
		return err
	}
	for r, layers := range all {
		if text := architecture.Difference(layers, all[0]); text != "" {
			return &ModelError{r, errors.New(text)}
		}
	}
	return nil
}

// firstError returns the error of the first rank that has one to all ranks.
func (g *Group) firstError(ctx context.Context, err error) error {
	all, failed := g.gatherErrors(ctx, err)
	if failed != nil {
		return failed
	}
	for r, text := range all {
		if r == g.Rank() && err != nil {
			return &ModelError{r, err}
		}
		if text != "" {
			return &ModelError{r, errors.New(text)}
		}
	}
	return nil
}

// agree returns an error on all ranks if one has an error: that of the first such rank, with its number. If all ranks have the same one,
// as for an invalid argument, they return it as it is. All ranks call it together.
func (g *Group) agree(ctx context.Context, err error) error {
	if g.Size() == 1 {
		return err
	}
	all, failed := g.gatherErrors(ctx, err)
	if failed != nil {
		return errors.Join(err, failed)
	}
	if err != nil && !slices.ContainsFunc(all, func(other string) bool { return other != err.Error() }) {
		return err
	}
	for r, text := range all {
		switch {
		case text == "":
		case r == g.Rank():
			return fmt.Errorf("rank %d: %w", r, err)
		default:
			return fmt.Errorf("rank %d: %s", r, text)
		}
	}
	return nil
}

// gatherErrors returns the texts of the errors of all ranks on all ranks, which call it together; "" for none.
func (g *Group) gatherErrors(ctx context.Context, mine error) ([]string, error) {
	text := ""
	if mine != nil {
		text = mine.Error()
	}
	all, err := g.AllGather(ctx, []byte(text))
	texts := make([]string, len(all))
	for r, t := range all {
		texts[r] = string(t)
	}
	return texts, err
}

// copyState copies the tensors of rank 0 to a model.
func copyState(model any, theirs []NamedTensor) error {
	mine := state(model)
	for i, t := range mine {
		if len(mine) != len(theirs) || t.Name != theirs[i].Name || !slices.Equal(t.Tensor.Shape(), theirs[i].Tensor.Shape()) {
			continue // SetState reports it in more detail
		}
		switch other := theirs[i]; {
		case t.Tensor.RequiresGrad() != other.Trainable:
			return fmt.Errorf("%s is trained on one rank and frozen on the other", t.Name)
		case t.Tensor.DType() != other.Tensor.DType():
			return fmt.Errorf("%s is %v, but %v on rank 0", t.Name, t.Tensor.DType(), other.Tensor.DType())
		}
	}
	values := map[string]*tensor.Tensor{}
	for _, t := range theirs {
		values[t.Name] = t.Tensor
	}
	return nn.SetState(model, values)
}

// NamedTensor is a tensor with a name.
type NamedTensor struct {
	Name      string         // in the model, such as "0.weight"
	Tensor    *tensor.Tensor // a parameter or other state of the model
	Trainable bool           // whether an optimizer updates it
}

func state(model any) []NamedTensor {
	var all []NamedTensor
	for _, p := range nn.State(model) {
		all = append(all, NamedTensor{p.Name, p.Tensor, p.RequiresGrad()})
	}
	return all
}

// BroadcastTensors copies the tensors of rank 0 to all ranks; those of the others are ignored.
func BroadcastTensors(ctx context.Context, g *Group, tensors []NamedTensor) ([]NamedTensor, error) {
	if err := requireGroup(ctx, g, "BroadcastTensors"); err != nil {
		return nil, err
	}
	var header []described
	if g.First() {
		for _, t := range tensors {
			header = append(header, described{t.Name, t.Tensor.Shape(), t.Tensor.DType(), t.Trainable})
		}
	}
	all, err := gatherJSON(ctx, g, header)
	if err != nil {
		return nil, err
	}
	shared := make([]NamedTensor, len(all[0]))
	for i, d := range all[0] {
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
			shared[i] = NamedTensor{d.Name, tensor.FromRaw(d.DType, raw, d.Shape...), d.Trainable}
		}
	}
	return shared, nil
}
