package cuda

import (
	"encoding/binary"
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// kernelStep is a kernel of the program as an op. It launches two kernels: one that sets the result to 0, and that of the
// program. The fault record of that takes several of the program's records.
type kernelStep struct {
	op        ir.KernelOp
	tensors   []ir.Operand
	clear     driver.Function
	function  driver.Function
	record    int // the number of its first record, -1 for none
	elements  int // of the result
	addresses []uint64
}

func (p *program) newKernelStep(op ir.KernelOp, s ir.Step) (step, error) {
	d := p.device
	k := &kernelStep{op: op, tensors: op.Tensors(s), record: -1, elements: ir.Len(s.Out[0].Shape)}
	text, entry, err := op.Kernel.PTX()
	if err != nil {
		return nil, err
	}
	if k.function, err = d.code.program(text, entry, op.Kernel.Name()); err != nil {
		return nil, d.failed(op.Name(), err)
	}
	if k.clear, err = d.code.program(clearPTX(s.Out[0].DType.Size()), clearEntry, clearEntry); err != nil {
		return nil, d.failed(op.Name(), err)
	}
	if n := op.Kernel.RecordBytes(); n > 0 {
		k.record = len(p.explains)
		p.explains = append(p.explains, op.Kernel.Check)
		p.explains = append(p.explains, make([]explain, (n-1)/faultBytes)...)
	}
	k.addresses = make([]uint64, len(k.tensors))
	return k, nil
}

func (k *kernelStep) launches(p *program) ([]launch, error) {
	if k.elements == 0 {
		return nil, nil // also a grid of no threads has a block
	}
	for i, o := range k.tensors {
		k.addresses[i] = uint64(p.address(o))
	}
	own := launch{Launch: launchOf(k.op.Kernel, k.function, k.addresses, p.fault(k.record))}
	own.Record = p.fault(k.record)
	own.Detected = func(err error) { p.device.faults.detected = append(p.device.faults.detected, k.op.Kernel.Explain(err)) }
	params := binary.LittleEndian.AppendUint64(nil, k.addresses[k.op.At])
	params = binary.LittleEndian.AppendUint64(params, uint64(k.elements))
	first := driver.Launch{
		Function: k.clear, Grid: driver.Dim{X: uint32((k.elements + clearThreads - 1) / clearThreads)}, Block: driver.Dim{X: clearThreads},
		Params: params, Label: own.Label,
	}
	return []launch{{Launch: first}, own}, nil
}

const (
	clearEntry   = "clear"
	clearThreads = 256
)

// clearPTX returns a kernel that sets n elements of a size in bytes to 0.
func clearPTX(size int) string {
	return fmt.Sprintf(`.version 7.0
.target sm_80
.address_size 64

.visible .entry %[1]s(.param .u64 at, .param .u64 n)
.maxntid %[2]d, 1, 1
{
	.reg .pred %%p<1>;
	.reg .b32 %%r<3>;
	.reg .b64 %%l<5>;
	ld.param.u64 %%l0, [at];
	ld.param.u64 %%l1, [n];
	mov.u32 %%r0, %%ctaid.x;
	mov.u32 %%r1, %%ntid.x;
	mov.u32 %%r2, %%tid.x;
	mul.wide.u32 %%l2, %%r0, %%r1;
	cvt.u64.u32 %%l3, %%r2;
	add.u64 %%l2, %%l2, %%l3;
	setp.ge.u64 %%p0, %%l2, %%l1;
	@%%p0 exit;
	mul.lo.u64 %%l3, %%l2, %[3]d;
	add.u64 %%l4, %%l0, %%l3;
	st.global.u%[4]d [%%l4], 0;
	ret;
}
`, clearEntry, clearThreads, size, 8*size)
}
