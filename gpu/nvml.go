//go:build linux && cgo && (amd64 || arm64)

package gpu

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/quernlab/quern/gpu/internal/nvmlsymbols"
	"github.com/quernlab/quern/internal/loader"
)

// libraryName is NVML, the management library of the NVIDIA driver.
const libraryName = "libnvidia-ml.so.1"

// visibleDevices is the environment variable with which CUDA hides GPUs.
const visibleDevices = "CUDA_VISIBLE_DEVICES"

// Open opens CUDA device 0: the first GPU in the environment variable CUDA_VISIBLE_DEVICES, or
// the first of the machine. CUDA may order different GPUs by speed; then use [OpenPCI] to be
// exact. The error wraps [ErrNoGPU].
func Open() (Device, error) {
	visible, set := os.LookupEnv(visibleDevices)
	if set && strings.TrimSpace(visible) == "" {
		return nil, fmt.Errorf("%w: %s is empty, which hides every GPU", ErrNoGPU, visibleDevices)
	}
	return open(libraryName, visible)
}

// OpenPCI opens the GPU with a PCI bus id such as "0000:3b:00.0", as reported by the CUDA
// driver. The error wraps [ErrNoGPU].
func OpenPCI(busID string) (Device, error) { return openPCI(libraryName, busID) }

// OpenFrom opens the GPU with a PCI bus id and up to count-1 GPUs that follow it in bus order:
// those of the ranks of one machine. Close each of them. The error wraps [ErrNoGPU].
func OpenFrom(busID string, count int) ([]Device, error) {
	return openFrom(libraryName, busID, max(count, 1))
}

// Devices opens all GPUs of the machine. Close each of them. The error wraps [ErrNoGPU].
func Devices() ([]Device, error) { return openFrom(libraryName, "", 0) }

// driver is a loaded and initialized library. A call to a function that the library lacks
// returns ERROR_FUNCTION_NOT_FOUND.
type driver struct {
	lib nvml.Interface
}

var errNoLibrary = fmt.Errorf("%w: %s is not installed: there is no NVIDIA driver, or the container was started without --gpus", ErrNoGPU, libraryName)

// loading guards the package variables that go-nvml sets when it loads or closes a library, and
// the functions bound by nvmlsymbols.
var loading sync.Mutex

// load loads and initializes the library.
func load(path string) (*driver, error) {
	loading.Lock()
	defer loading.Unlock()
	if path == libraryName {
		found, err := loader.Find(libraryName, loader.Path())
		var none *loader.NotFoundError
		switch {
		case errors.As(err, &none) && none.Skipped == nil:
			return nil, errNoLibrary
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrNoGPU, err)
		}
		path = found
	}
	if err := nvmlsymbols.Bind(path); err != nil {
		return nil, errNoLibrary
	}
	lib := nvml.New(nvml.WithLibraryPath(path))
	if r := lib.Init(); r != nvml.SUCCESS {
		if r == nvml.ERROR_FUNCTION_NOT_FOUND {
			return nil, fmt.Errorf("%w: %s has no nvmlInit: it is not a usable NVIDIA driver library", ErrNoGPU, path)
		}
		return nil, fmt.Errorf("%w: %s", ErrNoGPU, reason(r))
	}
	return &driver{lib}, nil
}

func (d *driver) close() error {
	loading.Lock()
	defer loading.Unlock()
	if r := d.lib.Shutdown(); r != nvml.SUCCESS {
		return fmt.Errorf("close the NVIDIA management library: %s", reason(r))
	}
	return nil
}

// reason describes an NVML error code and what to do about it.
func reason(r nvml.Return) string {
	switch r {
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		return libraryName + " cannot be loaded"
	case nvml.ERROR_DRIVER_NOT_LOADED:
		return "the NVIDIA kernel module is not loaded; try nvidia-smi"
	case nvml.ERROR_NO_PERMISSION:
		return "no permission to use /dev/nvidia*"
	case nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		return "the NVIDIA driver and its library have different versions; restart the machine after a driver update"
	case nvml.ERROR_GPU_IS_LOST:
		return "the GPU has fallen off the bus; restart the machine"
	case nvml.ERROR_FUNCTION_NOT_FOUND:
		return "the NVIDIA driver is too old for this query"
	case nvml.ERROR_NOT_FOUND, nvml.ERROR_INVALID_ARGUMENT:
		return "there is no such device"
	}
	return "NVML error " + strconv.Itoa(int(r))
}

// graphics is one GPU. It owns its driver.
type graphics struct {
	driver *driver
	device nvml.Device
	name   string
	meters *meters // nil if the GPU has none
}

func open(path, visible string) (Device, error) {
	first, _, _ := strings.Cut(visible, ",")
	first = strings.TrimSpace(first)
	return openBy(path, func(d *driver) (nvml.Device, nvml.Return, string) {
		if first == "" {
			device, r := d.lib.DeviceGetHandleByIndex(0)
			return device, r, "the driver lists no GPU"
		}
		what := visibleDevices + " is " + strconv.Quote(visible)
		if index, err := strconv.Atoi(first); err == nil {
			device, r := d.lib.DeviceGetHandleByIndex(index)
			return device, r, what
		}
		device, r := d.lib.DeviceGetHandleByUUID(first)
		return device, r, what
	})
}

func openPCI(path, busID string) (Device, error) {
	return openBy(path, func(d *driver) (nvml.Device, nvml.Return, string) {
		device, r := d.lib.DeviceGetHandleByPciBusId(busID)
		return device, r, "PCI bus id " + strconv.Quote(busID)
	})
}

// openFrom opens the GPU with a PCI bus id and up to count-1 GPUs that follow it, or for a count of 0 the GPUs of the
// machine; all or none.
func openFrom(path, busID string, count int) ([]Device, error) {
	d, err := load(path)
	if err != nil {
		return nil, err
	}
	defer d.close() // each device below has its own driver
	first := 0
	if count > 0 {
		device, r := d.lib.DeviceGetHandleByPciBusId(busID)
		if r == nvml.SUCCESS {
			first, r = device.GetIndex()
		}
		if r != nvml.SUCCESS {
			return nil, fmt.Errorf("%w: PCI bus id %q: %s", ErrNoGPU, busID, reason(r))
		}
	}
	n, r := d.lib.DeviceGetCount()
	switch {
	case r != nvml.SUCCESS:
		return nil, fmt.Errorf("%w: %s", ErrNoGPU, reason(r))
	case n == 0:
		return nil, fmt.Errorf("%w: the driver lists no GPU", ErrNoGPU)
	}
	var all []Device
	for i := first; i < n && (count == 0 || len(all) < count); i++ {
		g, err := open(path, strconv.Itoa(i))
		if err != nil {
			for _, g := range all {
				err = errors.Join(err, g.Close())
			}
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// openBy opens the device returned by find, which also describes what it looked for.
func openBy(path string, find func(*driver) (nvml.Device, nvml.Return, string)) (Device, error) {
	d, err := load(path)
	if err != nil {
		return nil, err
	}
	device, r, words := find(d)
	if r != nvml.SUCCESS {
		return nil, errors.Join(fmt.Errorf("%w: %s: %s", ErrNoGPU, words, reason(r)), d.close())
	}
	return d.open(device), nil
}

func (d *driver) open(device nvml.Device) *graphics {
	g := &graphics{driver: d, device: device, name: "NVIDIA GPU"}
	if name, r := device.GetName(); r == nvml.SUCCESS && name != "" {
		g.name = name
	}
	g.meters = newMeters(d.lib, device)
	return g
}

func (g *graphics) Name() string { return g.name }
func (g *graphics) Close() error {
	g.meters.close()
	return g.driver.close()
}

func (g *graphics) Sample() Sample {
	s := unmeasured(time.Now())
	if u, r := g.device.GetUtilizationRates(); r == nvml.SUCCESS {
		s.Busy = float64(u.Gpu)
	}
	if m, r := g.device.GetMemoryInfo(); r == nvml.SUCCESS {
		s.MemUsed, s.MemTotal = float64(m.Used), float64(m.Total)
	}
	const milli = 1e-3
	s.Watts = milli * measured(g.device.GetPowerUsage())
	s.WattsLimit = milli * measured(g.device.GetEnforcedPowerLimit())
	s.Celsius = measured(g.device.GetTemperature(nvml.TEMPERATURE_GPU))
	s.ClockMHz = measured(g.device.GetClockInfo(nvml.CLOCK_SM))
	if e, r := g.device.GetTotalEnergyConsumption(); r == nvml.SUCCESS {
		s.Joules = float64(e) * milli
	}
	if reasons, r := g.device.GetCurrentClocksThrottleReasons(); r == nvml.SUCCESS {
		s.Slowed = slowed(reasons)
	}
	g.meters.read(&s)
	return s
}

// measured returns a value, or NaN if the driver reports none.
func measured(v uint32, r nvml.Return) float64 {
	if r != nvml.SUCCESS {
		return math.NaN()
	}
	return float64(v)
}

// slowReasons are the reasons for a reduced clock, the most severe first, with their
// description; nvml.h documents them. An idle GPU and clocks set by a user are not reasons.
var slowReasons = []struct {
	bit   uint64
	words string
}{
	{nvml.ClocksThrottleReasonHwThermalSlowdown, "its temperature (in hardware)"},
	{nvml.ClocksThrottleReasonHwPowerBrakeSlowdown, "the power supply"},
	{nvml.ClocksThrottleReasonHwSlowdown, "the hardware's protection"},
	{nvml.ClocksEventReasonSwThermalSlowdown, "its temperature"},
	{nvml.ClocksEventReasonSwPowerCap, "the power limit"},
	{nvml.ClocksEventReasonSyncBoost, "the clocks of other GPUs"},
}

// slowed describes reasons. The general hardware protection is omitted if its cause is known.
func slowed(reasons uint64) string {
	const particular = nvml.ClocksThrottleReasonHwThermalSlowdown | nvml.ClocksThrottleReasonHwPowerBrakeSlowdown
	if reasons&particular != 0 {
		reasons &^= nvml.ClocksThrottleReasonHwSlowdown
	}
	var words []string
	for _, r := range slowReasons {
		if reasons&r.bit != 0 {
			words = append(words, r.words)
		}
	}
	return strings.Join(words, " and ")
}
