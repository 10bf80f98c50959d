package cpu

import (
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implement[ir.KernelOp](newKernelOp)

// kernelOp runs a kernel of the program.
type kernelOp struct {
	op      ir.KernelOp
	tensors []ir.Operand
}

func newKernelOp(_ *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.KernelOp)
	return &kernelOp{op, op.Tensors(s)}, nil
}

func (k *kernelOp) run(p *program) error {
	memory := make([][]byte, len(k.tensors))
	for i, o := range k.tensors {
		size := o.DType.Size()
		memory[i] = unsafe.Slice((*byte)(unsafe.Add(p.memory[o.Slot], o.Offset*size)), ir.Len(o.Shape)*size)
	}
	if len(memory[k.op.At]) == 0 {
		return nil // also a grid of no threads has a block
	}
	clear(memory[k.op.At])
	return k.op.Kernel.Host(memory)
}
