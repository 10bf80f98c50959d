package accel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
)

func init() {
	rankFailures["profile"] = func(ctx context.Context, group *parallel.Group) error {
		return profiled(ctx, group, "cpu")
	}
	rankFailures["profile with NCCL"] = func(ctx context.Context, group *parallel.Group) error {
		return profiled(ctx, group, simulatedNCCL)
	}
}

// profiled profiles a training loop of ranks with layers that wait for each other.
func profiled(ctx context.Context, group *parallel.Group, device string) (err error) {
	if err := tensors.SetDevice(device); err != nil {
		return err
	}
	model := nn.Sequential(nn.Dense(6), nn.SyncBatchNorm(), nn.ReLU(), nn.Dense(3))
	x, y := tensor.Randn(nil, 4, 5), tensor.FromInts([]int{0, 1, 2, 0}, 4)
	tensor.NoGrad(func() { model.Forward(x) })
	opt := optim.SGD(model, 0.01)
	gradients := parallel.NewGradients(group, model)
	if err := gradients.Begin(ctx); err != nil {
		return err
	}
	r, err := prof.Run(ctx, func() error {
		opt.ZeroGrad()
		if err := gradients.Backward(ctx, nn.CrossEntropy(model.Forward(x), y), 0.5); err != nil {
			return err
		}
		opt.Step()
		return nil
	}, prof.Warmup(2), prof.Active(3))
	if err != nil {
		return err
	}
	if device == simulatedNCCL && !strings.HasPrefix(group.Backend(), "NCCL") {
		return errors.New(group.Backend())
	}
	c, b := r.Communication(), r.Breakdown()
	// The gradients (2·6+1 and 2·6 values of the layer), in the backward pass twice the
	// channels, and the vote.
	least := float64(4*(6*5+6+6+6+3*6+3) + 8*(13+12) + 8)
	switch {
	case c.Busy <= 0 || c.Busy > 10*r.StepTime() || b.CommunicationWait <= 0 || b.CommunicationWait > r.StepTime():
		return fmt.Errorf("%v of a step of %v exchanging, %+v", b.CommunicationWait, r.StepTime(), c)
	case c.Bytes < least || c.Bytes > 2*least:
		return fmt.Errorf("%v bytes exchanged, of at least %v", c.Bytes, least)
	case c.Hidden() < 0 || c.Hidden() > 1:
		return fmt.Errorf("%v of the exchange hidden", c.Hidden())
	case !strings.Contains(r.String(), "exchanging with ranks") || !strings.Contains(r.String(), "\nranks: "):
		return errors.New(r.String())
	}
	ranks, err := prof.CompareRanks(ctx, group, r)
	if err != nil {
		return err
	}
	name := map[string]string{"cpu": "gradients 3", simulatedNCCL: "NCCL"}[device] // of the last layer
	if len(ranks) != 2 || !(ranks[1].Step > 0) || !(ranks[1].Busy > 0) || ranks[0].Host == "" || !strings.Contains(ranks.String(), name) {
		return errors.New(ranks.String())
	}
	var text bytes.Buffer
	if err := r.WriteTrace(&text); err != nil {
		return err
	}
	if !strings.Contains(text.String(), `"`+name+`"`) {
		return fmt.Errorf("no %s in the trace", name)
	}
	return nil
}

// TestProfileOfRanks requires the profile to contain the time that ranks wait for each other.
func TestProfileOfRanks(t *testing.T) {
	for _, task := range []string{"profile", "profile with NCCL"} {
		t.Run(task, func(t *testing.T) {
			for r, o := range processes(t, task, 2) {
				if o.Error != "" {
					t.Errorf("rank %d: %s", r, o.Error)
				}
			}
		})
	}
}
