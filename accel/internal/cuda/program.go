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
	workspace int // bytes that steps need besides
	explains  []explain

	scratchWork driver.Pointer // room of a step that is tried; 0 for that of the arena

	runs     int
	at       []driver.Pointer // of each slot, in this run
	uploaded []uint64         // words that are on the device
	raw      []byte           // words as they are uploaded
	held     *held
}

// held is what a program has on the device.
type held struct {
	words, faults driver.Pointer // 0 for none
	instances     []*instance    // the newest last
	measured      []*instance    // of profiles, the newest last
}

// step gives its work, for addresses of its operands.
type step interface {
	launches(p *program) ([]launch, error)
}

// addressAlign is to which the workspace is aligned.
const addressAlign = 256

// Compile makes the kernels of a program.
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
	if err := p.decide(); err != nil {
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
		return p.newLoop(s)
	}
	return p.newWhole(s)
}

func roundUp(bytes int) int { return (bytes + addressAlign - 1) / addressAlign * addressAlign }

// reserve makes the arena large enough. The old one is freed behind the work that
// uses it.
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

// address is where an operand begins.
func (p *program) address(o ir.Operand) driver.Pointer {
	return p.at[o.Slot] + driver.Pointer(o.Offset*o.DType.Size())
}

// work is where the room of the present step begins.
func (p *program) work() driver.Pointer {
	if p.scratchWork != 0 {
		return p.scratchWork
	}
	return p.device.arena + driver.Pointer(p.arena)
}

// records is how many steps report, and one more to which nobody does; none if none
// do.
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

// Run asks for the steps to be executed, and does not wait for them.
func (p *program) Run(bind []ir.Storage, words []uint64) (int, error) {
	return p.execute(bind, words, func() error {
		p.runs++
		if p.runs == 1 {
			return p.launchAll(nil)
		}
		return p.launchGraph()
	})
}

// RunStepped is Run, kernel by kernel and not as a graph: a tool then knows in which
// range each was started.
func (p *program) RunStepped(bind []ir.Storage, words []uint64, before func(step int)) (int, error) {
	return p.execute(bind, words, func() error { return p.launchAll(before) })
}

// RunProfiled is Run as a graph that records an event behind each kernel: on the
// device a step is what it is without a profile.
func (p *program) RunProfiled(c *trace.Collector, bind []ir.Storage, words []uint64) (w *trace.Work, done int, err error) {
	w = &trace.Work{}
	done, err = p.execute(bind, words, func() error {
		p.runs++
		return p.launchMeasured(c, w)
	})
	return w, done, err
}

// execute brings to the device what the steps need, launches them, and sends on its
// way what they have to say.
func (p *program) execute(bind []ir.Storage, words []uint64, launch func() error) (int, error) {
	if err := p.begin(bind, words); err != nil {
		return 0, err
	}
	if err := launch(); err != nil {
		return 0, err
	}
	return len(p.steps), p.end(bind)
}

// begin finds the addresses and uploads the words.
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

// upload brings the words to the device, unless they are there.
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

// launchAll launches the steps one by one, and calls before, unless it is nil, in front
// of each.
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

// end sends what the steps have found wrong on its way to the host, and marks what
// was written.
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
	mark, err := d.marks.record(d.stream)
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

// label is an op with its shapes, for errors of the driver.
func label(s ir.Step) string {
	text := s.Op.Name()
	for _, o := range s.In {
		text += " " + ir.FormatShape(o.Shape)
	}
	return fmt.Sprintf("%s → %s", text, ir.FormatShape(s.Out[0].Shape))
}
