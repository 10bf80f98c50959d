package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/quernlab/quern/internal/loader"
)

// machine is what of the operating system tells why there is no GPU.
type machine struct {
	exists func(path string) bool
	env    func(name string) (string, bool)
}

func thisMachine() machine {
	return machine{
		// A device file without a driver behind it can be left over: it does
		// not open.
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

// The variable by which CUDA hides devices, and the files through which the
// driver talks to the kernel.
const (
	visibleDevices = "CUDA_VISIBLE_DEVICES"
	controlFile    = "/dev/nvidiactl"
	memoryFile     = "/dev/nvidia-uvm"
	moduleFile     = "/proc/driver/nvidia/version"
)

// withoutLibrary says why the library cannot be opened.
func (m machine) withoutLibrary(cause error) error {
	var unsafe *loader.UnsafeError
	switch {
	case errors.As(cause, &unsafe):
		return fmt.Errorf("%w: libcuda.so.1 is not loaded: %w", ErrNoGPU, cause)
	case m.exists(controlFile):
		return fmt.Errorf("%w: the GPU is there but libcuda.so.1 cannot be loaded (%w): install the NVIDIA driver's libraries, or start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility", ErrNoGPU, cause)
	case m.exists(moduleFile):
		return fmt.Errorf("%w: the machine has an NVIDIA driver but this container does not: start it with --gpus all", ErrNoGPU)
	}
	return fmt.Errorf("%w: libcuda.so.1 is not installed: there is no NVIDIA driver, or the container was started without --gpus", ErrNoGPU)
}

// withoutInit says why cuInit fails.
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
		return fmt.Errorf("%w: the NVIDIA driver and its library differ in version; restart after a driver update", ErrNoGPU)
	case code == SystemNotReady:
		return fmt.Errorf("%w: the machine's GPUs are not ready; start the NVIDIA fabric manager", ErrNoGPU)
	case code == StubLibrary:
		return fmt.Errorf("%w: libcuda.so.1 is the stub of the CUDA toolkit and no driver; take its folder out of LD_LIBRARY_PATH", ErrNoGPU)
	case code == DeviceUnavailable:
		return fmt.Errorf("%w: the GPU is in use by another process, exclusively", ErrNoGPU)
	}
	return fmt.Errorf("%w: cuInit: %w", ErrNoGPU, code)
}
