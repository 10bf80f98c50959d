package cuda

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// program is a compiled list of steps.
type program struct {
	device    *Device
	slots     []ir.Slot
	steps     []step
	arena     int // bytes of temporaries
	workspace int // bytes of scratch memory, shared by the steps
	explains  []explain

	scratchWork driver.Pointer // workspace while a candidate is measured; 0: it lies behind the arena

	runs     int
	at       []driver.Pointer // address of each slot in this run
	uploaded []uint64         // the words that are on the device
	raw      []byte           // words as they are uploaded
	held     *held
}

// step returns its launches for the addresses of this run.
type step interface {
	launches(p *program) ([]launch, error)
}

// addressAlign is the alignment of the workspace and of allocated memory, in bytes.
const addressAlign = 256

func roundUp(bytes int) int { return (bytes + addressAlign - 1) / addressAlign * addressAlign }

// address returns the address of an operand's first element.
func (p *program) address(o ir.Operand) driver.Pointer {
	return p.at[o.Slot] + driver.Pointer(o.Offset*o.DType.Size())
}

// work returns the address of the workspace.
func (p *program) work() driver.Pointer {
	if p.scratchWork != 0 {
		return p.scratchWork
	}
	return p.device.arena + driver.Pointer(p.arena)
}

// records returns the number of fault records: one for each check, and one that is never
// written, which kernels without a guard read. It is 0 without checks.
func (p *program) records() int {
	if len(p.explains) == 0 {
		return 0
	}
	return len(p.explains) + 1
}

func (p *program) fault(number int) driver.Pointer {
	if number < 0 {
		return 0
	}
	return p.held.faults + driver.Pointer(number*faultBytes)
}

// NeedWorkspace makes the program's workspace large enough for a step.
func (p *program) NeedWorkspace(bytes int) { p.workspace = max(p.workspace, bytes) }

// Check adds a fault that a step may report.
func (p *program) Check(why kernels.Explain) { p.explains = append(p.explains, explained(why)) }

// TF32 is what SetTF32 has set.
func (p *program) TF32() bool { return p.device.tf32 }

// Wgmma reports whether the device has the wgmma instructions, which only compute
// capability 9.0 has, and the driver accepts PTX with them.
func (p *program) Wgmma() bool {
	i := p.device.ctx.Info()
	return i.Capability() == hopperCapability && i.CUDA >= 12000 && !p.device.libraries.Variants.NoWgmma
}

// commonAlignment returns the alignment of an address that is offset bytes after one
// aligned to align, a power of two.
func commonAlignment(align, offset int) int {
	if offset == 0 {
		return align
	}
	return min(align, offset&-offset)
}

// alignment returns the alignment of an operand's address in bytes.
func (p *program) alignment(o ir.Operand) int {
	align := addressAlign
	if s := p.slots[o.Slot]; s.Kind == ir.Arena {
		align = commonAlignment(align, s.Offset)
	}
	return commonAlignment(align, o.Offset*o.DType.Size())
}

// label returns the op and its shapes, for errors of the driver.
func label(s ir.Step) string {
	text := s.Op.Name()
	for _, o := range s.In {
		text += " " + ir.FormatShape(o.Shape)
	}
	return fmt.Sprintf("%s → %s", text, ir.FormatShape(s.Out[0].Shape))
}
