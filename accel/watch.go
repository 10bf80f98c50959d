package accel

import (
	"context"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/gpu"
)

// watch samples the devices of a training.
type watch struct {
	samplers []*gpu.Sampler // that of this process first
}

// startWatch watches the GPU that computes, and on the first rank of a machine those
// of the others; or the machine itself where the processor computes.
func startWatch(ctx context.Context, every time.Duration) *watch {
	w := &watch{}
	for _, d := range watched() {
		w.samplers = append(w.samplers, gpu.Start(ctx, d, every))
	}
	return w
}

// The variables by which a launcher says how many ranks this machine has, and which
// this one is.
const (
	localRank = "LOCAL_RANK"
	localSize = "LOCAL_WORLD_SIZE"
)

// watched opens the devices to watch; there is always one.
func watched() []gpu.Device {
	name := tensor.Device()
	gpus, err := tensor.GPUs()
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

// histories returns what has been measured so far, that of this process first.
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

// see enters what has been measured into the run.
func (r *Run) see(w *watch) {
	all := w.histories()
	r.Utilization, r.OtherUtilization = all[0], all[1:]
}

// uses returns the histories of all devices of the run.
func (r *Run) uses() []gpu.History {
	return append([]gpu.History{r.Utilization}, r.OtherUtilization...)
}

// energy returns the joules of all epochs, NaN if those of one are not known.
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

// Energy returns the joules of each epoch, of all devices that were watched, NaN for those
// that nobody measured: without [Live] of the device's use or [Track], before a run
// was resumed, or where the machine does not tell. estimated says that there is no
// counter, and the power was added up.
func (r *Run) Energy() (joules []float64, estimated bool) {
	joules = make([]float64, len(r.Epochs))
	for i, e := range r.Epochs {
		for _, h := range r.uses() {
			j, guess := h.Energy(e.began, e.ended)
			joules[i] += j
			estimated = estimated || guess && !math.IsNaN(j)
		}
	}
	return joules, estimated
}
