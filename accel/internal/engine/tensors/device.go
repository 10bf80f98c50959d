package tensors

import (
	"errors"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// SetDevice is accel.SetDevice.
func SetDevice(device string) error { return engine.SetDevice(device) }

// Device returns the name of the current device, such as "cpu" or "cuda:0".
func Device() (name string) {
	engine.Locked(func(r *ir.Recorder) { name = r.Device().Name() })
	return name
}

// DeviceLost is accel.DeviceLost.
func DeviceLost() error { return engine.DeviceLost() }

// GPU describes a device that accel.SetDevice can name.
type GPU struct {
	Device     string // for SetDevice
	Name       string // the vendor's product name
	Capability string // CUDA's compute capability, such as "9.0"
	SMs        int    // streaming multiprocessors
	Memory     int    // bytes
	PCI        string // PCI bus ID, such as 0000:3b:00.0
}

// GPUs returns the GPUs that this package can use. If there are none, the error says why in one
// line.
func GPUs() ([]GPU, error) { return engine.GPUs() }

// Library is an NVIDIA library that a GPU uses, if installed, where it is faster than the kernels
// of package accel.
type Library struct {
	Name    string // cuBLASLt, cuDNN or NCCL
	Version string // empty if it was not found
	Path    string // of the file that is used, or would be used
	From    string // how the file was found, for example in a Python environment
	Unused  string // why it is not used; empty if it is
	// Refused are the files and folders for which an existing library is not used, because other
	// users can change them.
	Refused []string
}

// String describes the library in one line.
func (l Library) String() string {
	if l.Unused != "" {
		return fmt.Sprintf("%s: %s", l.Name, l.Unused)
	}
	return fmt.Sprintf("%s %s, %s (%s)", l.Name, l.Version, l.Path, l.From)
}

// Libraries looks for the libraries as the first op that needs one does: in Python packages, conda
// environments, the loader's path and the CUDA toolkit. If the environment variable
// QUERN_CUDA_LIBRARIES names a folder, only that folder is searched; "none" disables the libraries.
func Libraries() []Library { return engine.Libraries() }

// AllowTF32 is accel.AllowTF32; it returns the previous setting.
func AllowTF32(on bool) (before bool) { return engine.AllowTF32(on) }

// TF32 reports whether AllowTF32 is on.
func TF32() bool { return engine.TF32() }

// Seed is accel.Seed.
func Seed(seed uint64) { engine.Seed(seed) }

// Stats returns what the engine has done since the last [ResetStats].
func Stats() (s ir.Stats) {
	engine.Locked(func(r *ir.Recorder) { s = r.Stats() })
	return s
}

// ResetStats sets the counts of [Stats] to zero.
func ResetStats() { engine.Locked((*ir.Recorder).ResetStats) }

// MemoryUse runs the recorded ops and the garbage collector and returns the memory of tensors on the device. Tensors that have
// not moved to the device yet count as allocated. The peak is since the start of the program or [ResetStats].
func MemoryUse() (use ir.MemoryUse) {
	engine.Locked(func(r *ir.Recorder) {
		r.Flush()
		use = r.MemoryUse()
	})
	return use
}

// PeakBytes runs f and returns the maximum number of bytes that tensors and temporaries took at
// once, including those of before f and of other goroutines. Unreachable tensors do not count: the
// garbage collector runs before f and at each new peak. If no new kind of step is planned, a peak
// less than 1/16 above the previous one may be missed.
func PeakBytes(f func()) (bytes int) {
	ir.Collect()
	var stop func()
	engine.Locked(func(r *ir.Recorder) { stop = r.Meter(&bytes) })
	defer engine.Locked(func(*ir.Recorder) { stop() })
	f()
	engine.Locked((*ir.Recorder).Flush)
	return bytes
}

// ErrNoCopies is returned by [HostCopies] on the CPU.
var ErrNoCopies = errors.New("the CPU uses batches where they are")

// HostCopies measures copies of a number of bytes from the host to the current device. It returns the mean
// times of one copy from pinned and from pageable memory, in a number of rounds after one that does not
// count. It runs all recorded ops before. It fails with [ErrNoCopies] on the CPU, and with the error of the
// device, for example a *OutOfMemoryError.
func HostCopies(bytes, rounds int) (pinned, pageable time.Duration, err error) {
	if bytes < 1 || rounds < 1 {
		return 0, 0, fmt.Errorf("tensors: HostCopies(%d, %d): the number of bytes and of rounds must be positive", bytes, rounds)
	}
	engine.Locked((*ir.Recorder).Wait)
	engine.Locked(func(r *ir.Recorder) {
		d, ok := r.Device().(interface {
			HostCopies(bytes, rounds int) (pinned, pageable time.Duration, err error)
		})
		if !ok {
			err = ErrNoCopies
			return
		}
		pinned, pageable, err = d.HostCopies(bytes, rounds)
	})
	return pinned, pageable, err
}
