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
