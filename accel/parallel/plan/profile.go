package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/prof"
)

// FromProfile returns the costs of a model from a profile of its training steps, with the number of examples of a step:
// a block for each layer, with its measured times and the results of its ops as activations.
//
//	report, err := prof.Run(ctx, step)
//	model, err := plan.FromProfile(report, net, 64)
//
// The times hold for the profiled device, and for micro-batches like the profiled one. What the host did between the ops is distributed over
// them. The blocks can be divided by a pipeline, but not by tensor parallelism.
func FromProfile(report *prof.Report, model nn.Module, examples int) (Model, error) {
	switch {
	case report == nil || len(report.Steps) == 0:
		return Model{}, fmt.Errorf("plan: the profile has no steps: check the error of prof.Run")
	case examples < 1:
		return Model{}, fmt.Errorf("plan: a step has %d examples: it needs at least 1", examples)
	}
	m := Model{Precision: FP32()}
	p := profiled{report: report, each: 1 / float64(examples*len(report.Steps))}
	ops := 0.0
	for _, o := range report.Ops {
		ops += (o.End - o.Begin).Seconds()
	}
	var steps []float64
	for _, s := range report.Steps {
		steps = append(steps, (s.End - s.Begin).Seconds())
	}
	slices.Sort(steps)
	if ops == 0 {
		return Model{}, fmt.Errorf("plan: the profile has no ops")
	}
	overhead := steps[len(steps)/2] * float64(len(steps)) / ops
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

// MeasureLink measures the link between the ranks of a group, all of which must call it: from the times of sums of few and of many
// values over the ring. All get the same result.
func MeasureLink(ctx context.Context, g *parallel.Group) (Link, error) {
	if g.Size() == 1 {
		return Link{}, fmt.Errorf("plan: a group of one rank has no link to measure")
	}
	const repeats = 9
	var medians [len(linkBytes)]float64
	for i, size := range linkBytes {
		values := make([]float32, size/4)
		var times []float64
		for k := range repeats + 2 {
			begin := time.Now()
			if err := g.AllReduce(ctx, values, parallel.Mean); err != nil {
				return Link{}, err
			}
			if k >= 2 { // connections and buffers grow at first
				times = append(times, time.Since(begin).Seconds())
			}
		}
		slices.Sort(times)
		medians[i] = times[len(times)/2]
	}
	if err := g.AllReduceFloat64(ctx, medians[:], parallel.Mean); err != nil {
		return Link{}, err
	}
	return linkOf(g.Size(), medians), nil
}

// linkOf returns a link by the seconds of the sums of linkBytes on n ranks, which are those of group.allReduce:
// 2·(n-1)/n·(n·latency + bytes/bandwidth).
func linkOf(n int, seconds [len(linkBytes)]float64) Link {
	ranks := float64(n)
	link := Link{Bandwidth: 2 * (ranks - 1) / ranks * float64(linkBytes[1]-linkBytes[0]) / max(seconds[1]-seconds[0], 1e-12)}
	link.Latency = max(0, seconds[0]/(2*(ranks-1))-float64(linkBytes[0])/link.Bandwidth/ranks)
	return link
}
