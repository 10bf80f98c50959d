package cpu

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

func TestUnknownOpIsNamed(t *testing.T) {
	d := New(1)
	defer d.Close()
	for _, s := range []ir.Step{{Op: ir.Permute{}}, {Loop: []ir.Instr{{Op: ir.Permute{}}}}} {
		if _, err := d.Compile(&ir.Program{Steps: []ir.Step{s}}); err == nil || !strings.Contains(err.Error(), "Permute") {
			t.Errorf("got %v", err)
		}
	}
}

// An op that computes float64 by its composition is rejected in float64, if nobody has replaced it.
func TestFloat64WithoutKernelIsRejected(t *testing.T) {
	d := New(1)
	defer d.Close()
	row := ir.RowMajor([]int{1, 2})
	for of, rejected := range map[ir.DType]bool{ir.Float32: false, ir.Float64: true} {
		x := ir.Operand{DType: of, Layout: row}
		y := ir.Operand{Slot: 1, DType: of, Layout: row}
		slots := []ir.Slot{{Kind: ir.External, Bytes: 2 * of.Size()}, {Kind: ir.Output, Bytes: 2 * of.Size()}}
		_, err := d.Compile(&ir.Program{Slots: slots, Steps: []ir.Step{{Op: ir.Softmax{}, In: []ir.Operand{x}, Out: []ir.Operand{y}}}})
		if (err != nil) != rejected {
			t.Errorf("%v: %v", of, err)
		}
	}
}

func TestFreedMemoryIsUsedAgain(t *testing.T) {
	d := New(1)
	defer d.Close()
	a, _ := d.Alloc(1000)
	d.Free(a)
	if b, _ := d.Alloc(1001); b != a {
		t.Error("an Alloc of nearly the same size took new memory")
	}
	big, _ := d.Alloc(maxPooled + 1)
	d.Free(big)
	if d.pooled > maxPooled {
		t.Errorf("%d bytes are kept", d.pooled)
	}
}
