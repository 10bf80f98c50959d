package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/benchfile"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
)

// prepared opens the device and prepares a case in this process.
func (o options) prepared(c benchCase) (w workload, err error) {
	defer nn.Catch(&err)
	if err := tensors.SetDevice(o.device); err != nil {
		return w, err
	}
	if c.start == nil {
		return w, fmt.Errorf("%s has no arrays", c.name)
	}
	return c.start(c.arrays(newGenerator()))
}

// runSteps runs steps of a case.
func (o options) runSteps(c benchCase) (err error) {
	defer nn.Catch(&err)
	w, err := o.prepared(c)
	if err != nil {
		return err
	}
	for range o.steps {
		if err := w.step(); err != nil {
			return err
		}
	}
	fmt.Printf("%s: %g after %d steps\n", c.name, w.value(), o.steps)
	return nil
}

// writeProfile profiles a step of a case.
func (o options) writeProfile(ctx context.Context, c benchCase) error {
	w, err := o.prepared(c)
	if err != nil {
		return err
	}
	warmup, active := 4, 3
	if o.quick {
		warmup, active = 2, 1
	}
	p, err := prof.Run(ctx, w.step, prof.Warmup(warmup), prof.Active(active))
	if err != nil {
		return err
	}
	r, err := newProfiled(c, p)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	fmt.Printf("%s: %v\n", c.name, p)
	return os.WriteFile(o.profile, append(text, '\n'), 0o644)
}

// newProfiled adds up the ops of a profile.
func newProfiled(c benchCase, p *prof.Report) (r benchfile.Profile, err error) {
	peaks := p.Ceilings()
	r = benchfile.Profile{
		Case: c.name, Description: c.description, Step: p.StepTime().Seconds(), EventCost: p.EventCost.Seconds(),
		Graphs: p.Counts.Lists, Kernels: p.Counts.Kernels, Allocs: p.Counts.Allocs, Waits: p.Counts.Syncs, Bytes: p.Counts.Bytes, FLOPs: p.Counts.FLOPs,
		Ceilings: map[string]float64{benchfile.Bandwidth: peaks.Bytes, tensor.Float32.String(): peaks.FLOPs}, Hints: p.Hints(),
	}
	for _, t := range peaks.TensorCores {
		r.Ceilings[t.Of] = t.FLOPs
	}
	arithmetic := peaks.FLOPs
	if half := r.Ceilings[tensor.BFloat16.String()]; c.half && half > 0 {
		arithmetic = half
	}
	steps := float64(len(p.Steps))
	rows := map[[3]string]benchfile.Row{}
	for _, o := range p.Ops {
		var kernels []string
		for _, k := range o.Kernels {
			if !(k.End > k.Begin) {
				return r, fmt.Errorf("the CUDA events of %s, %s, give a time of %v", o.Name, k.Name, k.End-k.Begin)
			}
			kernels = append(kernels, k.Name)
		}
		if len(kernels) == 0 {
			continue
		}
		row := benchfile.Row{Op: o.Name, Kernels: strings.Join(kernels, " + "), Shapes: o.Shapes}
		key := [3]string{row.Op, row.Kernels, row.Shapes}
		if known, ok := rows[key]; ok {
			row = known
		}
		row.Blocks, row.Threads = o.Kernels[0].Blocks, o.Kernels[0].Threads
		row.Count += 1 / steps
		row.Seconds += (o.End - o.Begin).Seconds() / steps
		row.Bytes += o.Bytes / steps
		row.FLOPs += o.FLOPs / steps
		rows[key] = row
	}
	if len(rows) == 0 {
		return r, errors.New("the profile has no kernels")
	}
	for row := range maps.Values(rows) {
		row.Ceiling = max(row.Bytes/max(peaks.Bytes, 1), row.FLOPs/max(arithmetic, 1)) / row.Seconds
		row.Bytes /= row.Seconds
		row.FLOPs /= row.Seconds
		r.Rows = append(r.Rows, row)
	}
	slices.SortFunc(r.Rows, func(a, b benchfile.Row) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Kernels, b.Kernels), cmp.Compare(a.Shapes, b.Shapes))
	})
	return r, nil
}
