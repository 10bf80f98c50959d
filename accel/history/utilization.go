package history

import (
	"context"
	"fmt"
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
	if strings.HasPrefix(r.state.Device, "simulated") {
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

// EnergySource says how an energy was found.
type EnergySource string

// The sources.
const (
	UnknownEnergy EnergySource = ""              // nothing was recorded, or the devices do not report it
	EnergyCounter EnergySource = "counter"       // energy counters of the devices
	EnergySamples EnergySource = "power"         // the integral of samples of the power
	AssumedEnergy EnergySource = "assumed power" // an estimate with AssumePower
)

// EnergyUse is the energy of a training; [Run.EnergyUse] returns it.
type EnergyUse struct {
	Joules     float64      // NaN if unknown
	PerExample float64      // joules for each of Run.Examples; NaN if unknown
	Source     EnergySource // how it was found
	Devices    []string     // names of the devices that were measured; nil if none was
	Watts      float64      // the power that was assumed; 0 if the energy was measured

	host, recorded bool
	machine, ranks int // ranks on this machine, and all
}

// EnergyUse returns the energy of the training, in all epochs. Measured is the energy of the GPUs that this machine's ranks
// use, without the rest of the machine; on the CPU that of its packages, for all processes of the machine and without
// memory and disks. Without a measurement, accel.AssumePower estimates it for the time of the run.
func (r *Run) EnergyUse() EnergyUse {
	e := EnergyUse{Joules: math.NaN(), PerExample: math.NaN(), recorded: len(r.Utilization.Samples) > 0, machine: max(r.state.LocalRanks, 1), ranks: max(r.Ranks, 1)}
	if joules, estimated := r.energy(); isNumber(joules) {
		e.Joules, e.Source, e.host = joules, EnergyCounter, r.Utilization.Host
		if estimated {
			e.Source = EnergySamples
		}
		for _, h := range r.histories() {
			e.Devices = append(e.Devices, h.Name)
		}
	} else if r.state.Watts > 0 {
		e.Joules, e.Source, e.Watts = r.state.Watts*r.Time.Total.Seconds(), AssumedEnergy, r.state.Watts
	}
	if r.Examples > 0 {
		e.PerExample = e.Joules / float64(r.Examples)
	}
	return e
}

// String returns the energy and how it was found, in one line.
func (e EnergyUse) String() string {
	amount := fmt.Sprintf("%s, %s per example", joulesText(e.Joules), joulesText(e.PerExample))
	devices := strings.Join(e.Devices, " and ")
	switch e.Source {
	case AssumedEnergy:
		return fmt.Sprintf("an estimate: %s, if the mean power is %g W as assumed", amount, e.Watts)
	case EnergySamples:
		return "about " + amount + ", from samples of the power of " + devices + e.scope()
	case EnergyCounter:
		return amount + ", from the energy counter of " + devices + e.scope()
	}
	if e.recorded {
		return "energy unknown: the devices report neither energy nor power to this process; AssumePower estimates it"
	}
	return "energy unknown: it was not recorded; MeasureEnergy measures it, and AssumePower estimates it"
}

// scope says what a measurement includes.
func (e EnergyUse) scope() string {
	text := ", without the rest of the machine"
	if e.host {
		text = ", for all processes of the machine"
	}
	if e.ranks > e.machine {
		text += fmt.Sprintf(", which has %d of %d ranks", e.machine, e.ranks)
	}
	return text
}

// joulesText formats an energy with three digits.
func joulesText(joules float64) string {
	if !isNumber(joules) {
		return "–"
	}
	units := []string{"µJ", "mJ", "J", "kJ", "MJ"}
	v, k := joules*1e6, 0
	for v >= 999.5 && k+1 < len(units) {
		v /= 1000
		k++
	}
	return fmt.Sprintf("%.3g %s", v, units[k])
}

// Cost is what a training cost at a price of its machine; [Run.Cost] returns it.
type Cost struct {
	Price   float64   // PerHour for Seconds, in the currency of PerHour
	PerHour float64   // price of all machines of the training together
	Seconds float64   // from the start to the end of the training, as Run.Time
	Ranks   int       // processes that trained together
	Energy  EnergyUse // of the training
}

// Cost returns the cost of the time of the training: pricePerHour is what the machine costs, or with ranks on several
// machines all of them together. It assumes that this is paid for the seconds of the training only, without starting the
// machine, loading data, and rounding up to an hour. The error says what is wrong with the price, or that nothing was trained.
func (r *Run) Cost(pricePerHour float64) (Cost, error) {
	switch {
	case !(pricePerHour >= 0) || math.IsInf(pricePerHour, 0):
		return Cost{}, fmt.Errorf("accel: Cost(%g): the price of an hour must be a number from 0", pricePerHour)
	case r == nil || len(r.Steps) == 0:
		return Cost{}, fmt.Errorf("accel: Cost(%g): the run has no steps", pricePerHour)
	}
	seconds := r.Time.Total.Seconds()
	return Cost{Price: pricePerHour * seconds / 3600, PerHour: pricePerHour, Seconds: seconds, Ranks: max(r.Ranks, 1), Energy: r.EnergyUse()}, nil
}

// String returns the cost and what it assumes.
func (c Cost) String() string {
	what := "the machine"
	if c.Ranks > 1 {
		what = fmt.Sprintf("everything on which the %d ranks run", c.Ranks)
	}
	return fmt.Sprintf("%.4g for %.4g s, if %s costs %g per hour and only the seconds of the training are paid\n%v", c.Price, c.Seconds, what, c.PerHour, c.Energy)
}

func isNumber(v float64) bool { return !math.IsNaN(v) }
