package ptx

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

func TestWaiting(t *testing.T) {
	const module = `.version 7.0
.target sm_80
.address_size 64
.global .align 4 .b8 counters[16];
.visible .entry first(
	.param .u64 first_param_0
)
.maxntid 256, 1, 1
{
	.local .align 8 .b8 depot[16];
	.reg .b32 %r<5>;

$L__BB0_1:
	{
	.reg .b16 low;
	mov.b32 {low, _}, %r1;
	}
	bra $L__BB0_1;
}
.visible .entry second()
{
	ret;
}
`
	got, err := Waiting(module)
	want := strings.NewReplacer(".version 7.0", ".version 7.8", "sm_80", "sm_90", "$L__BB0_1:\n", waitFirst+"$L__BB0_1:\n", "\tret;", waitFirst+"\tret;").Replace(module)
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	for header, want := range map[string]string{
		".version 7.0\n.target sm_80":        ".version 7.8\n.target sm_90",
		".version 8.0\n.target sm_90a":       ".version 8.0\n.target sm_90a",
		".version 8.4\n.target sm_89":        ".version 8.4\n.target sm_90",
		".version 10.0\n.target sm_90":       ".version 10.0\n.target sm_90",
		".version 7.8\n.target sm_90, debug": ".version 7.8\n.target sm_90, debug",
	} {
		if got, err := Waiting(strings.Replace(module, ".version 7.0\n.target sm_80", header, 1)); err != nil || !strings.HasPrefix(got, want+"\n") {
			t.Errorf("%q: %v\n%s", header, err, got)
		}
	}
	for _, wrong := range []string{
		"", ".version 7.0", strings.TrimSuffix(module, "\tret;\n}\n"), strings.TrimSuffix(module, "}\n"),
		strings.Replace(module, "\tret;", "\tld.global.nc.f32 %f1, [%rd1];", 1),
		strings.Replace(module, "\tret;", "\tldu.global.f32 %f1, [%rd1];", 1),
		module + ".func f()\n{\n\tret;\n}\n",
		module + ".visible .func (.param .b32 r) f()\n{\n\tret;\n}\n",
	} {
		if got, err := Waiting(wrong); err == nil {
			t.Errorf("no error for\n%s\nbut\n%s", wrong, got)
		}
	}
}

// Kernels of this package wait before they read memory.
func TestWaitingKernel(t *testing.T) {
	x := ir.Operand{DType: ir.Float32, Layout: ir.RowMajor([]int{100})}
	k, err := New(ir.Step{Shape: []int{100}, Loop: []ir.Instr{{Op: ir.Exp{}, Args: []int{0}}}, In: []ir.Operand{x}, Out: []ir.Operand{{Slot: 1, DType: ir.Float32, Layout: x.Layout}}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Waiting(k.PTX)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(text, waitFirst)
	if _, body, _ := strings.Cut(before, "{\n"); !ok || strings.Contains(body, "ld.") || strings.Contains(body, "\tmov") {
		t.Errorf("it does not wait first:\n%s", text)
	}
}
