package history

import (
	"context"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/gpu"
)

// watch samples the utilization of the devices of a training.
type watch struct {
	samplers []*gpu.Sampler // the device of this process first
}

// sampleEvery is the interval at which device utilization is sampled.
const sampleEvery = 200 * time.Millisecond

// startWatch samples the current GPU and, on the first rank of a machine, the GPUs of the other
// ranks; on the CPU it samples the machine.
func startWatch(ctx context.Context, every time.Duration) *watch {
	w := &watch{}
	for _, d := range watched() {
		w.samplers = append(w.samplers, gpu.Start(ctx, d, every))
	}
	return w
}

// Environment variables with which launchers such as torchrun pass the local rank and the
// number of ranks on this machine.
const (
	localRank = "LOCAL_RANK"
	localSize = "LOCAL_WORLD_SIZE"
)

// watched opens the devices to sample; there is always at least one.
func watched() []gpu.Device {
	name := tensors.Device()
	gpus, err := tensors.GPUs()
	if err != nil {
		return []gpu.Device{gpu.Host()}
	}
	for _, g := range gpus {
		if g.Device != name {
			continue
		}
		ranks := 1
		if n, err := strconv.Atoi(os.Getenv(localSize)); err == nil && os.Getenv(localRank) == "0" {
			ranks = n
		}
		if all, err := gpu.OpenFrom(g.PCI, ranks); err == nil {
			return all
		}
		if own, err := gpu.Open(); err == nil {
			return []gpu.Device{own}
		}
	}
	return []gpu.Device{gpu.Host()}
}

// histories returns the measurements so far, the device of this process first.
func (w *watch) histories() []gpu.History {
	all := make([]gpu.History, len(w.samplers))
	for i, s := range w.samplers {
		all[i] = s.History()
	}
	return all
}

// stop ends the sampling.
func (w *watch) stop() {
	for _, s := range w.samplers {
		s.Stop()
	}
}

// recordUtilization copies the measurements to the run.
func (r *Run) recordUtilization(w *watch) {
	all := w.histories()
	if strings.HasPrefix(r.device, "simulated") {
		all[0].Name = "GPU simulated by " + all[0].Name
	}
	r.Utilization, r.OtherUtilization = all[0], all[1:]
}

// histories returns the measurements of all devices of the run.
func (r *Run) histories() []gpu.History {
	return append([]gpu.History{r.Utilization}, r.OtherUtilization...)
}

// unknown says whether the system tells nothing about a device, as browsers do.
func unknown(h gpu.History) bool {
	return len(h.Samples) > 0 && !slices.ContainsFunc(h.Samples, func(s gpu.Sample) bool {
		return !math.IsNaN(s.Busy) || !math.IsNaN(s.MemUsed) || !math.IsNaN(s.Watts)
	})
}

// energy returns the joules of all epochs, NaN if those of any epoch are unknown.
func (r *Run) energy() (total float64, estimated bool) {
	joules, estimated := r.Energy()
	for _, j := range joules {
		total += j
	}
	if len(joules) == 0 {
		total = math.NaN()
	}
	return total, estimated
}

// Energy returns the energy of each epoch in joules, added over all sampled devices. It is NaN
// for epochs that were not measured: without [Track] or [Live] with device metrics, before the
// run was resumed, or on a machine without power sensors. estimated reports that a device has
// no energy counter, so that the energy was integrated from its power.
func (r *Run) Energy() (joules []float64, estimated bool) {
	joules = make([]float64, len(r.Epochs))
	for i, e := range r.Epochs {
		for _, h := range r.histories() {
			j, guess := h.Energy(e.began, e.ended)
			joules[i] += j
			estimated = estimated || guess && !math.IsNaN(j)
		}
	}
	return joules, estimated
}
