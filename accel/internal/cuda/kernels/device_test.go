package kernels

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/internal/testenv"
)

// deviceVariable makes the tests run their kernels on a GPU instead of in the simulator:
// the index of the GPU, or "fake" for the fake driver's.
const deviceVariable = "QUERN_KERNELS_DEVICE"

// device opens the GPU that the variable names, once; nil if the variable is unset.
var device = sync.OnceValues(func() (driver.Context, error) {
	name := os.Getenv(deviceVariable)
	switch name {
	case "":
		return nil, nil
	case "fake":
		d, err := fake.Open(fake.Options{Memory: 1 << 30, Capability: 90})
		if err != nil {
			return nil, err
		}
		return d.Context(0)
	}
	number, err := strconv.Atoi(name)
	if err != nil {
		return nil, fmt.Errorf("%s is %q, want the index of a GPU", deviceVariable, name)
	}
	d, err := driver.Open()
	if err != nil {
		return nil, err
	}
	return d.Context(number)
})

// Guard bytes around the memory of a test on a GPU detect out-of-bounds writes, as the
// simulator does. Uninitialized memory is filled with NaNs of all types.
const (
	guardBytes = 256
	guard      = 0xa5
	unwritten  = 0xff
)

// gpuMemory is the memory of a test on a GPU.
type gpuMemory struct {
	t           testing.TB
	context     driver.Context
	allocations []allocation
	modules     map[string]driver.Module
}

type allocation struct {
	at    Pointer
	bytes int
}

func newGPUMemory(t testing.TB, c driver.Context) *gpuMemory {
	d := &gpuMemory{t: t, context: c, modules: map[string]driver.Module{}}
	t.Cleanup(d.close)
	return d
}

func (d *gpuMemory) ok(err error) {
	d.t.Helper()
	var failed *driver.Error
	if errors.As(err, &failed) && failed.Code.Sticky() {
		fmt.Fprintf(os.Stderr, "%s: %v\n", d.t.Name(), err)
		os.Exit(3) // no later call can succeed
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *gpuMemory) alloc(bytes int) Pointer {
	p, err := d.context.Alloc(bytes+guardBytes, 0)
	d.ok(err)
	d.ok(d.context.Fill(p, unwritten, 1, bytes, 0))
	d.ok(d.context.Fill(p+Pointer(bytes), guard, 1, guardBytes, 0))
	d.allocations = append(d.allocations, allocation{p, bytes})
	return p
}

func (d *gpuMemory) write(p Pointer, b []byte) {
	if len(b) > 0 {
		d.ok(d.context.CopyToDevice(p, b, 0))
	}
}

func (d *gpuMemory) read(p Pointer, b []byte) {
	if len(b) > 0 {
		d.ok(d.context.CopyToHost(b, p, 0))
		d.ok(d.context.SyncStream(0))
	}
}

func (d *gpuMemory) launch(l Launch) error {
	if need := neededCapability(l.Module); need > d.context.Info().Capability() || need == 90 && d.context.Info().Major != 9 {
		testenv.Optional(d.t, "%s needs compute capability %d.%d", l.Module, need/10, need%10)
	}
	m, ok := d.modules[l.Module]
	if !ok {
		text, err := PTX(l.Module)
		d.ok(err)
		m, err = d.context.Load(text)
		d.ok(err)
		d.modules[l.Module] = m
	}
	f, err := d.context.Function(m, l.Entry)
	d.ok(err)
	for _, x := range l.Maps {
		encoded, err := d.context.TensorMap(x.Tensor)
		d.ok(err)
		copy(l.Params[x.Offset:], encoded[:])
	}
	if l.Shared > 48<<10 {
		d.ok(d.context.SetMaxShared(f, l.Shared))
	}
	err = d.context.Launch(driver.Launch{Function: f, Grid: l.Grid, Block: l.Block, Shared: l.Shared, Params: l.Params, Label: l.Entry}, 0)
	d.ok(err)
	d.ok(d.context.SyncStream(0))
	return nil
}

// neededCapability parses the compute capability in the name of a module, such as
// matmul8_e4m3_sm89.
func neededCapability(module string) int {
	if _, digits, ok := strings.Cut(module, "_sm"); ok {
		if n, err := strconv.Atoi(digits); err == nil {
			return n
		}
	}
	return 80
}

// close checks the guard bytes and frees the memory.
func (d *gpuMemory) close() {
	around := make([]byte, guardBytes)
	for _, p := range d.allocations {
		d.read(p.at+Pointer(p.bytes), around)
		for i, b := range around {
			if b != guard {
				d.t.Errorf("byte %d after an allocation of %d bytes was written", i, p.bytes)
				break
			}
		}
		d.ok(d.context.Free(p.at, 0))
	}
	for _, m := range d.modules {
		d.ok(d.context.Unload(m))
	}
}
