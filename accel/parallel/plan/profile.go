package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
)

// FromProfile returns the costs of a model from a profile of its training steps, with the number of examples of a step:
// a block for each layer, with its measured times and the results of its ops as activations.
//
//	report, err := prof.Run(ctx, step)
//	model, err := plan.FromProfile(report, net, 64)
//
// The times hold for the profiled device, and for micro-batches like the profiled one. What the host did between the ops is distributed over
// them. A pipeline can have as many stages as the model has modules in an nn.Sequential; tensor parallelism cannot divide the blocks.
//
// The steps must not exchange anything with other ranks, since a prediction adds that: call loss.Backward, not
// [parallel.Gradients.Backward]. Ranks that share a machine also share its caches and the bandwidth of its memory: let as many of them profile
// at the same time as will train, or at least two for each core, and use the report of one.
func FromProfile(report *prof.Report, model nn.Module, examples int) (Model, error) {
	switch {
	case report == nil || len(report.Steps) == 0:
		return Model{}, fmt.Errorf("plan: the profile has no steps: check the error of prof.Run")
	case examples < 1:
		return Model{}, fmt.Errorf("plan: a step has %d examples: it needs at least 1", examples)
	case slices.ContainsFunc(report.Host, exchanges):
		return Model{}, fmt.Errorf("plan: the profiled steps exchange data with other ranks, which a prediction adds to them: profile steps that call loss.Backward, without accel.DataParallel")
	}
	m := Model{Precision: FP32(), Modules: modules(model)}
	p := profiled{report: report, each: 1 / float64(examples*len(report.Steps))}
	ops := 0.0
	for _, o := range report.Ops {
		ops += (o.End - o.Begin).Seconds()
	}
	var steps []float64
	for _, s := range report.Steps {
		steps = append(steps, (s.End - s.Begin).Seconds())
	}
	if ops == 0 {
		return Model{}, fmt.Errorf("plan: the profile has no ops")
	}
	overhead := median(steps) * float64(len(steps)) / ops
	for _, phase := range []prof.Phase{prof.Forward, prof.Backward, prof.Update} {
		for _, o := range report.Ops {
			if o.Phase == phase {
				p.add(&m, o, overhead)
			}
		}
	}
	if len(m.Blocks) == 0 {
		return Model{}, fmt.Errorf("plan: the profile has no forward pass")
	}
	for _, parameter := range nn.NamedParameters(model) {
		b := &m.Blocks[0]
		layer := parameter.Name[:max(0, strings.LastIndexByte(parameter.Name, '.'))]
		if i := slices.IndexFunc(m.Blocks, func(b Block) bool { return strings.Split(b.Name, " ")[0] == layer }); i >= 0 {
			b = &m.Blocks[i]
		}
		b.Parameters += float64(parameter.Tensor.Numel())
	}
	return m, nil
}

// modules returns the number of modules that a pipeline of [parallel.Distribute] can divide the model into.
func modules(m nn.Module) (n int) {
	s, ok := m.(*nn.SequentialLayer)
	if !ok {
		return 1
	}
	for _, l := range s.Layers() {
		n += modules(l)
	}
	return n
}

// exchanges reports whether a host event is communication with other ranks.
func exchanges(e prof.HostEvent) bool {
	return e.Kind == prof.CommunicationWait || e.Kind == prof.Communicating
}

// profiled adds ops of a profile to a model.
type profiled struct {
	report *prof.Report
	each   float64 // by what sums over the profile are multiplied, to get the mean of an example
}

func (p profiled) add(m *Model, o prof.Op, overhead float64) {
	seconds := (o.End - o.Begin).Seconds() * overhead
	if o.Phase == prof.Update {
		m.Update += seconds / float64(len(p.report.Steps))
		return
	}
	i := slices.IndexFunc(m.Blocks, func(b Block) bool { return b.Name == o.Layer })
	if i < 0 && (o.Phase == prof.Forward && o.Layer != "" || len(m.Blocks) == 0) {
		i = len(m.Blocks)
		m.Blocks = append(m.Blocks, Block{Name: o.Layer})
	}
	if i < 0 { // the loss, and layers that only the backward pass names
		i = len(m.Blocks) - 1
	}
	b := &m.Blocks[i]
	if o.Phase == prof.Backward {
		b.Backward.Seconds += seconds * p.each
		return
	}
	b.Forward.Seconds += seconds * p.each
	b.Kept.Whole += float64(o.ResultBytes) * p.each
	b.Output = float64(o.ResultBytes) * p.each * float64(len(p.report.Steps))
}

// linkBytes are the sizes that MeasureLink sums: mostly latency, and mostly bytes.
var linkBytes = [2]int{1 << 10, 16 << 20}

// linkTimes are the seconds of the sums of linkBytes, and of an exchange of gradients with as many bytes as the last sum.
type linkTimes [len(linkBytes) + 1]float64

// MeasureLink measures the link between the ranks of a group, all of which must call it: from the times of sums of few and of many
// values over the ring, and of an exchange of gradients, which also copies them. All get the same result.
func MeasureLink(ctx context.Context, g *parallel.Group) (Link, error) {
	if err := interrupt.RequireContext(ctx, "plan: MeasureLink"); err != nil {
		return Link{}, err
	}
	if g == nil {
		return Link{}, errors.New("plan: MeasureLink: the group is nil: check the error of parallel.Join")
	}
	begin := time.Now()
	return measureLink(ctx, g, func() float64 { return time.Since(begin).Seconds() })
}

// measureLink is MeasureLink with a clock that returns seconds.
func measureLink(ctx context.Context, g *parallel.Group, clock func() float64) (link Link, err error) {
	if g.Size() == 1 {
		return Link{}, fmt.Errorf("plan: a group of one rank has no link to measure")
	}
	defer nn.Catch(&err)
	few, many := make([]float32, linkBytes[0]/4), make([]float32, linkBytes[1]/4)
	var parameters []*tensor.Tensor
	for range 4 { // in one bucket
		p := tensor.Parameter(tensor.Zeros(len(many) / 4))
		p.SetGrad(tensor.Zeros(len(many) / 4))
		parameters = append(parameters, p)
	}
	gradients := parallel.NewGradients(g, parameters)
	work := [len(linkTimes{})]func() error{
		func() error { return g.AllReduce(ctx, few, parallel.Sum) },
		func() error { return g.AllReduce(ctx, many, parallel.Sum) },
		func() error {
			_, err := gradients.Exchange(ctx, parallel.Exchange{Backward: func() {}})
			tensor.Synchronize()
			return err
		},
	}
	const repeats = 9
	var times [len(work)][]float64
	for k := range repeats + 2 {
		for i, do := range work {
			begin := clock()
			if err := do(); err != nil {
				return Link{}, err
			}
			if k >= 2 { // connections and buffers grow at first
				times[i] = append(times[i], clock()-begin)
			}
		}
	}
	var medians linkTimes
	for i, t := range times {
		medians[i] = median(t)
	}
	for _, p := range parameters {
		p.ZeroGrad()
		p.Release()
	}
	if err := g.AllReduceFloat64(ctx, medians[:], parallel.Mean); err != nil {
		return Link{}, err
	}
	return linkOf(g.Size(), medians), nil
}

// median returns the middle one of values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// linkOf returns a link by times on n ranks. A sum takes those of group.allReduce: 2·(n-1)/n·(n·latency + bytes/bandwidth).
func linkOf(n int, seconds linkTimes) Link {
	ranks := float64(n)
	link := Link{Bandwidth: 2 * (ranks - 1) / ranks * float64(linkBytes[1]-linkBytes[0]) / max(seconds[1]-seconds[0], 1e-12)}
	link.Latency = max(0, seconds[0]/(2*(ranks-1))-float64(linkBytes[0])/link.Bandwidth/ranks)
	link.Copy = max(0, seconds[2]-seconds[1]) / float64(linkBytes[1])
	return link
}
