package cuda

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// openFake opens a device on a fake driver.
func openFake(t *testing.T) (*fake.Driver, *Device) {
	t.Helper()
	gpu, err := fake.Open(fake.Options{Modules: modules})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open("cuda:0", gpu, 0, Libraries{})
	if err != nil {
		t.Fatal(err)
	}
	return gpu, d
}

// A graph of which only some kernels could be updated to other buffers is not launched
// again for its old ones.
func TestGraphAfterFailedUpdate(t *testing.T) {
	p := &ir.Program{
		Slots: []ir.Slot{{Kind: ir.External, Bytes: 4 * 6}, {Kind: ir.Output, Bytes: 4 * 6}, {Kind: ir.Output, Bytes: 4 * 3}},
		Steps: []ir.Step{
			{Op: ir.Copy{}, In: []ir.Operand{operand(0, 2, 3)}, Out: []ir.Operand{operand(1, 2, 3)}},
			{Op: ir.Max{}, In: []ir.Operand{operand(1, 2, 3)}, Out: []ir.Operand{operand(2, 3)}},
		},
	}
	gpu, d := openFake(t)
	x, err := d.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	old := bound(t, d, p)
	run(t, x, old) // without a graph
	run(t, x, old) // the first graph
	want := values(t, d, old[2])
	for range maxInstances - 1 {
		run(t, x, bound(t, d, p))
	}
	gpu.Inject(fake.Injection{Call: "UpdateKernel", Skip: 1, Code: driver.OutOfMemory})
	if _, err := x.Run(bound(t, d, p), nil); err == nil {
		t.Fatal("the update did not fail")
	}
	for _, s := range old[1:] {
		if err := d.Write(s, 0, make([]byte, s.Size())); err != nil {
			t.Fatal(err)
		}
	}
	run(t, x, old)
	if got := values(t, d, old[2]); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// An op without a kernel fails when a program is compiled, with the op's name.
func TestMissingKernelIsNamed(t *testing.T) {
	_, d := openFake(t)
	for _, s := range []ir.Step{{Op: ir.Quantized{}}, {Loop: []ir.Instr{{Op: ir.Quantized{}}}, Out: []ir.Operand{operand(0, 1)}, Shape: []int{1}}} {
		_, err := d.Compile(&ir.Program{Slots: []ir.Slot{{Kind: ir.Output, Bytes: 4}}, Steps: []ir.Step{s}})
		if err == nil || !strings.Contains(err.Error(), "Quantized") {
			t.Errorf("got %v", err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// Scalars that were only partly copied to the device are copied again.
func TestScalarsAfterFailedCopy(t *testing.T) {
	p := &ir.Program{
		Slots: []ir.Slot{{Kind: ir.External, Bytes: 4 * 6}, {Kind: ir.Output, Bytes: 4 * 6}},
		Steps: []ir.Step{{Shape: []int{6}, In: []ir.Operand{operand(0, 6)}, Out: []ir.Operand{operand(1, 6)}, Loop: []ir.Instr{{Op: ir.MulScalar{}, Args: []int{0}}}}},
	}
	gpu, d := openFake(t)
	x, err := d.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	bind := bound(t, d, p)
	words := func(scalar float64) []uint64 { return append([]uint64{math.Float64bits(scalar)}, make([]uint64, 8)...) }
	if _, err := x.Run(bind, words(2)); err != nil {
		t.Fatal(err)
	}
	want := values(t, d, bind[1])
	filler, err := d.Alloc(stagingBytes)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(filler, 0, make([]byte, stagingBytes-64-d.staging.filled)); err != nil { // room for eight of the words
		t.Fatal(err)
	}
	gpu.Inject(fake.Injection{Call: "CopyToDevice", Skip: 1, Code: driver.OutOfMemory})
	if _, err := x.Run(bind, words(5)); err == nil {
		t.Fatal("the copy did not fail")
	}
	if _, err := x.Run(bind, words(2)); err != nil {
		t.Fatal(err)
	}
	if got := values(t, d, bind[1]); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
