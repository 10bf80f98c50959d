package driver

import "fmt"

// The requirements of the back end: PTX 7.0 (CUDA 11.0), stream-ordered allocation (11.2),
// cuGraphInstantiateWithFlags (11.4), and tensor cores with bfloat16 (compute capability
// 8.0).
const (
	oldestVersion    = 11040
	lowestCapability = 80
)

// Usable returns an error if no device of a machine can be used. It wraps [ErrNoGPU] and
// explains why.
func Usable(version int, devices []Info) error {
	if version < oldestVersion {
		return fmt.Errorf("%w: the NVIDIA driver only supports CUDA %s, but %s is needed: update the driver", ErrNoGPU, versionText(version), versionText(oldestVersion))
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
	return fmt.Errorf("%w: %s has compute capability %d.%d, but 8.0 (Ampere) or later is needed", ErrNoGPU, d.Name, d.Major, d.Minor)
}

func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
