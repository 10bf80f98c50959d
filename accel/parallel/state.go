package parallel

import (
	"context"
	"maps"
	"slices"

	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// FullState returns all tensors of the whole model by name, as nn.State has them, gathered from all
// ranks, which must call it together. Each rank gets all of them, and needs the memory for that.
func (m *DistributedModel) FullState(ctx context.Context) (map[string]*tensor.Tensor, error) {
	return m.distribution().wholeOfAll(ctx, m.distribution().modelTensors())
}

// GatherState returns the state of the whole model's optimizer, from that of this rank's optimizer, which has the state of the Parts; or
// the averages of all parameters, from optim.State{Tensors: average.State()} of the Parts. All ranks call it together, and each gets the
// whole state, also for a checkpoint of another kind than [DistributedModel.Save] writes:
//
//	state, err := shared.GatherState(ctx, opt.State())
func (m *DistributedModel) GatherState(ctx context.Context, mine optim.State) (whole optim.State, err error) {
	d := m.distribution()
	tensors, updates, err := d.union(ctx, mine)
	if err != nil {
		return whole, err
	}
	whole = optim.State{Steps: mine.Steps, Updates: updates}
	whole.Tensors, err = d.wholeOfAll(ctx, tensors)
	return whole, err
}

// DivideState is the reverse of [DistributedModel.GatherState]: it returns what the optimizer of this rank's Parts has of a whole state,
// for SetState. The state may come from one process, or from another number of ranks.
func (m *DistributedModel) DivideState(whole optim.State) (mine optim.State) {
	mine = optim.State{Steps: whole.Steps, Updates: map[string]int{}, Tensors: map[string]*tensor.Tensor{}}
	d := m.distribution()
	for _, p := range d.local {
		if p.shard == nil {
			continue
		}
		if n, ok := whole.Updates[p.name]; ok {
			mine.Updates[p.name] = n
		}
		for _, suffix := range stateSuffixes {
			if t, ok := whole.Tensors[p.name+suffix]; ok && (suffix == "" || !d.has(p.name+suffix)) {
				mine.Tensors[p.name+suffix] = p.own(t)
			}
		}
	}
	return mine
}

// stateSuffixes are what the names of tensors of a state have behind the name of their parameter: nothing for an average.
var stateSuffixes = []string{"", ".first", ".second"}

// union returns the tensors of the optimizer's state that any rank has, in the order of the parameters, and how often each parameter was
// updated.
func (d *distribution) union(ctx context.Context, mine optim.State) (all []named, updates map[string]int, err error) {
	type state struct {
		Types   map[string]tensor.DType
		Updates map[string]int
	}
	own := state{map[string]tensor.DType{}, mine.Updates}
	for name, t := range mine.Tensors {
		own.Types[name] = t.DType()
	}
	states, err := gatherJSON(ctx, d.mesh.Group, own)
	if err != nil {
		return nil, nil, err
	}
	types, updates := map[string]tensor.DType{}, map[string]int{}
	for _, s := range states {
		maps.Copy(types, s.Types)
		maps.Copy(updates, s.Updates)
	}
	for _, p := range d.parts {
		for _, suffix := range stateSuffixes {
			name := p.name + suffix
			if dtype, ok := types[name]; ok && (suffix == "" || !d.has(name)) {
				all = append(all, named{name, p, mine.Tensors[name], dtype})
			}
		}
	}
	return all, updates, nil
}

// has reports whether the model has a tensor of a name.
func (d *distribution) has(name string) bool {
	return slices.ContainsFunc(d.parts, func(p *part) bool { return p.name == name })
}

// wholeOfAll gathers tensors.
func (d *distribution) wholeOfAll(ctx context.Context, tensors []named) (map[string]*tensor.Tensor, error) {
	all := map[string]*tensor.Tensor{}
	for _, t := range tensors {
		whole, err := d.wholeOf(ctx, t.part, t.mine, t.dtype)
		if err != nil {
			return nil, err
		}
		all[t.name] = whole
	}
	return all, nil
}

// own returns this rank's part of a tensor that is divided as the parameter.
func (p *part) own(whole *tensor.Tensor) *tensor.Tensor {
	raw, shape, size := whole.Raw(), p.whole, whole.DType().Size()
	if p.cut != nil {
		raw, shape = p.cut.of(raw, p.whole, size), p.cut.shape(p.whole)
	}
	if p.trained && p.sharded() {
		raw, shape = raw[p.from*size:p.to*size], []int{p.to - p.from}
	}
	return tensor.FromRaw(whole.DType(), raw, shape...)
}
