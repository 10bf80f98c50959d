package main

import (
	"context"
	"math"
	"time"

	"github.com/quernlab/quern/gpu"
)

// watts runs f and returns the mean power of the GPU with a PCI bus ID while it ran, or NaN if
// it is unknown or there is no GPU.
func watts(ctx context.Context, pci string, f func()) float64 {
	if pci == "" {
		f()
		return math.NaN()
	}
	device, err := gpu.OpenPCI(pci)
	if err != nil {
		f()
		return math.NaN()
	}
	sampler := gpu.Start(ctx, device, 100*time.Millisecond)
	began := time.Now()
	f()
	ended := time.Now()
	sampler.Stop()
	joules, _ := sampler.History().Energy(began, ended)
	return joules / ended.Sub(began).Seconds()
}
