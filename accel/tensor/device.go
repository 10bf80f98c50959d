package tensor

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/mem"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/engine/devices"
	"github.com/quernlab/quern/accel/internal/engine/goroutine"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// setDevice selects the device on which everything is computed from now on, for accel.SetDevice. An op that the device does not
// support panics when it is computed.
func setDevice(device string) (err error) {
	e := shared()
	e.enter()
	defer e.leave()
	defer func() { // switching runs the recorded ops, which may fail
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

// use switches the recorder to a device, which is opened at its first use.
func (e *engine) use(name string) error {
	d, ok := e.devices[canonical(name)]
	if !ok {
		var err error
		if d, err = open(canonical(name)); err != nil {
			return fmt.Errorf("accel: device %q: %w", name, err)
		}
		e.devices[canonical(name)] = d
		e.applyTF32(d)
	}
	left := e.recorder.Device()
	e.recorder.Switch(d)
	e.applyMemoryLimit()
	if t, ok := left.(interface{ Trim() error }); ok && left != d {
		if err := t.Trim(); err != nil { // for example if the GPU is lost, which deviceLost reports
			slog.Debug("accel: cannot release the memory of the previous device", "device", left.Name(), "error", err)
		}
	}
	return nil
}

// canonical returns the device's name with its index.
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
		return nil, errors.New(`there is no such device; use "cpu", "cuda" for the first GPU, or "cuda:1" and so on for the others` + registeredNames())
	}
	return openCUDA(name, number)
}

// unknownSimulated says why a simulated GPU cannot be used.
func unknownSimulated() error {
	if devices.Find("simulated") != nil {
		return errors.New("there is no such device" + registeredNames())
	}
	return errUnregistered
}

// registeredNames lists the devices that packages have registered, for an error message.
func registeredNames() string {
	names := devices.Names()
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; imported packages add %q", names)
}

// deviceLost returns the error with which a GPU has failed permanently: its memory is lost and this
// process cannot use it any more. It returns nil if no GPU has failed or none was used.
func deviceLost() (err error) {
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

// applyMemoryLimit sets the recorder's memory limit on the CPU to the user's limit or the default. A GPU's
// driver knows its own limit.
func (e *engine) applyMemoryLimit() {
	limit := e.limit
	if limit == 0 && e.recorder.Device().Name() == "cpu" {
		limit = defaultLimit()
	}
	e.recorder.SetLimit(limit)
}

// newEngine returns the engine of a program, on the device that QUERN_DEVICE names. If that device
// is not available, each op panics with a *StateError.
func newEngine() *engine {
	engineMade.Store(true)
	d := ir.Device(cpu.New(0))
	e := &engine{recorder: ir.NewRecorder(d), devices: map[string]ir.Device{"cpu": d}, scopes: map[goroutine.Identity]scope{}}
	e.applyMemoryLimit()
	if name := os.Getenv("QUERN_DEVICE"); name != "" {
		if err := e.use(name); err != nil {
			panic(&StateError{Op: "QUERN_DEVICE", Hint: err.Error()})
		}
	}
	return e
}

// SetMemoryLimit limits the bytes of tensors and temporaries on the device and returns the previous
// limit. 0, the default, means 7/8 of the machine's memory or of the Go runtime's limit
// (GOMEMLIMIT; in a notebook QUERN_MEMORY_LIMIT), whichever is less, and on a GPU what its driver
// can allocate. An op or run that would exceed the limit panics with an *OutOfMemoryError, after
// unreachable tensors have been collected. Existing tensors, including the parameters of a failed
// step, keep their values, and the session goes on.
func SetMemoryLimit(bytes int) (old int) {
	locked(func(*ir.Recorder) {
		e := shared()
		old, e.limit = e.limit, max(bytes, 0)
		e.applyMemoryLimit()
	})
	return old
}

// defaultLimit leaves an eighth of the memory to other uses; it returns 0 if the machine's memory
// is unknown.
func defaultLimit() int {
	limit := uint64(debug.SetMemoryLimit(-1))
	if machine, err := mem.VirtualMemory(); err == nil && machine.Total > 0 {
		limit = min(limit, machine.Total)
	}
	if limit >= math.MaxInt64 {
		return 0
	}
	return int(limit - limit/8)
}
