package cuda

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/internal/trace"
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

// held is the device memory and the graphs of a program. It outlives the program until
// reclaim releases it.
type held struct {
	words, faults driver.Pointer   // 0 for none
	instances     []*graphInstance // the newest last
	measured      []*graphInstance // with events, for profiles; the newest last
}

// step returns its launches for the addresses of this run.
type step interface {
	launches(p *program) ([]launch, error)
}

// addressAlign is the alignment of the workspace and of allocated memory, in bytes.
const addressAlign = 256

// Compile loads the kernels of a program, selects algorithms and allocates its memory.
func (d *Device) Compile(in *ir.Program) (ir.Executable, error) {
	if err := d.reclaim(); err != nil {
		return nil, d.failed("compile", err)
	}
	p := &program{device: d, slots: in.Slots, arena: roundUp(in.Arena), at: make([]driver.Pointer, len(in.Slots)), held: &held{}}
	for _, s := range in.Steps {
		one, err := p.step(s)
		if err != nil {
			return nil, err
		}
		p.steps = append(p.steps, one)
	}
	if err := p.selectCandidates(); err != nil {
		return nil, err
	}
	if err := d.reserve(p.arena + p.workspace); err != nil {
		return nil, err
	}
	if n := p.records(); n > 0 {
		at, err := d.memory.raw(n * faultBytes)
		if err != nil {
			return nil, d.failed("compile", err)
		}
		p.held.faults = at
	}
	runtime.AddCleanup(p, d.drop, p.held)
	return p, nil
}

func (p *program) step(s ir.Step) (step, error) {
	if s.Op == nil || elementwise(s) {
		return p.newFusedKernel(s)
	}
	return p.newOpStep(s)
}

func roundUp(bytes int) int { return (bytes + addressAlign - 1) / addressAlign * addressAlign }

// reserve makes the arena at least as large as bytes. The old arena is freed in stream
// order, after the work that uses it.
func (d *Device) reserve(bytes int) error {
	if bytes <= d.arenaBytes {
		return nil
	}
	if d.arena != 0 {
		if err := d.ctx.Free(d.arena, d.stream); err != nil {
			return d.failed("free temporaries", err)
		}
		d.arena, d.arenaBytes = 0, 0
	}
	s, err := d.memory.raw(bytes)
	if err != nil {
		return err
	}
	d.arena, d.arenaBytes = s, bytes
	return nil
}

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

// Run launches the steps and does not wait for them.
func (p *program) Run(bind []ir.Storage, words []uint64) (int, error) {
	return p.execute(bind, words, func() error {
		p.runs++
		if p.runs == 1 {
			return p.launchAll(nil)
		}
		return p.launchGraph()
	})
}

// RunStepped is Run without a graph: kernels are launched one by one, and before is
// called before each step, so that a tool can attribute them to NVTX ranges.
func (p *program) RunStepped(bind []ir.Storage, words []uint64, before func(step int)) (int, error) {
	return p.execute(bind, words, func() error { return p.launchAll(before) })
}

// RunProfiled is Run with a graph that records an event after each kernel. On the device
// the step takes as long as without a profile.
func (p *program) RunProfiled(c *trace.Collector, bind []ir.Storage, words []uint64) (w *trace.Work, done int, err error) {
	w = &trace.Work{}
	done, err = p.execute(bind, words, func() error {
		p.runs++
		return p.launchProfiled(c, w)
	})
	return w, done, err
}

// execute prepares a run, launches it, and starts the copy of its faults to the host.
func (p *program) execute(bind []ir.Storage, words []uint64, launch func() error) (int, error) {
	if err := p.begin(bind, words); err != nil {
		return 0, err
	}
	if err := launch(); err != nil {
		return 0, err
	}
	return len(p.steps), p.end(bind)
}

// begin resolves the addresses of the slots and uploads the words.
func (p *program) begin(bind []ir.Storage, words []uint64) error {
	d := p.device
	if err := d.faults.poll(); err != nil {
		return err
	}
	if err := d.reserve(p.arena + p.workspace); err != nil {
		return err
	}
	for i, s := range p.slots {
		if s.Kind == ir.Arena {
			p.at[i] = d.arena + driver.Pointer(s.Offset)
		} else {
			p.at[i] = bind[i].(*storage).at
		}
	}
	return p.upload(words)
}

// upload copies the words to the device unless they are there already.
func (p *program) upload(words []uint64) error {
	if len(words) == 0 || p.held.words != 0 && slices.Equal(words, p.uploaded) {
		return nil
	}
	d := p.device
	if p.held.words == 0 {
		at, err := d.memory.raw(8 * len(words))
		if err != nil {
			return err
		}
		p.held.words = at
	}
	p.raw = p.raw[:0]
	for _, w := range words {
		p.raw = binary.LittleEndian.AppendUint64(p.raw, w)
	}
	if err := d.staging.write(p.held.words, p.raw); err != nil {
		return d.failed("write", err)
	}
	p.uploaded = append(p.uploaded[:0], words...)
	return nil
}

// launchAll launches the kernels one by one. It calls before, unless it is nil, before
// each step.
func (p *program) launchAll(before func(step int)) error {
	d := p.device
	if n := p.records(); n > 0 {
		if err := d.ctx.Fill(p.held.faults, kernels.NoFault&0xffffffff, 4, n*faultBytes/4, d.stream); err != nil {
			return d.failed("fill", err)
		}
	}
	for i, s := range p.steps {
		if before != nil {
			before(i)
		}
		launches, err := s.launches(p)
		if err != nil {
			return err
		}
		for _, l := range launches {
			if err := d.launch(l); err != nil {
				return d.failed("launch", err)
			}
		}
	}
	return nil
}

// end starts the copy of the faults to the host, and records which memory was written.
func (p *program) end(bind []ir.Storage) error {
	d := p.device
	var found []byte
	if n := len(p.explains) * faultBytes; n > 0 {
		var err error
		if found, err = d.faults.buffer(n); err != nil {
			return d.failed("read", err)
		}
		if err := d.ctx.CopyToHost(found, p.held.faults, d.stream); err != nil {
			return d.failed("read", err)
		}
	}
	mark, err := d.timeline.record(d.stream)
	if err != nil {
		return d.failed("record", err)
	}
	for i, s := range p.slots {
		if s.Kind == ir.Output {
			bind[i].(*storage).written = mark
		}
	}
	if found != nil {
		d.faults.add(report{mark, found, p.explains})
	}
	return nil
}

// label returns the op and its shapes, for errors of the driver.
func label(s ir.Step) string {
	text := s.Op.Name()
	for _, o := range s.In {
		text += " " + ir.FormatShape(o.Shape)
	}
	return fmt.Sprintf("%s → %s", text, ir.FormatShape(s.Out[0].Shape))
}
