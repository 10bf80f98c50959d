//go:build linux && cgo && (amd64 || arm64)

package gpu

import (
	"slices"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
)

// linkedGPU is GPU i of a machine. links has, for each of its NVLinks, the GPU at its end, -1 for a switch, or -2 for a link that is off.
func linkedGPU(i int, links []int, level func(j int) nvml.GpuTopologyLevel) *mock.Device {
	pci := func(i int) nvml.PciInfo { return nvml.PciInfo{Bus: uint32(0x3b + i)} }
	return &mock.Device{
		GetPciInfoFunc: func() (nvml.PciInfo, nvml.Return) { return pci(i), nvml.SUCCESS },
		GetNvLinkStateFunc: func(link int) (nvml.EnableState, nvml.Return) {
			switch {
			case link >= len(links):
				return 0, nvml.ERROR_INVALID_ARGUMENT
			case links[link] == -2:
				return nvml.FEATURE_DISABLED, nvml.SUCCESS
			}
			return nvml.FEATURE_ENABLED, nvml.SUCCESS
		},
		GetNvLinkRemoteDeviceTypeFunc: func(link int) (nvml.IntNvLinkDeviceType, nvml.Return) {
			if links[link] == -1 {
				return nvml.NVLINK_DEVICE_TYPE_SWITCH, nvml.SUCCESS
			}
			return nvml.NVLINK_DEVICE_TYPE_GPU, nvml.SUCCESS
		},
		GetNvLinkRemotePciInfoFunc: func(link int) (nvml.PciInfo, nvml.Return) { return pci(links[link]), nvml.SUCCESS },
		GetTopologyCommonAncestorFunc: func(other nvml.Device) (nvml.GpuTopologyLevel, nvml.Return) {
			info, _ := other.GetPciInfo()
			return level(int(info.Bus) - 0x3b), nvml.SUCCESS
		},
	}
}

func TestLinks(t *testing.T) {
	sockets := func(i int) func(j int) nvml.GpuTopologyLevel { // two GPUs behind a switch, and two behind that of the other socket
		return func(j int) nvml.GpuTopologyLevel {
			if i/2 == j/2 {
				return nvml.TOPOLOGY_SINGLE
			}
			return nvml.TOPOLOGY_SYSTEM
		}
	}
	for _, c := range []struct {
		name  string
		links [][]int // of each GPU
		want  []string
	}{
		{"without NVLink", [][]int{nil, nil, nil, nil}, []string{"PIX", "SYS", "SYS", "PIX", "SYS", "SYS", "SYS", "SYS", "PIX", "SYS", "SYS", "PIX"}},
		{"bridges between pairs", [][]int{{1, 1, -2}, {0, 0, -2}, nil, nil}, []string{"NV2", "SYS", "SYS", "NV2", "SYS", "SYS", "SYS", "SYS", "PIX", "SYS", "SYS", "PIX"}},
		{"NVSwitch, a link is off", [][]int{{-1, -1, -1}, {-1, -1, -2}}, []string{"NV2", "NV2"}},
		{"one GPU", [][]int{{-1}}, nil},
	} {
		var devices []nvml.Device
		for i, links := range c.links {
			devices = append(devices, linkedGPU(i, links, sockets(i)))
		}
		d := &driver{&mock.Interface{
			DeviceGetCountFunc:         func() (int, nvml.Return) { return len(devices), nvml.SUCCESS },
			DeviceGetHandleByIndexFunc: func(i int) (nvml.Device, nvml.Return) { return devices[i], nvml.SUCCESS },
		}}
		all, err := d.links()
		var got []string
		for _, l := range all {
			got = append(got, l.String())
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
		if len(all) > 0 && (all[0].From != "0000:3b:00.0" || all[0].To != "0000:3c:00.0") {
			t.Errorf("%s: %+v", c.name, all[0])
		}
	}
}
