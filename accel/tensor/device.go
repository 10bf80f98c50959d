package tensor

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/devices"
	"github.com/quernlab/quern/accel/internal/goroutine"
	"github.com/quernlab/quern/accel/internal/ir"
)

// Use has everything be computed on another device from now on: "cpu", "cuda" for
// the first GPU, "cuda:1" for the second, or one that an imported package adds:
// package accel/simulated adds "simulated". Tensors that exist follow when they are
// used next. What has no code on the device is refused when it is computed.
// The error says why there is no such device.
//
// A program begins with the device that the environment variable QUERN_DEVICE
// names, with the processor if there is none.
func Use(device string) (err error) {
	e := shared()
	e.enter()
	defer e.leave()
	defer func() { // what has been recorded runs first, and may fail
		if p := recover(); p != nil {
			failed, ok := p.(error)
			if !ok {
				panic(p)
			}
			err = failed
		}
	}()
	return e.use(device)
}

// Device returns the name of the device that computes: "cpu" or, for instance, "cuda:0".
func Device() (name string) {
	locked(func(r *ir.Recorder) { name = r.Device().Name() })
	return name
}

// GPU describes a device that [Use] can name.
type GPU struct {
	Device     string // for Use
	Name       string // of the maker
	Capability string // what CUDA calls the compute capability, "9.0" for instance
	SMs        int    // streaming multiprocessors
	Memory     int    // bytes
	PCI        string // bus id, 0000:3b:00.0
}

// GPUs returns the GPUs that programs of this package can use. The error says why there
// are none, in one line.
func GPUs() ([]GPU, error) {
	d, err := gpus()
	if err != nil {
		return nil, err
	}
	var all []GPU
	for i, g := range d.Devices() {
		all = append(all, GPU{
			Device: fmt.Sprintf("cuda:%d", i), Name: g.Name, Capability: fmt.Sprintf("%d.%d", g.Major, g.Minor),
			SMs: g.SMs, Memory: g.Memory, PCI: g.PCI,
		})
	}
	return all, nil
}

// gpus is the CUDA driver, opened once.
var gpus = sync.OnceValues(driver.Open)

// use switches the recorder to a device, which is made at its first use.
func (e *engine) use(name string) error {
	d, ok := e.devices[canonical(name)]
	if !ok {
		var err error
		if d, err = open(canonical(name)); err != nil {
			return fmt.Errorf("accel: device %q: %w", name, err)
		}
		e.devices[canonical(name)] = d
		e.round(d)
	}
	left := e.recorder.Device()
	e.recorder.Switch(d)
	e.bound()
	if t, ok := left.(interface{ Trim() error }); ok && left != d {
		if err := t.Trim(); err != nil { // a GPU that is lost, for instance, which Lost tells
			slog.Debug("accel: the memory of a device that is left is not given back", "device", left.Name(), "error", err)
		}
	}
	return nil
}

// canonical returns a name with its number.
func canonical(name string) string {
	if name == "cuda" {
		return "cuda:0"
	}
	return name
}

func open(name string) (ir.Device, error) {
	if name == "cpu" {
		return cpu.New(0), nil
	}
	if registered := devices.Find(name); registered != nil {
		return registered()
	}
	if simulated, _, _ := strings.Cut(name, ":"); simulated == "simulated" {
		return nil, unknownSimulated()
	}
	text, found := strings.CutPrefix(name, "cuda:")
	number, err := strconv.Atoi(text)
	if !found || err != nil || number < 0 {
		return nil, errors.New(`there are "cpu", "cuda", and "cuda:1" and so on for other GPUs than the first` + registeredNames())
	}
	d, err := gpus()
	if err != nil {
		return nil, err
	}
	if n := len(d.Devices()); number >= n {
		return nil, fmt.Errorf("the machine has %d GPUs, counted from 0", n)
	}
	return cuda.Open(name, d, number, cuda.Installed(d.Version()))
}

// unknownSimulated says what is lacking for a simulated GPU.
func unknownSimulated() error {
	if devices.Find("simulated") != nil {
		return errors.New("there is no such device" + registeredNames())
	}
	return errors.New(`the program lacks import _ "github.com/quernlab/quern/accel/simulated"`)
}

// registeredNames says which devices packages have added.
func registeredNames() string {
	names := devices.Names()
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; imported packages add %q", names)
}

// Lost returns the error with which a GPU has failed for good: its memory is gone, and
// this process cannot use it any more. It is nil of those that work, and while none
// was used.
func Lost() (err error) {
	if !engineMade.Load() {
		return nil
	}
	locked(func(*ir.Recorder) {
		for _, d := range shared().devices {
			if l, ok := d.(interface{ Lost() error }); ok && err == nil {
				err = l.Lost()
			}
		}
	})
	return err
}

// bound sets the limit of memory: that of the user, or of the host's memory. How
// much a GPU has its driver knows.
func (e *engine) bound() {
	limit := e.limit
	if limit == 0 && e.recorder.Device().Name() == "cpu" {
		limit = defaultLimit()
	}
	e.recorder.SetLimit(limit)
}

// newEngine returns the engine of a program, on the device that the environment names.
// One that is not to be had is a *StateError of every op.
func newEngine() *engine {
	engineMade.Store(true)
	d := ir.Device(cpu.New(0))
	e := &engine{recorder: ir.NewRecorder(d), devices: map[string]ir.Device{"cpu": d}, scopes: map[goroutine.Identity]scope{}}
	e.bound()
	if name := os.Getenv("QUERN_DEVICE"); name != "" {
		if err := e.use(name); err != nil {
			panic(&StateError{Op: "QUERN_DEVICE", Hint: err.Error()})
		}
	}
	return e
}
