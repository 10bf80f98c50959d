package driver

import "fmt"

// What the back end needs of a machine: PTX 7.0, which CUDA 11.0 brought, memory
// in stream order, of 11.2, cuGraphInstantiateWithFlags, of 11.4, and tensor
// cores that know brain floats.
const (
	oldestVersion    = 11040
	lowestCapability = 80
)

// Usable says why no device of a machine can be used, or nil. The error wraps
// [ErrNoGPU].
func Usable(version int, devices []Info) error {
	if version < oldestVersion {
		return fmt.Errorf("%w: the NVIDIA driver supports CUDA %s only, %s is needed; update the driver", ErrNoGPU, versionText(version), versionText(oldestVersion))
	}
	if len(devices) == 0 {
		return fmt.Errorf("%w: the NVIDIA driver lists no device", ErrNoGPU)
	}
	for _, d := range devices {
		if d.Capability() >= lowestCapability {
			return nil
		}
	}
	d := devices[0]
	return fmt.Errorf("%w: %s has compute capability %d.%d, 8.0 (Ampere) or later is needed", ErrNoGPU, d.Name, d.Major, d.Minor)
}

func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
