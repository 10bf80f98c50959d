package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
)

// ceilings is the peak performance of the device.
type ceilings struct {
	Bytes float64            `json:"bytes"` // per second
	FLOPs map[string]float64 `json:"flops"` // per second, by the element type of the matrices
}

// String returns the ceilings in one line.
func (c *ceilings) String() string {
	parts := []string{fmt.Sprintf("%.4g GB/s", c.Bytes/1e9)}
	for _, of := range []string{"float32", "TF32", "bfloat16", "float16"} {
		if v, ok := c.FLOPs[of]; ok {
			parts = append(parts, fmt.Sprintf("%s %.4g TFLOP/s", of, v/1e12))
		}
	}
	return strings.Join(parts, ", ")
}

// takeProfile profiles a step of the MLP with CUDA graph events, and measures the ceilings.
func takeProfile(ctx context.Context, o options, r *report, out io.Writer) error {
	batch, width, active := 512, 512, 5
	if o.quick {
		batch, width, active = 16, 16, 1
	}
	g := tensor.NewGenerator(1)
	x, y := tensor.Randn(g, batch, width), tensor.FromInts(make([]int, batch), batch)
	model := nn.Sequential(nn.Dense(width), nn.ReLU(), nn.Dense(10))
	tensor.NoGrad(func() { model.Forward(x) }) // creates the parameters
	optimizer := optim.AdamW(model, 1e-3)
	step := func() error {
		optimizer.ZeroGrad()
		nn.CrossEntropy(model.Forward(x), y).Backward()
		optimizer.Step()
		return nil
	}
	p, err := prof.Run(ctx, step, prof.Warmup(3), prof.Active(active))
	if err != nil {
		return err
	}
	kernels := 0
	for _, op := range p.Ops {
		for _, k := range op.Kernels {
			kernels++
			if !(k.End > k.Begin) {
				return fmt.Errorf("the CUDA events of %s, %s, give a time of %v", op.Name, k.Name, k.End-k.Begin)
			}
		}
	}
	if kernels == 0 {
		return fmt.Errorf("the profile has no kernels")
	}
	r.Profile = fmt.Sprintf("%v, batch %d: %v", model, batch, p)
	fmt.Fprintf(out, "\n%s\n%s\n", r.Profile, p.Table(prof.SelfCUDA, 8))
	c := p.Ceilings()
	r.Ceilings = &ceilings{Bytes: c.Bytes, FLOPs: map[string]float64{"float32": c.FLOPs}}
	for _, matmul := range c.TensorCores {
		r.Ceilings.FLOPs[matmul.Of] = matmul.FLOPs
	}
	fmt.Fprintf(out, "peak       %s\n", r.Ceilings)
	return nil
}
