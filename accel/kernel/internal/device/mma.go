package device

import (
	"strings"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// multiply writes mma.sync.
func (w *writer) multiply(i *program.Instr) {
	args := w.operands(i.Args)
	list := func(registers []string) string { return "{" + strings.Join(registers, ", ") + "}" }
	sum, rest := list(args[:4]), args[4:]
	if i.Text == "tf32" {
		for n, x := range rest {
			rest[n] = w.op("r", "cvt.rna.tf32.f32", x)
		}
		w.do("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", sum, list(rest[:4]), list(rest[4:]), sum)
		return
	}
	var pairs []string
	for n := 0; n < len(rest); n += 2 {
		pairs = append(pairs, w.op("r", "prmt.b32", rest[n], rest[n+1], "0x5410"))
	}
	w.do("mma.sync.aligned.m16n8k16.row.col.f32."+i.Text+"."+i.Text+".f32", sum, list(pairs[:4]), list(pairs[4:]), sum)
}
