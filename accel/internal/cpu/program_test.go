package cpu

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/ir"
)

// absent are the ops that this device does not implement, with the reason.
var absent = map[string]string{
	"Alias":     "always a view",
	"Recompute": "always a view",
	"Expand":    "always a view",
	"Slice":     "always a view",
	"Permute":   "always a view",
}

func TestEveryOpHasAKernel(t *testing.T) {
	for _, op := range ir.Table() {
		_, step := builders[op.Name()]
		_, fast := elementwiseOps[op.Name()]
		_, scalar := scalarOps[op.Name()]
		loop := fast || scalar
		_, none := absent[op.Name()]
		if !step && !loop && !none {
			t.Errorf("there is no kernel for %s", op.Name())
		}
		if none && (step || loop) {
			t.Errorf("%s is listed as absent but has a kernel", op.Name())
		}
	}
}

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
