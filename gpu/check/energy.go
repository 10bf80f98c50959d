package main

import (
	"context"
	"math"
	"time"

	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/gpu"
)

// metered runs f while it samples the power of the GPU. It returns the mean power and the
// energy, or NaN if they are unknown.
func metered(ctx context.Context, f func() error) (watts, joules float64, err error) {
	device := openMeter()
	if device == nil {
		return math.NaN(), math.NaN(), f()
	}
	sampler := gpu.Start(ctx, device, 100*time.Millisecond)
	began := time.Now()
	err = f()
	ended := time.Now()
	sampler.Stop()
	joules, _ = sampler.History().Energy(began, ended)
	return joules / ended.Sub(began).Seconds(), joules, err
}

// openMeter opens the GPU in use, or returns nil if it cannot be sampled.
func openMeter() gpu.Device {
	gpus, err := tensor.GPUs()
	if err != nil {
		return nil
	}
	for _, g := range gpus {
		if g.Device == tensor.Device() {
			if d, err := gpu.OpenPCI(g.PCI); err == nil {
				return d
			}
		}
	}
	return nil
}
