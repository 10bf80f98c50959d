//go:build linux && cgo && (amd64 || arm64)

package gpu

import (
	"errors"
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

var paths = map[nvml.GpuTopologyLevel]Path{
	nvml.TOPOLOGY_INTERNAL: SameBoard, nvml.TOPOLOGY_SINGLE: OneSwitch, nvml.TOPOLOGY_MULTIPLE: SeveralSwitches,
	nvml.TOPOLOGY_HOSTBRIDGE: HostBridge, nvml.TOPOLOGY_NODE: SameNUMANode, nvml.TOPOLOGY_SYSTEM: BetweenSockets,
}

// Links returns the links between all pairs of the machine's GPUs, in both directions. The error wraps [ErrNoGPU].
func Links() (all []Link, err error) {
	d, err := load(libraryName)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	return d.links()
}

// links asks the library. A GPU without NVLink has no state of its links.
func (d *driver) links() ([]Link, error) {
	n, r := d.lib.DeviceGetCount()
	if r != nvml.SUCCESS {
		return nil, fmt.Errorf("%w: %s", ErrNoGPU, reason(r))
	}
	devices, bus := make([]nvml.Device, n), make([]string, n)
	direct, switched := make([]map[string]int, n), make([]int, n) // active NVLinks to a GPU, and to a switch
	for i := range n {
		if devices[i], r = d.lib.DeviceGetHandleByIndex(i); r != nvml.SUCCESS {
			return nil, fmt.Errorf("%w: GPU %d: %s", ErrNoGPU, i, reason(r))
		}
		info, r := devices[i].GetPciInfo()
		if r != nvml.SUCCESS {
			return nil, fmt.Errorf("%w: the bus id of GPU %d: %s", ErrNoGPU, i, reason(r))
		}
		bus[i] = busID(info)
		direct[i], switched[i] = nvLinks(devices[i])
	}
	var all []Link
	for i := range n {
		for j := range n {
			if i == j {
				continue
			}
			l := Link{From: bus[i], To: bus[j], NVLinks: direct[i][bus[j]]}
			if l.NVLinks == 0 { // all GPUs of a machine with NVSwitch reach each other through it
				l.NVLinks = min(switched[i], switched[j])
			}
			level, r := devices[i].GetTopologyCommonAncestor(devices[j])
			if r != nvml.SUCCESS {
				return nil, fmt.Errorf("the path between GPU %d and GPU %d: %s", i, j, reason(r))
			}
			l.Path = paths[level]
			all = append(all, l)
		}
	}
	return all, nil
}

// nvLinks counts the active NVLinks of a GPU, those to each other GPU and those to switches.
func nvLinks(device nvml.Device) (direct map[string]int, switched int) {
	direct = map[string]int{}
	for link := range nvml.NVLINK_MAX_LINKS {
		state, r := device.GetNvLinkState(link)
		if r != nvml.SUCCESS || state != nvml.FEATURE_ENABLED {
			continue
		}
		switch kind, r := device.GetNvLinkRemoteDeviceType(link); {
		case r != nvml.SUCCESS:
		case kind == nvml.NVLINK_DEVICE_TYPE_SWITCH:
			switched++
		case kind == nvml.NVLINK_DEVICE_TYPE_GPU:
			if info, r := device.GetNvLinkRemotePciInfo(link); r == nvml.SUCCESS {
				direct[busID(info)]++
			}
		}
	}
	return direct, switched
}

// busID returns the PCI bus id as the CUDA driver writes it.
func busID(p nvml.PciInfo) string { return fmt.Sprintf("%04x:%02x:%02x.0", p.Domain, p.Bus, p.Device) }
