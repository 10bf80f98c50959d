package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/quernlab/quern/internal/loader"
)

// machine gives access to the parts of the operating system that explain why there is no
// GPU.
type machine struct {
	exists func(path string) bool
	env    func(name string) (string, bool)
}

func thisMachine() machine {
	return machine{
		// A device file can be left over without a driver; it then cannot be opened.
		exists: func(path string) bool {
			f, err := os.Open(path)
			if err != nil {
				return errors.Is(err, fs.ErrPermission)
			}
			return f.Close() == nil
		},
		env: os.LookupEnv,
	}
}

// The variable that hides devices from CUDA, and the files through which the driver talks
// to the kernel.
const (
	visibleDevices = "CUDA_VISIBLE_DEVICES"
	controlFile    = "/dev/nvidiactl"
	memoryFile     = "/dev/nvidia-uvm"
	moduleFile     = "/proc/driver/nvidia/version"
)

// withoutLibrary explains why the library cannot be loaded.
func (m machine) withoutLibrary(cause error) error {
	var unsafe *loader.UnsafeError
	switch {
	case errors.As(cause, &unsafe):
		return fmt.Errorf("%w: libcuda.so.1 is not loaded: %w", ErrNoGPU, cause)
	case m.exists(controlFile):
		return fmt.Errorf("%w: the machine has a GPU but libcuda.so.1 cannot be loaded (%w): install the NVIDIA driver's libraries, or start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility", ErrNoGPU, cause)
	case m.exists(moduleFile):
		return fmt.Errorf("%w: the machine has an NVIDIA driver but this container does not: start it with --gpus all", ErrNoGPU)
	}
	return fmt.Errorf("%w: libcuda.so.1 is not installed: there is no NVIDIA driver, or the container was started without --gpus", ErrNoGPU)
}

// withoutInit explains why cuInit fails.
func (m machine) withoutInit(code Code) error {
	visible, set := m.env(visibleDevices)
	switch {
	case code == NoDevice && set && (strings.TrimSpace(visible) == "" || strings.HasPrefix(strings.TrimSpace(visible), "-")):
		return fmt.Errorf("%w: %s is %q, which hides every GPU", ErrNoGPU, visibleDevices, visible)
	case code == NoDevice && !m.exists(controlFile):
		return fmt.Errorf("%w: the CUDA library is installed but %s is missing: there is no GPU, its kernel module is not loaded, or the container was started without --gpus", ErrNoGPU, controlFile)
	case code == NoDevice:
		return fmt.Errorf("%w: the NVIDIA driver finds no GPU; try nvidia-smi", ErrNoGPU)
	case code == Unknown && !m.exists(memoryFile):
		return fmt.Errorf("%w: %s is missing, so CUDA cannot start; run nvidia-modprobe -u -c=0 on the machine", ErrNoGPU, memoryFile)
	case code == SystemDriverMismatch:
		return fmt.Errorf("%w: the versions of the NVIDIA kernel driver and its library differ; restart the machine after a driver update", ErrNoGPU)
	case code == SystemNotReady:
		return fmt.Errorf("%w: the machine's GPUs are not ready; start the NVIDIA fabric manager", ErrNoGPU)
	case code == StubLibrary:
		return fmt.Errorf("%w: libcuda.so.1 is the CUDA toolkit's stub, not a driver; remove its folder from LD_LIBRARY_PATH", ErrNoGPU)
	case code == DeviceUnavailable:
		return fmt.Errorf("%w: another process uses the GPU exclusively; nvidia-smi lists it", ErrNoGPU)
	}
	return fmt.Errorf("%w: cuInit: %w", ErrNoGPU, code)
}

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
