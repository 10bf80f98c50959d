package gpu

import (
	"errors"
	"math"
	"time"
)

// ErrNoGPU says that there is no GPU to sample. The error that wraps it gives
// the reason in one line.
var ErrNoGPU = errors.New("no GPU")

// Device is something whose use can be measured: a GPU, or the host's
// processor and memory.
//
// Its methods may be called from any goroutine, but none during or after
// Close.
type Device interface {
	// Name is what a person calls the device, such as "NVIDIA H200".
	Name() string
	// Sample measures once. What cannot be measured is NaN in the sample.
	Sample() Sample
	// Close lets go of the device.
	Close() error
}

// Sample is one measurement. A quantity that the device does not have, or that
// could not be read this time, is NaN.
type Sample struct {
	At time.Time

	Busy        float64 // percent of the last moment in which the device worked, from 0 to 100
	ProcessBusy float64 // the part of Busy that this process had

	MemUsed    float64 // bytes
	MemTotal   float64 // bytes that there are, or that the container may use
	ProcessMem float64 // bytes of this process

	Watts      float64 // power drawn now
	WattsLimit float64 // power at which the device slows down
	Joules     float64 // energy since some moment in the past; only differences mean something
	Celsius    float64 // temperature
	ClockMHz   float64 // of the multiprocessors

	// What the counters of a GPU say since the sample before, percent from 0 to 100.
	// GPUs before Hopper have none.
	SMs         float64 // of the multiprocessors, that worked
	Occupancy   float64 // of the warps that the multiprocessors have room for
	TensorCores float64 // of the time that they worked
	MemoryBus   float64 // of the memory's bandwidth

	// Slowed says in words what keeps the clock below what it could be, such as
	// "the power limit"; empty if nothing does, or nobody knows.
	Slowed string
}

// unmeasured is a sample in which nothing has been measured.
func unmeasured(at time.Time) Sample {
	none := math.NaN()
	return Sample{
		At: at, Busy: none, ProcessBusy: none, MemUsed: none, MemTotal: none, ProcessMem: none,
		Watts: none, WattsLimit: none, Joules: none, Celsius: none, ClockMHz: none,
		SMs: none, Occupancy: none, TensorCores: none, MemoryBus: none,
	}
}
