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

// deviceVariable has the tests run their kernels on a GPU and not in the simulator:
// the number of the GPU, or "fake" for the fake driver's.
const deviceVariable = "QUERN_KERNELS_DEVICE"

// device is the GPU that the variable names, opened once; nil without it.
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
		return nil, fmt.Errorf("%s is %q, want the number of a GPU", deviceVariable, name)
	}
	d, err := driver.Open()
	if err != nil {
		return nil, err
	}
	return d.Context(number)
})

// What lies around the memory of a test on a GPU: writes that go astray are seen, as
// the simulator sees them. Memory that nobody wrote has NaNs of all types.
const (
	guardBytes = 256
	guard      = 0xa5
	unwritten  = 0xff
)

// onDevice is a test's memory on a GPU.
type onDevice struct {
	t       testing.TB
	context driver.Context
	pieces  []piece
	modules map[string]driver.Module
}

type piece struct {
	at    Pointer
	bytes int
}

func newOnDevice(t testing.TB, c driver.Context) *onDevice {
	d := &onDevice{t: t, context: c, modules: map[string]driver.Module{}}
	t.Cleanup(d.close)
	return d
}

func (d *onDevice) ok(err error) {
	d.t.Helper()
	var failed *driver.Error
	if errors.As(err, &failed) && failed.Code.Sticky() {
		fmt.Fprintf(os.Stderr, "%s: %v\n", d.t.Name(), err)
		os.Exit(3) // nothing after it can succeed
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *onDevice) alloc(bytes int) Pointer {
	p, err := d.context.Alloc(bytes+guardBytes, 0)
	d.ok(err)
	d.ok(d.context.Fill(p, unwritten, 1, bytes, 0))
	d.ok(d.context.Fill(p+Pointer(bytes), guard, 1, guardBytes, 0))
	d.pieces = append(d.pieces, piece{p, bytes})
	return p
}

func (d *onDevice) write(p Pointer, b []byte) {
	if len(b) > 0 {
		d.ok(d.context.CopyToDevice(p, b, 0))
	}
}

func (d *onDevice) read(p Pointer, b []byte) {
	if len(b) > 0 {
		d.ok(d.context.CopyToHost(b, p, 0))
		d.ok(d.context.SyncStream(0))
	}
}

func (d *onDevice) launch(l Launch) error {
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

// neededCapability is what the name of a module says, matmul8_e4m3_sm89.
func neededCapability(module string) int {
	if _, digits, ok := strings.Cut(module, "_sm"); ok {
		if n, err := strconv.Atoi(digits); err == nil {
			return n
		}
	}
	return 80
}

// close looks at the guards and gives the memory back.
func (d *onDevice) close() {
	around := make([]byte, guardBytes)
	for _, p := range d.pieces {
		d.read(p.at+Pointer(p.bytes), around)
		for i, b := range around {
			if b != guard {
				d.t.Errorf("byte %d behind a piece of %d bytes was written", i, p.bytes)
				break
			}
		}
		d.ok(d.context.Free(p.at, 0))
	}
	for _, m := range d.modules {
		d.ok(d.context.Unload(m))
	}
}
