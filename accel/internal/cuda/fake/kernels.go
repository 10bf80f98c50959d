package fake

import (
	gocontext "context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
)

// function is an entry of a loaded module.
type function struct {
	kernel    *ptxsim.LoadedKernel
	maxShared int // bytes of dynamic shared memory
}

type namedFunction struct {
	module driver.Module
	name   string
}

// defaultShared is the shared memory, static and dynamic, that every function may use
// without SetMaxShared.
const defaultShared = 48 << 10

// Load parses a module. It rejects modules that the device or the version of the driver
// would reject.
func (c *context) Load(ptx string) (driver.Module, error) {
	return call(c, "Load", func() (driver.Module, error) {
		parsed, err := c.driver.options.Modules.parse(ptx)
		if err != nil {
			return 0, &driver.Error{Code: driver.InvalidPTX, Call: calls["Load"], Log: err.Error(), Cause: err}
		}
		if newest := newestPTX(c.driver.options.Version); parsed.Version() > newest {
			return 0, c.fail("Load", driver.UnsupportedPTXVersion, "the driver supports PTX up to %d.%d; the module has PTX %d.%d",
				newest/10, newest%10, parsed.Version()/10, parsed.Version()%10)
		}
		if !runsOn(parsed.Target(), c.info.Capability()) {
			return 0, c.fail("Load", driver.NoBinaryForGPU, "the module is for %s, the device is sm_%d", parsed.Target(), c.info.Capability())
		}
		loaded, err := c.memory.Load(parsed)
		if err != nil {
			code := driver.InvalidPTX
			if errors.Is(err, ptxsim.ErrOutOfMemory) {
				code = driver.OutOfMemory
			}
			return 0, &driver.Error{Code: code, Call: calls["Load"], Log: err.Error(), Cause: err}
		}
		m := driver.Module(c.next())
		c.modules[m] = loaded
		return m, nil
	})
}

// newestPTX returns the newest PTX version, 10*major + minor, that a version of CUDA
// supports.
func newestPTX(cuda int) int {
	major, minor := cuda/1000, cuda%1000/10
	switch {
	case major <= 11:
		return 70 + min(minor, 8)
	case major == 12 && minor >= 6: // 12.6 added none
		return 80 + min(minor-1, 8)
	case major == 12:
		return 80 + minor
	}
	return 90 + min(minor, 9)
}

// runsOn reports whether a module for a target such as sm_80 or sm_90a runs on
// a device.
func runsOn(target string, capability int) bool {
	digits := strings.TrimPrefix(target, "sm_")
	exact := strings.TrimRight(digits, "af")
	n, err := strconv.Atoi(exact)
	if err != nil {
		return false
	}
	if exact != digits {
		return n == capability
	}
	return n <= capability
}

func (c *context) Unload(m driver.Module) error {
	return c.call("Unload", func() error {
		loaded, err := find(c, "Unload", "module", c.modules[m], m)
		if err != nil {
			return err
		}
		c.drain(nil)
		for key, f := range c.named {
			if key.module == m {
				delete(c.named, key)
				delete(c.functions, f)
			}
		}
		delete(c.modules, m)
		return loaded.Unload()
	})
}

func (c *context) Function(m driver.Module, name string) (driver.Function, error) {
	return call(c, "Function", func() (driver.Function, error) {
		loaded, err := find(c, "Function", "module", c.modules[m], m)
		if err != nil {
			return 0, err
		}
		key := namedFunction{m, name}
		if f, ok := c.named[key]; ok {
			return f, nil
		}
		kernel := loaded.Kernel(name)
		if kernel == nil {
			return 0, c.fail("Function", driver.NotFound, "the module has no kernel %s", name)
		}
		f := driver.Function(c.next())
		c.named[key] = f
		c.functions[f] = &function{kernel, defaultShared - kernel.Shared()}
		return f, nil
	})
}

func (c *context) Global(m driver.Module, name string) (p driver.Pointer, bytes int, err error) {
	err = c.call("Global", func() error {
		if loaded := c.modules[m]; loaded != nil {
			if address, n, ok := loaded.Variable(name); ok {
				p, bytes = driver.Pointer(address), n
				return nil
			}
		}
		return c.fail("Global", driver.NotFound, "the module has no variable %s", name)
	})
	return p, bytes, err
}

// FunctionInfo reports no registers: there is no compiler that assigns them.
func (c *context) FunctionInfo(f driver.Function) (driver.FunctionInfo, error) {
	return call(c, "FunctionInfo", func() (driver.FunctionInfo, error) {
		found, err := find(c, "FunctionInfo", "function", c.functions[f], f)
		if err != nil {
			return driver.FunctionInfo{}, err
		}
		k := found.kernel
		return driver.FunctionInfo{Local: k.Local(), Shared: k.Shared(), Threads: k.MaxThreads(), BinaryMajor: c.info.Major, BinaryMinor: c.info.Minor}, nil
	})
}

func (c *context) SetMaxShared(f driver.Function, bytes int) error {
	return c.call("SetMaxShared", func() error {
		found, err := find(c, "SetMaxShared", "function", c.functions[f], f)
		if err != nil {
			return err
		}
		if bytes < 0 || bytes+found.kernel.Shared() > c.info.SharedPerBlock {
			return c.fail("SetMaxShared", driver.InvalidValue, "%d bytes of shared memory; a block has at most %d", bytes+found.kernel.Shared(), c.info.SharedPerBlock)
		}
		found.maxShared = max(bytes, defaultShared-found.kernel.Shared())
		return nil
	})
}

func (c *context) Occupancy(f driver.Function, threads, shared int) (int, error) {
	return call(c, "Occupancy", func() (int, error) {
		found, err := find(c, "Occupancy", "function", c.functions[f], f)
		if err != nil {
			return 0, err
		}
		if threads <= 0 || shared < 0 {
			return 0, c.fail("Occupancy", driver.InvalidValue, "%d threads, %d bytes of shared memory", threads, shared)
		}
		if threads > found.kernel.MaxThreads() {
			return 0, nil
		}
		blocks := min(c.info.ThreadsPerSM/((threads+31)/32*32), limitsOf(c.info.Capability()).blocks)
		if used := shared + found.kernel.Shared(); used > 0 {
			blocks = min(blocks, c.info.SharedPerSM/(used+1024)) // the system reserves one KiB per block
		}
		return blocks, nil
	})
}

func (c *context) Launch(l driver.Launch, s driver.Stream) error {
	return c.on("Launch", s, func(q *stream) error {
		l.Early = false // in a stream
		run, takes, err := c.kernel("Launch", l)
		if err != nil {
			return err
		}
		c.counts.Launches++
		c.nodes[c.functions[l.Function].kernel.Name()]++
		c.push(q, &command{call: "Launch", op: l.Label, run: run, takes: takes})
		return nil
	})
}

// kernel checks a launch and returns the function that runs it, and how long it takes. It
// copies the parameters.
func (c *context) kernel(call string, l driver.Launch) (run func() error, takes time.Duration, err error) {
	f, err := find(c, call, "function", c.functions[l.Function], l.Function)
	if err != nil {
		return nil, 0, err
	}
	refuse := func(code driver.Code, format string, args ...any) (func() error, time.Duration, error) {
		return nil, 0, &driver.Error{Code: code, Call: calls[call], Op: l.Label, Log: f.kernel.Name() + ": " + fmt.Sprintf(format, args...)}
	}
	k := f.kernel
	grid, block := dim(l.Grid), dim(l.Block)
	switch {
	case len(l.Params) != k.ParamBytes():
		return refuse(driver.InvalidValue, "%d bytes of parameters; the kernel has %d", len(l.Params), k.ParamBytes())
	case l.Block.Count() > k.MaxThreads():
		return refuse(driver.InvalidValue, "blocks of %d threads; the maximum is %d", l.Block.Count(), k.MaxThreads())
	case l.Block.Z > 64:
		return refuse(driver.InvalidValue, "blocks of %v threads; the maximum of z is 64", l.Block)
	case l.Grid.X > 1<<31-1 || l.Grid.Y > 1<<16-1 || l.Grid.Z > 1<<16-1:
		return refuse(driver.InvalidValue, "a grid of %v blocks is too large", l.Grid)
	case l.Shared < 0 || l.Shared > f.maxShared:
		return refuse(driver.InvalidValue, "%d bytes of dynamic shared memory; SetMaxShared allows %d", l.Shared, f.maxShared)
	case l.Cluster.Count() > 1:
		return refuse(driver.NotSupported, "clusters of blocks are not supported")
	}
	launch := ptxsim.Launch{Grid: grid, Block: block, Shared: l.Shared, Params: append([]byte(nil), l.Params...), MaxSteps: c.driver.options.MaxSteps, Early: l.Early, Output: os.Stdout}
	if of := c.driver.options.KernelTime; of != nil {
		takes = of(k.Name(), l.Grid, l.Block)
	}
	if c.driver.counting {
		return nil, takes, nil
	}
	return func() error {
		ctx := gocontext.Background()
		if l.Context != nil {
			var end func()
			ctx, end = l.Context()
			defer end()
		}
		_, err := k.Run(ctx, launch)
		if l.Detected == nil || !undetected(err) {
			return err
		}
		if l.Record != 0 {
			err = errors.Join(err, c.memory.Write(uint64(l.Record), []byte{2, 0, 0, 0}))
		}
		l.Detected(err)
		return nil
	}, takes, nil
}

func dim(d driver.Dim) ptxsim.Dim { return ptxsim.Dim{X: d.X, Y: d.Y, Z: d.Z} }

// faultCode returns the error code of a GPU for a fault. Faults that a GPU does not detect,
// such as races, are LaunchFailed.
func faultCode(err error) driver.Code {
	var fault *ptxsim.Fault
	var address *ptxsim.AddressError
	switch {
	case errors.As(err, &address):
		return driver.IllegalAddress
	case !errors.As(err, &fault):
		return driver.LaunchFailed
	}
	switch fault.Kind {
	case ptxsim.OutOfBounds:
		return driver.IllegalAddress
	case ptxsim.Misaligned:
		return driver.MisalignedAddress
	case ptxsim.BudgetSpent:
		return driver.LaunchTimeout
	}
	return driver.LaunchFailed
}

// undetected reports whether a GPU would not detect a fault, or a context has ended the kernel.
func undetected(err error) bool {
	var f *ptxsim.Fault
	if !errors.As(err, &f) {
		return false
	}
	switch f.Kind {
	case ptxsim.BudgetSpent:
		return f.Cause != nil
	case ptxsim.Race, ptxsim.Uninitialized, ptxsim.DivergentBarrier, ptxsim.InactiveLane:
		return true
	}
	return false
}

// TensorMap encodes the simulator's tensor map. It checks the rules of CUDA.
func (c *context) TensorMap(t driver.TensorMap) ([128]byte, error) {
	return call(c, "TensorMap", func() ([128]byte, error) {
		if c.info.Capability() < 90 {
			return [128]byte{}, c.fail("TensorMap", driver.NotSupported, "tensor maps need compute capability 9.0; the device has %d.%d", c.info.Major, c.info.Minor)
		}
		size, ok := elementBytes[t.Type]
		swizzle, known := map[driver.Swizzle]int{driver.SwizzleNone: 0, driver.Swizzle32: 32, driver.Swizzle64: 64, driver.Swizzle128: 128}[t.Swizzle]
		if !ok || !known {
			return [128]byte{}, c.fail("TensorMap", driver.InvalidValue, "type %d, swizzle %d", t.Type, t.Swizzle)
		}
		m := ptxsim.TensorMap{Element: size, Address: uint64(t.Address), Shape: t.Shape, Strides: t.Strides, Box: t.Box, Steps: t.Steps, Swizzle: swizzle, NaNFill: t.NaNFill}
		b, err := m.Encode()
		if err != nil {
			return [128]byte{}, &driver.Error{Code: driver.InvalidValue, Call: calls["TensorMap"], Log: err.Error(), Cause: err}
		}
		return b, nil
	})
}

var elementBytes = map[driver.TensorType]int{
	driver.TensorUint8: 1, driver.TensorUint16: 2, driver.TensorUint32: 4, driver.TensorInt32: 4, driver.TensorUint64: 8, driver.TensorInt64: 8,
	driver.TensorFloat16: 2, driver.TensorFloat32: 4, driver.TensorFloat64: 8, driver.TensorBFloat16: 2,
}
