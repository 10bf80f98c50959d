//go:build linux && cgo && (amd64 || arm64)

package gpu

import "github.com/NVIDIA/go-nvml/pkg/nvml"

// meters reads the counters of the GPU performance monitoring interface (GPM), available on
// Hopper and later, and computes differences. They measure the activity of the units, while
// utilization only says that any kernel ran.
type meters struct {
	lib       nvml.Interface
	device    nvml.Device
	last, now nvml.GpmSample
	begun     bool // last was read
}

// newMeters returns the counters of a GPU, or nil if it has none.
func newMeters(lib nvml.Interface, device nvml.Device) *meters {
	if support, r := device.GpmQueryDeviceSupport(); r != nvml.SUCCESS || support.IsSupportedDevice == 0 {
		return nil
	}
	m := &meters{lib: lib, device: device}
	var r nvml.Return
	if m.last, r = lib.GpmSampleAlloc(); r != nvml.SUCCESS {
		return nil
	}
	if m.now, r = lib.GpmSampleAlloc(); r != nvml.SUCCESS {
		_ = lib.GpmSampleFree(m.last) // an error here has no consequence
		return nil
	}
	return m
}

// read sets the counters since the previous call, if there was one.
func (m *meters) read(s *Sample) {
	if m == nil {
		return
	}
	if m.lib.GpmSampleGet(m.device, m.now) != nvml.SUCCESS {
		m.begun = false
		return
	}
	m.last, m.now = m.now, m.last // last is now the newer one
	if !m.begun {
		m.begun = true
		return
	}
	fields := []struct {
		id   nvml.GpmMetricId
		into *float64
	}{
		{nvml.GPM_METRIC_SM_UTIL, &s.SMs}, {nvml.GPM_METRIC_SM_OCCUPANCY, &s.Occupancy},
		{nvml.GPM_METRIC_ANY_TENSOR_UTIL, &s.TensorCores}, {nvml.GPM_METRIC_DRAM_BW_UTIL, &s.MemoryBus},
	}
	get := nvml.GpmMetricsGetType{NumMetrics: uint32(len(fields)), Sample1: m.now, Sample2: m.last}
	for i, f := range fields {
		get.Metrics[i].MetricId = uint32(f.id)
	}
	if m.lib.GpmMetricsGet(&get) != nvml.SUCCESS {
		return
	}
	for i, f := range fields {
		if metric := get.Metrics[i]; nvml.Return(metric.NvmlReturn) == nvml.SUCCESS {
			*f.into = metric.Value
		}
	}
}

func (m *meters) close() {
	if m != nil {
		_ = m.lib.GpmSampleFree(m.last) // an error here has no consequence
		_ = m.lib.GpmSampleFree(m.now)
	}
}
